// Binding: which lane takes the next slice of which transfer. Late: nothing is
// cut before a lane has room for it.
#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "executor/executor.h"
#include "policies/window.h"

namespace spindrift::executor {

namespace {

// For comparing lanes before it is known what the next slice is.
constexpr std::uint64_t kTypicalSlice = 64 * kKiB;
// How many transfers may refuse a lane before it is left alone: one refused by
// the first one's tail serves the next. Those that the lane cannot serve at all
// do not count, or they would keep it from the others.
constexpr std::size_t kOffersMax = 64;

constexpr std::uint64_t bit(std::size_t i) {
  return std::uint64_t{1} << i;
}

}  // namespace

void Executor::gather(const Group& group, Candidates& out, Instant now) {
  out.count = 0;
  out.rails = 0;
  out.open = 0;
  out.sum = Rate{};
  for (const LaneIndex index : group.lanes) {
    Lane& lane = lanes_[index];
    if (!lane.usable()) continue;
    out.lanes[out.count] = index;
    // What it is likely to stall for counts as part of its round trip.
    out.loads[out.count] = {lane.rate.rate(), lane.round_trip + lane.watch.stall(), lane.queued()};
    out.windows[out.count] = window_of(lane, now);
    out.sum.bytes_per_s += lane.rate.rate().bytes_per_s;
    out.rails |= bit(lane.ordinal);
    out.open |= bit(out.count);
    ++out.count;
  }
  for (std::size_t place = 0; place < out.count; ++place) weigh(out, place);
}

// Closes a lane that has no room for another slice; else notes when it would
// finish one, by which lanes are compared.
void Executor::weigh(Candidates& lanes, std::size_t place) const {
  const Lane& lane = lanes_[lanes.lanes[place]];
  if (lane.ring_full() || lanes.loads[place].queued >= lanes.windows[place]) {
    lanes.open &= ~bit(place);
  } else if (lanes.count > 1) {
    lanes.finish[place] = policies::completion_time(lanes.loads[place], kTypicalSlice);
  }
}

// The open lane that would finish a typical slice first; one must be open.
std::size_t Executor::pick(const Candidates& lanes) const {
  std::uint64_t left = lanes.open;
  auto best = static_cast<std::size_t>(std::countr_zero(left));
  for (left &= left - 1; left != 0; left &= left - 1) {
    const auto place = static_cast<std::size_t>(std::countr_zero(left));
    if (lanes.finish[place] < lanes.finish[best]) best = place;
  }
  return best;
}

// True when `budget` ended it while lanes still had room.
bool Executor::serve(std::uint32_t index, std::uint32_t& budget, Instant now) {
  Candidates& lanes = candidates_;
  gather(groups_[index], lanes, now);
  while (budget > 0 && lanes.open != 0) {
    const std::size_t chosen = pick(lanes);
    const std::uint64_t bytes = bind_one(groups_[index], lanes, chosen, now);
    if (bytes == 0) {
      lanes.open &= ~bit(chosen);
      continue;
    }
    lanes.loads[chosen].queued += bytes;
    lanes.windows[chosen] = window_of(lanes_[lanes.lanes[chosen]], now);  // grows with its slices
    weigh(lanes, chosen);
    --budget;
  }
  return lanes.open != 0;
}

// Gives the chosen lane one slice; its size, 0 when no transfer has one for it.
std::uint64_t Executor::bind_one(Group& group, Candidates& lanes, std::size_t chosen, Instant now) {
  Lane& lane = lanes_[lanes.lanes[chosen]];
  if (group.retries > 0) {
    const std::uint64_t bytes = bind_retry(group, lanes, lane, now);
    if (bytes > 0) return bytes;
  }
  if (slices_.full()) return 0;  // a slice that lands makes room again
  std::size_t offers = 0;
  for (std::size_t i = 0; i < group.serving.size() && offers < kOffersMax; ++i) {
    Job& job = *group.serving[i];
    if (job.unbound == 0 || (job.tier_rails & bit(lane.ordinal)) == 0) continue;
    ++offers;
    const std::uint64_t bytes = bind_fresh(job, lanes, chosen, now);
    if (bytes > 0) return bytes;
  }
  return group.hedging ? bind_hedge(group, lanes, chosen, now) : 0;
}

// Slices that failed elsewhere go ahead of everything, on another rail if there
// is one.
std::uint64_t Executor::bind_retry(Group& group, const Candidates& lanes, Lane& lane, Instant now) {
  for (std::size_t i = 0; i < group.serving.size(); ++i) {
    Job& job = *group.serving[i];
    if (job.retry_head == kNoSlab || (job.tier_rails & bit(lane.ordinal)) == 0) continue;
    const bool others = (lanes.rails & job.tier_rails & ~bit(lane.ordinal)) != 0;
    if (slices_[job.retry_head].avoid == lane.ordinal && others) continue;
    const SlabIndex index = pop_retry(job);
    const std::uint64_t bytes = slices_[index].bytes;
    // Its original may have landed after all, or be expected to again.
    const bool needless = slices_[index].landed || slices_[index].hopeful > 0;
    if (needless) {
      drop_if_unused(index);
    } else {
      ++job.retries;
      post_slice(index, lane, now);
    }
    if (job.unbound == 0 && job.retry_head == kNoSlab) unlist(job);
    if (!needless) return bytes;
    --i;  // look at this place again: the same transfer or the one that moved up
  }
  return 0;
}

std::uint64_t Executor::bind_fresh(Job& job, const Candidates& lanes, std::size_t chosen,
                                   Instant now) {
  Lane& lane = lanes_[lanes.lanes[chosen]];
  Cut cut;
  if (job.plan->spray == policies::Spray::kRoundRobin ||
      job.plan->spray == policies::Spray::kWeighted) {
    cut = cut_static(job, lane);
  } else if (job.plan->spray != policies::Spray::kSingle || is_single_choice(job, lanes, lane)) {
    const std::uint64_t size = dynamic_size(job, lanes, chosen, now);
    if (size > 0) cut = cut_slice(job.descriptors, job.cursor, size, job.ranges_max);
  }
  if (cut.bytes == 0) return 0;

  const SlabIndex index =
      slices_.take({.job = &job, .begin = cut.begin, .bytes = cut.bytes, .ranges = cut.ranges});
  SPINDRIFT_CHECK(index != kNoSlab);
  job.unbound -= cut.bytes;
  ++job.slices;
  if (job.first_post == kNever) job.first_post = now;
  post_slice(index, lane, now);
  if (job.unbound == 0) {
    if (job.retry_head == kNoSlab) unlist(job);
    watch_tail(job);
  }
  return cut.bytes;
}

// The size of the next slice of `job` for the chosen lane; 0 when the lane is
// refused, because the others finish the rest sooner.
std::uint64_t Executor::dynamic_size(const Job& job, const Candidates& lanes, std::size_t chosen,
                                     Instant now) {
  // Lanes outside the transfer's tier do not help it.
  std::span<const policies::LaneLoad> loads = lanes.all();
  Rate sum = lanes.sum;
  std::size_t place = chosen;
  if ((lanes.rails & ~job.tier_rails) != 0) {
    tier_.clear();
    sum = Rate{};
    for (std::size_t i = 0; i < lanes.count; ++i) {
      if ((job.tier_rails & bit(lanes_[lanes.lanes[i]].ordinal)) == 0) continue;
      if (i == chosen) place = tier_.size();
      sum.bytes_per_s += lanes.loads[i].rate.bytes_per_s;
      tier_.push_back(lanes.loads[i]);
    }
    loads = tier_;
  }

  const Lane& lane = lanes_[lanes.lanes[chosen]];
  const std::uint64_t least = std::min(job.slice_min, job.unbound);
  const std::uint64_t size = policies::slice_bytes({.rate = loads[place].rate,
                                                    .sum = sum,
                                                    .unbound = job.unbound,
                                                    .service_time = options_.service_time,
                                                    .slice_min = least,
                                                    .slice_max = job.slice_max});
  if (loads.size() == 1 || job.plan->spray == policies::Spray::kSingle) return size;
  const Rate others{sum.bytes_per_s - loads[place].rate.bytes_per_s};
  if (!policies::may_refuse(loads[place], others, size, job.unbound)) return size;
  if (!policies::refuses(loads, place, size, job.unbound)) return size;
  if (!policies::refuses(loads, place, least, job.unbound)) return least;
  // A healthy rail that was not looked at for a while gets a small slice, or a
  // low estimate would never be corrected; never in the tail.
  std::uint64_t windows = 0;
  for (std::size_t i = 0; i < lanes.count; ++i) windows += lanes_[lanes.lanes[i]].window;
  const bool unmeasured = now - lane.rate.last_sample() >= options_.explore_after;
  return unmeasured && lane.outstanding == 0 && job.unbound > 4 * windows ? least : 0;
}

// kSingle: the first rail of the tier that is up.
bool Executor::is_single_choice(const Job& job, const Candidates& lanes, const Lane& lane) const {
  const std::uint64_t usable = lanes.rails & job.tier_rails;
  if (usable == 0) return false;
  for (const std::vector<RailOrdinal>& tier : job.plan->tiers) {
    for (const RailOrdinal ordinal : tier) {
      if ((usable & bit(ordinal)) != 0) return ordinal == lane.ordinal;
    }
  }
  return false;
}

void Executor::post_slice(SlabIndex index, Lane& lane, Instant now) {
  Slice& slice = slices_[index];
  Job& job = *slice.job;
  push_attempt(lane, index,
               {.descriptors = job.descriptors.data() + slice.begin.descriptor,
                .offset = slice.begin.offset,
                .bytes = slice.bytes,
                .ranges = slice.ranges,
                .checksum = job.plan->checksum},
               now);
  lane.slice_bytes = slice.bytes;
  lane.window = std::max(lane.window, std::min(2 * slice.bytes, options_.window_max));
  ++slice.live;
  ++slice.hopeful;
  ++slice.attempts;
  ++job.unsettled;
  ++job.tallies[lane.ordinal].attempts;
}

// Makes it the lane's next one.
void Executor::push_attempt(Lane& lane, SlabIndex slice, const Attempt& attempt, Instant now) {
  const AttemptSeq seq = lane.next++;
  lane.slice(seq) = slice;
  Attempt& made = lane.attempt(seq);
  made = attempt;
  made.lane = lane.index;
  made.generation = lane.generation;
  made.seq = seq;
  const bool was_empty = lane.outstanding == 0;
  lane.rate.on_posted(attempt.bytes, was_empty, now);
  if (was_empty) {
    lane.watch.begin(now);
    groups_[lane.group].last_use = now;
    if (lane.timer == kNever) set_lane_timer(lane, now + lane.watch.limit(options_.health));
  }
  lane.outstanding += attempt.bytes;
  if (!lane.dirty) {
    lane.dirty = true;
    output_.dirty.push_back(lane.index);
  }
}

// What the lane may have outstanding now: less than its window while it ramps.
std::uint64_t Executor::window_of(Lane& lane, Instant now) {
  if (lane.health.state() != health::HealthState::kRamping) return lane.window;
  std::uint32_t share = 0;
  judge(lane, now, [&] { share = lane.health.share(now, options_.health); });
  // It begins with the two slices that every window has room for.
  const std::uint64_t least = std::min(2 * std::max(lane.slice_bytes, kTypicalSlice), lane.window);
  return std::max<std::uint64_t>(mul_div(lane.window, share, 1024), least);
}

void Executor::set_jitter(Duration jitter) {
  if (jitter == jitter_) return;
  jitter_ = jitter;
  for (Lane& lane : lanes_) {
    if (lane.state == LaneState::kUp) refresh_window(lane);
  }
}

void Executor::refresh_window(Lane& lane) const {
  const Rate rate = lane.rate.rate();
  // A slow lane's slices may take longer than a service time. With one of them at
  // a time it would run empty in between, and then tell nothing about its rate.
  const std::uint64_t slice = std::max(rate.bytes_in(options_.service_time), lane.slice_bytes);
  lane.window = policies::window_bytes({.rate = rate,
                                        .round_trip = lane.round_trip,
                                        .service_time = options_.service_time,
                                        .jitter = jitter_,
                                        .slice_bytes = slice,
                                        .window_max = options_.window_max});
}

}  // namespace spindrift::executor
