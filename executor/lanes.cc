// Connections and fences.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "executor/executor.h"

namespace spindrift::executor {

// Lanes of the tier in use are opened when the first transfer needs them.
void Executor::open_lanes(const Job& job) {
  for (const LaneIndex index : group_of(job).lanes) {
    Lane& lane = lanes_[index];
    if (lane.state == LaneState::kIdle && (job.tier_rails >> lane.ordinal & 1) != 0) open(lane);
  }
}

void Executor::open(Lane& lane) {
  if (lane.attempts.empty()) {
    lane.attempts_max = std::min(options_.attempts_per_lane, lane.capabilities.attempts_max);
    const std::size_t places = std::bit_ceil(lane.attempts_max);
    lane.attempts.resize(places);
    lane.slices.resize(places, kNoSlab);
  }
  SPINDRIFT_CHECK(lane.head == lane.next);
  lane.state = LaneState::kOpening;
  ++lane.generation;
  lane.progress = 0;
  lane.landed_here = 0;
  output_.actions.push_back({.kind = LaneAction::Kind::kOpen,
                             .lane = lane.index,
                             .generation = lane.generation,
                             .first_seq = lane.next});
}

void Executor::on_lane_down(Lane& lane, const RailEvent& event, Instant now) {
  if (event.generation != lane.generation) return;
  if (lane.state != LaneState::kOpening && lane.state != LaneState::kUp) return;
  begin_fence(lane, event.cause, now);
}

// Ends the lane's generation. Its attempts count as outstanding until both ends
// that they can touch are fenced; copies of them go out elsewhere meanwhile.
void Executor::begin_fence(Lane& lane, Cause cause, Instant now) {
  const bool connected = lane.state == LaneState::kUp;
  distrust(lane);
  lane.state = LaneState::kFencing;
  ++lane.fences_total;
  blame(lane, cause, now);
  lane.rate.on_interrupted();
  lane.watch.stop();
  set_lane_timer(lane, kNever);
  settle_unposted(lane, now);
  // Nothing is left to hand over; a mark that stayed would hide what is made
  // after the lane's return.
  lane.dirty = false;
  std::erase(leftover_, lane.index);
  std::erase(output_.dirty, lane.index);

  lane.local_fence_due = true;
  // A read touches memory at this end only; without attempts there is nothing
  // that could be placed.
  lane.remote_fence_due =
      connected && lane.direction == Operation::kWrite && lane.head != lane.next;
  output_.actions.push_back(
      {.kind = LaneAction::Kind::kFenceLocal, .lane = lane.index, .generation = lane.generation});
  if (lane.remote_fence_due) {
    output_.actions.push_back({.kind = LaneAction::Kind::kFenceRemote,
                               .lane = lane.index,
                               .generation = lane.generation});
  }
  for (AttemptSeq seq = lane.head; seq < lane.next; ++seq) {
    const SlabIndex slice = lane.slice(seq);
    if (slice == kNoSlab || slice == kProbeSlab) continue;
    note_cause(lane, *slices_[slice].job, cause);
    // What we end ourselves, for another transfer's sake, is no try of this one.
    if (is_own_wish(cause)) --slices_[slice].attempts;
    retry(slice, lane.ordinal, now);
  }
  choose_tiers(groups_[lane.group]);
}

void Executor::on_remote_fenced(LaneIndex index, Generation min_generation, AttemptSeq settled_end,
                                std::span<const AttemptSeq> refused, Instant now) {
  SPINDRIFT_CHECK(index < lanes_.size());
  Lane& lane = lanes_[index];
  if (lane.state != LaneState::kFencing || !lane.remote_fence_due) return;
  if (min_generation <= lane.generation) return;  // of an earlier fence, repeated
  lane.remote_fence_due = false;
  // What the peer placed has landed, whatever became of its acknowledgement. It
  // is settled with the rest, when this end is fenced too.
  lane.fenced_landed.clear();
  for (AttemptSeq seq = lane.head; seq < std::min(settled_end, lane.next); ++seq) {
    if (lane.settled(seq)) continue;
    if (std::find(refused.begin(), refused.end(), seq) == refused.end()) {
      lane.fenced_landed.push_back(seq);
    }
  }
  fence_part_done(lane, now);
}

void Executor::fence_part_done(Lane& lane, Instant now) {
  if (lane.local_fence_due || lane.remote_fence_due) return;
  for (const AttemptSeq seq : lane.fenced_landed) {
    // Its acknowledgement may have come in after all.
    if (seq < lane.head || lane.settled(seq)) continue;
    settle_landed(lane, seq, now);
  }
  lane.fenced_landed.clear();
  for (AttemptSeq seq = lane.head; seq < lane.next; ++seq) {
    if (!lane.settled(seq)) settle_orphan(lane, seq, now);
  }
  SPINDRIFT_CHECK(lane.head == lane.next && lane.outstanding == 0);
  reopen_later(lane, now);
}

void Executor::reopen_later(Lane& lane, Instant now) {
  if (lane.health.state() == health::HealthState::kQuarantined) {
    lane.state = LaneState::kWaiting;
    set_lane_timer(lane, std::max(lane.health.probe_at(), now));
    hurry_if_none_works(groups_[lane.group], now);
  } else {
    lane.state = LaneState::kIdle;
    if (wanted(lane)) open(lane);
  }
  choose_tiers(groups_[lane.group]);
}

// Some running transfer's plan admits the rail.
bool Executor::wanted(const Lane& lane) const {
  for (const Job* job : groups_[lane.group].jobs) {
    if (!job->failing && (job->plan_rails >> lane.ordinal & 1) != 0) return true;
  }
  return false;
}

void Executor::choose_tiers(Group& group) {
  for (Job* job : group.jobs) {
    if (job->failing) continue;
    if (choose_tier(*job)) open_lanes(*job);
    if (job->unbound > 0 || job->retry_head != kNoSlab) list(*job);
  }
  if (!group.serving.empty()) activate(static_cast<std::uint32_t>(&group - groups_.data()));
}

// The first tier in which a rail works; the first one while none does, so that
// it is tried again. True when it changed.
bool Executor::choose_tier(Job& job) const {
  const Group& group = groups_[group_of(job.peer, job.operation)];
  std::uint64_t chosen = 0;
  for (const std::vector<RailOrdinal>& tier : job.plan->tiers) {
    std::uint64_t rails = 0;
    bool works = false;
    for (const RailOrdinal ordinal : tier) {
      rails |= std::uint64_t{1} << ordinal;
      works |= lanes_[group.lanes[ordinal]].works();
    }
    if (chosen == 0) chosen = rails;
    if (works) {
      chosen = rails;
      break;
    }
  }
  const bool changed = chosen != job.tier_rails;
  job.tier_rails = chosen;
  return changed;
}

void Executor::stop(Instant now) {
  stopping_ = true;
  for (Group& group : groups_) {
    const std::vector<Job*> jobs = group.jobs;
    for (Job* job : jobs) cancel(job, Cause::kShutDown, now);
    for (const LaneIndex index : group.lanes) {
      Lane& lane = lanes_[index];
      if (lane.state == LaneState::kUp || lane.state == LaneState::kOpening) {
        begin_fence(lane, Cause::kShutDown, now);
      }
    }
  }
}

void Executor::on_peer_gone(PeerIndex peer, Cause cause, Instant now) {
  for (const Operation direction : {Operation::kWrite, Operation::kRead}) {
    Group& group = groups_[group_of(peer, direction)];
    // One that finishes leaves the list.
    const std::vector<Job*> jobs = group.jobs;
    for (Job* job : jobs) cancel(job, cause, now);
    for (const LaneIndex index : group.lanes) {
      Lane& lane = lanes_[index];
      if (lane.state == LaneState::kUp || lane.state == LaneState::kOpening) {
        begin_fence(lane, cause, now);
      }
      // It was the peer, and the next process has not failed yet.
      judge(lane, now, [&] { lane.health.forgive(now, options_.health); });
      if (lane.state == LaneState::kWaiting) {
        set_lane_timer(lane, kNever);
        lane.state = LaneState::kIdle;
      }
      if (lane.state == LaneState::kFencing && lane.remote_fence_due) {
        // A dead process places nothing: that is the fence. What it had placed
        // before is not known.
        lane.remote_fence_due = false;
        fence_part_done(lane, now);
      }
    }
  }
}

}  // namespace spindrift::executor
