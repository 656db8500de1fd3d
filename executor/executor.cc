#include "executor/executor.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "policies/service_order.h"
#include "rails/region_table.h"

namespace spindrift::executor {

void ExecutorOutput::clear() {
  dirty.clear();
  actions.clear();
  finished.clear();
  health.clear();
}

Executor::Executor(const ExecutorOptions& options, std::uint64_t seed)
    : options_(options),
      prng_(seed),
      slices_(options.slices_max),
      probe_source_(rails::kScratchBytes),
      probe_sink_(rails::kScratchBytes),
      probe_write_{probe_source_.data(), 0, rails::kScratchBytes, 0, rails::kScratchKey},
      probe_read_{probe_sink_.data(), 0, rails::kScratchBytes, 0, rails::kScratchKey} {
  // Timers and events refer to lanes by address.
  lanes_.reserve(options_.lanes_max);
  job_timers_.reserve(options_.transfers_max);
  output_.finished.reserve(options_.transfers_max);
  tier_.reserve(kRailsPerPeerMax);
}

Result<PeerIndex> Executor::add_peer(std::span<const RailSpec> rails) {
  if (rails.size() > kRailsPerPeerMax || lanes_.size() + 2 * rails.size() > options_.lanes_max) {
    return Status(Code::kBusy, {.what = "adding a peer with " + std::to_string(rails.size()) +
                                        " rails to a worker that has " +
                                        std::to_string(lanes_.size()) + " lanes",
                                .hint = "raise executor.lanes_max"});
  }
  const auto peer = static_cast<PeerIndex>(groups_.size() / 2);
  for (const Operation direction : {Operation::kWrite, Operation::kRead}) {
    Group& group = groups_.emplace_back();
    for (std::size_t ordinal = 0; ordinal < rails.size(); ++ordinal) {
      Lane& lane = lanes_.emplace_back();
      lane.index = static_cast<LaneIndex>(lanes_.size() - 1);
      lane.group = static_cast<std::uint32_t>(groups_.size() - 1);
      lane.ordinal = static_cast<RailOrdinal>(ordinal);
      lane.direction = direction;
      lane.capabilities = rails[ordinal].capabilities;
      lane.rate = health::RateEstimator(options_.initial_rate);
      group.lanes.push_back(lane.index);
    }
  }
  // So that the hot path never grows them.
  output_.dirty.reserve(lanes_.size());
  leftover_.reserve(lanes_.size());
  output_.actions.reserve(4 * lanes_.size());
  output_.health.reserve(4 * lanes_.size());
  lane_timers_.reserve(lanes_.size());
  active_.reserve(groups_.size());
  return peer;
}

LaneIndex Executor::lane_of(PeerIndex peer, RailOrdinal ordinal, Operation direction) const {
  const std::uint32_t group = group_of(peer, direction);
  SPINDRIFT_CHECK(group < groups_.size() && ordinal < groups_[group].lanes.size());
  return groups_[group].lanes[ordinal];
}

Status Executor::start(Job* job, Instant now) {
  if (running_ >= options_.transfers_max) {
    return Status(Code::kBusy,
                  {.what = std::to_string(running_) + " transfers are running on this worker",
                   .hint = "wait for some to finish or raise executor.transfers_max"});
  }
  SPINDRIFT_CHECK(job->plan != nullptr && !job->plan->tiers.empty());
  Group& group = group_of(*job);
  ++running_;
  job->group_slot = static_cast<std::uint32_t>(group.jobs.size());
  group.jobs.push_back(job);
  job->tallies.resize(group.lanes.size());
  job->unbound = job->bytes;
  job->order = policies::virtual_finish(job->submitted, job->bytes);
  job->ranges_max = std::numeric_limits<std::uint32_t>::max();
  job->slice_max = job->plan->slice_max;
  for (const std::vector<RailOrdinal>& tier : job->plan->tiers) {
    for (const RailOrdinal ordinal : tier) {
      SPINDRIFT_CHECK(ordinal < group.lanes.size());
      job->plan_rails |= std::uint64_t{1} << ordinal;
      const RailCapabilities& rail = lanes_[group.lanes[ordinal]].capabilities;
      job->ranges_max = std::min(job->ranges_max, rail.ranges_max);
      job->slice_max = std::min(job->slice_max, rail.slice_max);
    }
  }
  job->slice_min = std::min(job->plan->slice_min, job->slice_max);
  prepare_shares(*job);
  set_timer(*job, job->deadline);
  if (job->bytes == 0) {
    finish_if_settled(*job, now);
    return {};
  }
  choose_tier(*job);
  open_lanes(*job);
  if ((working_rails(group) & job->plan_rails) == 0) hurry_if_none_works(group, now);
  list(*job);
  return {};
}

void Executor::cancel(Job* job, Cause cause, Instant now) {
  if (job->group_slot == kNotInHeap) return;  // not running, or not any more
  fail(*job, cause, now);
  finish_if_settled(*job, now);
}

void Executor::on(const RailEvent& event, Instant now) {
  SPINDRIFT_CHECK(event.lane < lanes_.size());
  Lane& lane = lanes_[event.lane];
  switch (event.kind) {
    case RailEventKind::kLanded:
      settle_landed(lane, event.value, now);
      return;
    case RailEventKind::kFailed:
      settle_failed(lane, event.value, event.cause, now);
      return;
    case RailEventKind::kProgress: {
      const std::uint64_t before = std::max(lane.progress, lane.landed_here);
      if (event.value <= before) return;
      lane.progress = event.value;
      on_lane_progress(lane, lane.queued() == 0, now);
      if (lane.rate.on_placed(event.value - before, lane.queued() == 0, now)) refresh_window(lane);
      return;
    }
    case RailEventKind::kRoundTrip:
      lane.round_trip = Duration(static_cast<std::int64_t>(event.value));
      refresh_window(lane);
      return;
    case RailEventKind::kLaneUp:
      if (lane.state != LaneState::kOpening || event.generation != lane.generation) return;
      lane.state = LaneState::kUp;
      lane.trusted = true;
      refresh_window(lane);
      if (lane.health.state() == health::HealthState::kProbing) post_probe(lane, now);
      choose_tiers(groups_[lane.group]);
      return;
    case RailEventKind::kLaneDown:
      on_lane_down(lane, event, now);
      return;
    case RailEventKind::kLocalFenced:
      if (lane.state != LaneState::kFencing || event.generation != lane.generation) return;
      lane.local_fence_due = false;
      fence_part_done(lane, now);
      return;
  }
}

bool Executor::advance(Instant now) {
  while (!job_timers_.empty() && job_timers_.top()->timer <= now) {
    on_job_timer(*job_timers_.top(), now);
  }
  while (!lane_timers_.empty() && lane_timers_.top()->timer <= now) {
    Lane& lane = *lane_timers_.top();
    set_lane_timer(lane, kNever);
    on_lane_timer(lane, now);
  }
  // What a rail did not take in the last cycle is offered again.
  output_.dirty.insert(output_.dirty.end(), leftover_.begin(), leftover_.end());
  leftover_.clear();
  // Groups take turns to be first, so that none starves behind a busy one.
  bool more = false;
  std::uint32_t budget = options_.posts_per_cycle;
  const std::size_t count = active_.size();
  for (std::size_t i = 0; i < count && budget > 0; ++i) {
    more |= serve(active_[(turn_ + i) % count], budget, now);
  }
  if (count > 0) turn_ = (turn_ + 1) % count;
  std::erase_if(active_, [this](std::uint32_t index) {
    Group& group = groups_[index];
    group.active = !group.serving.empty() || group.retries > 0;
    return !group.active;
  });
  return more || budget == 0;
}

Instant Executor::next_deadline() const {
  Instant next = kNever;
  if (!job_timers_.empty()) next = job_timers_.top()->timer;
  if (!lane_timers_.empty()) next = std::min(next, lane_timers_.top()->timer);
  return next;
}

std::span<const Attempt> Executor::unposted(LaneIndex index) {
  Lane& lane = lanes_[index];
  if (lane.state != LaneState::kUp || lane.posted == lane.next) return {};
  const std::size_t first = lane.posted & lane.mask();
  const std::size_t count =
      std::min<std::size_t>(lane.next - lane.posted, lane.attempts.size() - first);
  return {&lane.attempts[first], count};
}

void Executor::posted(LaneIndex index, std::size_t count) {
  Lane& lane = lanes_[index];
  SPINDRIFT_CHECK(count <= lane.next - lane.posted);
  lane.posted += count;
  // What the rail did not take is offered again in the next cycle.
  lane.dirty = lane.posted != lane.next;
  if (lane.dirty) leftover_.push_back(index);
}

health::LaneView Executor::view(LaneIndex index) const {
  const Lane& lane = lanes_[index];
  return {.rate = lane.rate.rate(),
          .measured = lane.rate.measured(),
          .round_trip = lane.round_trip,
          .state = lane.health.state(),
          .cause = lane.health.cause()};
}

// Keeps the serving list in service order.
void Executor::list(Job& job) {
  if (job.listed || job.failing) return;
  Group& group = group_of(job);
  const auto before = [](const Job* a, const Job* b) {
    return a->order != b->order ? a->order < b->order : a->id < b->id;
  };
  group.serving.insert(std::upper_bound(group.serving.begin(), group.serving.end(), &job, before),
                       &job);
  job.listed = true;
  activate(group_of(job.peer, job.operation));
}

void Executor::unlist(Job& job) {
  if (!job.listed) return;
  std::erase(group_of(job).serving, &job);
  job.listed = false;
}

void Executor::activate(std::uint32_t index) {
  Group& group = groups_[index];
  if (group.active) return;
  group.active = true;
  active_.push_back(index);
}

}  // namespace spindrift::executor
