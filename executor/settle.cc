// The ends of attempts, slices and transfers.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "executor/executor.h"

namespace spindrift::executor {

// Takes an attempt off its lane; the caller decides what became of it.
SlabIndex Executor::settle(Lane& lane, AttemptSeq seq) {
  // A rail that reports what was never posted, or twice, is broken: going on
  // could finish a transfer whose bytes still move.
  SPINDRIFT_CHECK(seq >= lane.head && seq < lane.next);
  const SlabIndex index = std::exchange(lane.slice(seq), kNoSlab);
  SPINDRIFT_CHECK(index != kNoSlab);
  lane.outstanding -= lane.attempt(seq).bytes;
  while (lane.head < lane.next && lane.settled(lane.head)) ++lane.head;
  if (index == kProbeSlab) return index;
  Slice& slice = slices_[index];
  slice.posted |= seq < lane.posted;
  --slice.live;
  if (lane.trusted) --slice.hopeful;
  --slice.job->unsettled;
  return index;
}

void Executor::settle_landed(Lane& lane, AttemptSeq seq, Instant now) {
  const std::uint64_t bytes = lane.attempt(seq).bytes;
  const std::uint64_t before = std::max(lane.progress, lane.landed_here);
  const SlabIndex index = settle(lane, seq);
  lane.landed_here += bytes;
  // What a fence reports as landed is no sign that the lane works.
  if (lane.state == LaneState::kUp) {
    on_lane_progress(lane, lane.outstanding == 0, now);
    if (lane.landed_here > before &&
        lane.rate.on_placed(lane.landed_here - before, lane.outstanding == 0, now)) {
      refresh_window(lane);
    }
  }
  if (index == kProbeSlab) return on_probe_settled(lane, Cause::kNone, now);
  lane.bytes_total += bytes;

  Slice& slice = slices_[index];
  Job& job = *slice.job;
  if (!slice.landed) {
    slice.landed = true;
    job.landed += slice.bytes;
    job.tallies[lane.ordinal].bytes += slice.bytes;
  }
  drop_if_unused(index);
  if (job.unsettled == 0) return finish_if_settled(job, now);
  if (job.landed == job.bytes && !job.superseded && !job.failing) on_superseded(job, now);
}

void Executor::settle_failed(Lane& lane, AttemptSeq seq, Cause cause, Instant now) {
  const SlabIndex index = settle(lane, seq);
  if (index == kProbeSlab) return on_probe_settled(lane, cause, now);
  Job& job = *slices_[index].job;
  note_cause(lane, job, cause);
  count_failure(lane, job);
  if (is_request_fault(cause)) {
    fail(job, cause, now);
  } else {
    retry(index, lane.ordinal, now);
  }
  drop_if_unused(index);
  finish_if_settled(job, now);
}

// An attempt that a fence ended; its slice was queued again when the lane broke,
// so there is nothing to retry.
void Executor::settle_orphan(Lane& lane, AttemptSeq seq, Instant now) {
  const SlabIndex index = settle(lane, seq);
  if (index == kProbeSlab) return;
  const Slice& slice = slices_[index];
  Job& job = *slice.job;
  SPINDRIFT_CHECK(slice.landed || slice.queued || slice.hopeful > 0 || job.failing);
  count_failure(lane, job);
  drop_if_unused(index);
  finish_if_settled(job, now);
}

// Attempts that were made but that no rail took: their slices go back without
// being charged for it.
void Executor::settle_unposted(Lane& lane, Instant now) {
  const AttemptSeq end = lane.next;
  for (AttemptSeq seq = lane.posted; seq < end; ++seq) {
    const SlabIndex index = settle(lane, seq);
    if (index == kProbeSlab) continue;
    Slice& slice = slices_[index];
    Job& job = *slice.job;
    --slice.attempts;
    --job.tallies[lane.ordinal].attempts;
    retry(index, kNoRail, now);
    drop_if_unused(index);
    finish_if_settled(job, now);
  }
  lane.next = lane.posted;
  lane.head = std::min(lane.head, lane.next);
}

void Executor::note_cause(const Lane& lane, Job& job, Cause cause) {
  RailTally& tally = job.tallies[lane.ordinal];
  if (tally.first_cause == Cause::kNone) tally.first_cause = cause;
  if (job.first_cause == Cause::kNone) {
    job.first_cause = cause;
    job.first_cause_rail = lane.ordinal;
  }
}

void Executor::count_failure(Lane& lane, Job& job) {
  ++lane.failures_total;
  ++job.tallies[lane.ordinal].failures;
}

// Puts an unlanded slice that no attempt is expected to land into its job's retry
// queue, or gives the job up when the slice's attempts are used up.
void Executor::retry(SlabIndex index, RailOrdinal failed_on, Instant now) {
  Slice& slice = slices_[index];
  Job& job = *slice.job;
  slice.avoid = failed_on;
  if (job.failing || slice.landed || slice.queued || slice.hopeful > 0) return;
  if (slice.attempts >= job.plan->attempts_max) {
    fail(job, Cause::kRetriesSpent, now);
    return;
  }
  slice.queued = true;
  slice.retry_next = kNoSlab;
  if (job.retry_tail == kNoSlab) {
    job.retry_head = index;
  } else {
    slices_[job.retry_tail].retry_next = index;
  }
  job.retry_tail = index;
  ++group_of(job).retries;
  list(job);
  activate(group_of(job.peer, job.operation));
}

SlabIndex Executor::pop_retry(Job& job) {
  const SlabIndex index = job.retry_head;
  if (index == kNoSlab) return kNoSlab;
  Slice& slice = slices_[index];
  job.retry_head = slice.retry_next;
  if (job.retry_head == kNoSlab) job.retry_tail = kNoSlab;
  slice.queued = false;
  --group_of(job).retries;
  return index;
}

// A slice is of no use any more when no attempt is out, it waits for none, and it
// landed or will not be tried again. An unlanded one of a failing job goes into
// the job's account of what is not confirmed.
void Executor::drop_if_unused(SlabIndex index) {
  const Slice& slice = slices_[index];
  if (slice.live > 0 || slice.queued || !(slice.landed || slice.job->failing)) return;
  if (!slice.landed) slice.job->unlanded.push_back({slice.begin, slice.bytes, slice.posted});
  slices_.give_back(index);
}

// Decides the outcome; the caller goes on with finish_if_settled(). Nothing more
// is cut or posted; what is outstanding has settle_grace to land by itself before
// its lanes are fenced.
void Executor::fail(Job& job, Cause cause, Instant now) {
  if (job.failing) return;
  job.failing = true;
  job.outcome = cause;
  unlist(job);
  while (job.retry_head != kNoSlab) drop_if_unused(pop_retry(job));
  set_timer(job, after(now, options_.settle_grace));
}

void Executor::finish_if_settled(Job& job, Instant now) {
  if (job.unsettled > 0 || (!job.failing && job.landed < job.bytes)) return;
  if (job.group_slot == kNotInHeap) return;  // finished already
  if (job.landed == job.bytes) job.outcome = Cause::kNone;
  if (job.outcome != Cause::kNone) collect_unlanded(job);
  // Slices that were to be sent again, but whose originals had landed.
  while (job.retry_head != kNoSlab) drop_if_unused(pop_retry(job));
  unlist(job);
  set_timer(job, kNever);
  Group& group = group_of(job);
  group.jobs.back()->group_slot = job.group_slot;
  std::swap(group.jobs[job.group_slot], group.jobs.back());
  group.jobs.pop_back();
  job.group_slot = kNotInHeap;
  if (group.jobs.empty()) group.hedging = false;
  job.finished_at = now;
  --running_;
  output_.finished.push_back(&job);
}

// Slices were accounted for as they were dropped; what was never cut remains.
void Executor::collect_unlanded(Job& job) {
  std::uint64_t known = job.landed + job.unbound;
  for (const Unlanded& part : job.unlanded) known += part.bytes;
  SPINDRIFT_CHECK(known == job.bytes);
  if (job.unbound == 0) return;
  if (job.plan->spray != policies::Spray::kRoundRobin) {
    job.unlanded.push_back({job.cursor, job.unbound, false});
    return;
  }
  // Round robin cuts in several places at once; one range from the first of
  // them to the end says less, but nothing wrong.
  Cursor first{static_cast<std::uint32_t>(job.descriptors.size()), 0};
  for (const StaticShare& share : job.shares) {
    if (share.left == 0) continue;
    if (share.cursor.descriptor < first.descriptor ||
        (share.cursor.descriptor == first.descriptor && share.cursor.offset < first.offset)) {
      first = share.cursor;
    }
  }
  std::uint64_t rest = 0;
  for (std::size_t i = first.descriptor; i < job.descriptors.size(); ++i) {
    rest += job.descriptors[i].length;
  }
  job.unlanded.push_back({first, rest - first.offset, true});
}

void Executor::set_timer(Job& job, Instant when) {
  job.timer = when;
  if (when == kNever) {
    job_timers_.remove(&job);
  } else {
    job_timers_.put(&job);
  }
}

void Executor::on_job_timer(Job& job, Instant now) {
  if (!job.failing && !job.superseded) {
    fail(job, Cause::kDeadline, now);
    finish_if_settled(job, now);
    return;
  }
  set_timer(job, kNever);
  for (const LaneIndex index : group_of(job).lanes) {
    Lane& lane = lanes_[index];
    if (lane.state != LaneState::kUp) continue;
    for (AttemptSeq seq = lane.head; seq < lane.next; ++seq) {
      const SlabIndex slice = lane.slice(seq);
      if (slice == kNoSlab || slice == kProbeSlab || slices_[slice].job != &job) continue;
      end_wait_for(lane, job, now);
      break;
    }
  }
}

}  // namespace spindrift::executor
