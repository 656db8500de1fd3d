// The end of transfers. A lane that has nothing else to do sends copies of what a
// lane holds that is silent, or far from done; and a transfer whose bytes have all
// landed does not wait for their originals for long. Without this a rail that dies
// in the last milliseconds of a transfer costs it the whole time of detection.
//
// A copy alone ends nothing: a transfer finishes when its originals are settled
// too (docs/ARCHITECTURE.md). So copies are worth making only where waiting for
// the original costs more than fencing its lane.
#include <algorithm>

#include "executor/executor.h"

namespace spindrift::executor {

namespace {
// A copy must be done so many times sooner than its original.
constexpr int kSoonerBy = 2;
// A lane that is silent for so many of its usual stalls is not just slow.
constexpr int kStallsUntilOverdue = 4;
// A lane that moves is not cut off for one transfer's sake unless that would wait
// for so many straggler waits.
constexpr int kPatience = 4;
}  // namespace

// Nothing of the job is left to cut: from now on its lanes are looked at sooner.
void Executor::watch_tail(const Job& job) {
  if (!job.plan->hedge) return;
  Group& group = group_of(job);
  group.hedging = true;
  for (const LaneIndex index : group.lanes) {
    Lane& lane = lanes_[index];
    if (lane.state != LaneState::kUp || !lane.watch.waiting()) continue;
    const Instant look = lane.watch.last() + hedge_after(lane);
    if (look < lane.timer) set_lane_timer(lane, look);
  }
}

Duration Executor::hedge_after(const Lane& lane) const {
  return std::max(options_.health.straggler_wait / 2, kStallsUntilOverdue * lane.watch.stall());
}

bool Executor::is_overdue(const Lane& lane, Instant now) const {
  return lane.watch.silence(now) >= hedge_after(lane);
}

// When a lane is likely to have placed so many bytes; of a silent one nobody knows.
Duration Executor::finish_of(const Lane& lane, std::uint64_t bytes, Instant now) const {
  if (is_overdue(lane, now)) return kNever - Instant{};
  return lane.round_trip + lane.rate.rate().time_for(bytes);
}

// The chosen lane found nothing to do. Takes from the lane that would be done last.
std::uint64_t Executor::bind_hedge(Group& group, const Candidates& lanes, std::size_t chosen,
                                   Instant now) {
  Lane& helper = lanes_[lanes.lanes[chosen]];
  Lane* slowest = nullptr;
  Duration latest{0};
  for (const LaneIndex index : group.lanes) {
    Lane& lane = lanes_[index];
    if (lane.index == helper.index || lane.state != LaneState::kUp || lane.outstanding == 0)
      continue;
    const Duration finish = finish_of(lane, lane.queued(), now);
    if (finish <= latest) continue;
    latest = finish;
    slowest = &lane;
  }
  if (slowest == nullptr || is_overdue(helper, now)) return 0;
  const Duration cost = lanes.finish[chosen];
  if (latest < options_.health.straggler_wait + kSoonerBy * cost) return 0;
  const SlabIndex index = pick_hedge(*slowest, helper, cost, now);
  if (index == kNoSlab) return 0;
  Slice& slice = slices_[index];
  post_slice(index, helper, now);
  --slice.attempts;  // it costs the slice none of its tries
  ++slice.job->retries;
  ++slice.job->hedges;
  ++slowest->hedges_total;
  return slice.bytes;
}

// The newest attempt of the lane that a copy by `helper` would beat.
SlabIndex Executor::pick_hedge(Lane& lane, const Lane& helper, Duration cost, Instant now) {
  std::uint64_t bytes = lane.queued();
  for (AttemptSeq seq = lane.next; seq-- > lane.head;) {
    const SlabIndex index = lane.slice(seq);
    if (index == kNoSlab || index == kProbeSlab) continue;
    if (finish_of(lane, bytes, now) < options_.health.straggler_wait + kSoonerBy * cost) break;
    bytes -= std::min(bytes, lane.attempt(seq).bytes);
    const Slice& slice = slices_[index];
    const Job& job = *slice.job;
    const bool wanted = !slice.landed && !slice.queued && slice.live == 1 && !job.failing &&
                        job.plan->hedge && job.unbound == 0;
    if (wanted && (job.tier_rails >> helper.ordinal & 1) != 0) return index;
  }
  return kNoSlab;
}

// All bytes have landed, and attempts are still out that others have overtaken.
void Executor::on_superseded(Job& job, Instant now) {
  job.superseded = true;
  set_timer(job, now + options_.health.straggler_wait);
}

// The job has waited for a while for what it has on the lane.
void Executor::end_wait_for(Lane& lane, Job& job, Instant now) {
  if (!job.superseded) return begin_fence(lane, Cause::kFenced, now);
  const health::HealthOptions& bounds = options_.health;
  std::uint64_t bytes = 0, until_last = 0;
  for (AttemptSeq seq = lane.head; seq < lane.next; ++seq) {
    const SlabIndex index = lane.slice(seq);
    if (index == kNoSlab) continue;
    bytes += lane.attempt(seq).bytes;
    if (index != kProbeSlab && slices_[index].job == &job) until_last = bytes;
  }
  const bool moving = lane.watch.silence(now) < bounds.straggler_wait / 2;
  if (moving && finish_of(lane, until_last, now) <= kPatience * bounds.straggler_wait) {
    set_timer(job, now + bounds.straggler_wait);  // worth more than its lane's connection
    return;
  }
  const bool silent =
      lane.watch.silence(now) >= bounds.silence_min && others_moved(lane, bounds.silence_min / 2);
  begin_fence(lane, silent ? Cause::kSilent : Cause::kSuperseded, now);
}

}  // namespace spindrift::executor
