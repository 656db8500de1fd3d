// Verdicts about lanes and what follows from them: silence, suspicion, quarantine,
// probes and the way back. The states and their rules are health/rail_health.h.
#include <algorithm>

#include "base/check.h"
#include "executor/executor.h"
#include "rails/region_table.h"

namespace spindrift::executor {

using health::HealthState;

namespace {

// A peer counts as in use for so long after the last bytes.
constexpr Duration kInUse = std::chrono::seconds(30);
// A probe may need this many round trips of a far peer on top of its time: to
// connect, to say hello, and for its bytes.
constexpr int kProbeRoundTrips = 4;

}  // namespace

void Executor::set_lane_timer(Lane& lane, Instant when) {
  lane.timer = when;
  if (when == kNever) {
    lane_timers_.remove(&lane);
  } else {
    lane_timers_.put(&lane);
  }
}

void Executor::on_lane_timer(Lane& lane, Instant now) {
  if (lane.state == LaneState::kWaiting) return begin_probe(lane, now);
  const bool connected_or_on_the_way =
      lane.state == LaneState::kUp || lane.state == LaneState::kOpening;
  if (!connected_or_on_the_way) return;
  if (lane.health.state() == HealthState::kProbing) {
    ++lane.probes_bad;
    return begin_fence(lane, Cause::kProbeFailed, now);
  }
  if (lane.state == LaneState::kUp) on_silence(lane, now);
}

// --- silence -----------------------------------------------------------------------

void Executor::on_lane_progress(Lane& lane, bool now_empty, Instant now) {
  const bool measured = lane.watch.on_progress(now_empty, now);
  lane.progressed_at = now;
  // Its timer is that of a lane of which nothing was known.
  if (measured && lane.watch.waiting() && lane.health.state() != HealthState::kProbing) {
    set_lane_timer(lane, now + lane.watch.limit(options_.health) + Duration(1));
  }
  if (lane.health.state() == HealthState::kSuspect) {
    judge(lane, now, [&] { lane.health.acquit(now); });
    trust(lane);
    choose_tiers(groups_[lane.group]);
  }
  if (groups_[lane.group].hedging) activate(lane.group);
}

// The lane's timer: is it still moving? Armed while bytes are outstanding; moving
// lanes only push it on when it fires, not at each report.
void Executor::on_silence(Lane& lane, Instant now) {
  if (!lane.watch.waiting()) return;
  const health::HealthOptions& bounds = options_.health;
  const Duration silence = lane.watch.silence(now);
  const Duration limit = lane.watch.limit(bounds);
  if (groups_[lane.group].hedging) activate(lane.group);
  if (lane.health.state() == HealthState::kSuspect) {
    // The last rail that might work is not given up on suspicion, but nobody
    // waits for ever either.
    const bool alone = !others_moved(lane, limit);
    if ((silence > 2 * limit && !alone) || silence > bounds.silence_dead) {
      return begin_fence(lane, alone ? Cause::kPeerSilent : Cause::kSilent, now);
    }
  } else if (silence > limit) {
    const Cause cause = others_moved(lane, limit / 2) ? Cause::kSilent : Cause::kPeerSilent;
    judge(lane, now, [&] { lane.health.suspect(cause, now); });
    distrust(lane);
    for (AttemptSeq seq = lane.head; seq < lane.next; ++seq) {
      const SlabIndex index = lane.slice(seq);
      if (index == kNoSlab || index == kProbeSlab) continue;
      // Out of attempts it waits for this one: no reason to fail.
      if (slices_[index].attempts >= slices_[index].job->plan->attempts_max) continue;
      ++lane.reroutes_total;
      retry(index, lane.ordinal, now);
    }
    choose_tiers(groups_[lane.group]);
  }
  Instant next = lane.watch.last() + limit + Duration(1);
  if (next <= now) next = lane.watch.last() + 2 * limit + Duration(1);
  if (next <= now) next = now + limit / 2;
  if (groups_[lane.group].hedging) {
    const Instant look = lane.watch.last() + hedge_after(lane);
    if (look > now) next = std::min(next, look);
  }
  set_lane_timer(lane, next);
}

// Its attempts are not expected to land any more; they may.
void Executor::distrust(Lane& lane) {
  if (!lane.trusted) return;
  lane.trusted = false;
  for (AttemptSeq seq = lane.head; seq < lane.next; ++seq) {
    const SlabIndex index = lane.slice(seq);
    if (index != kNoSlab && index != kProbeSlab) --slices_[index].hopeful;
  }
}

void Executor::trust(Lane& lane) {
  if (lane.trusted) return;
  lane.trusted = true;
  for (AttemptSeq seq = lane.head; seq < lane.next; ++seq) {
    const SlabIndex index = lane.slice(seq);
    if (index != kNoSlab && index != kProbeSlab) ++slices_[index].hopeful;
  }
}

// Another rail to the peer placed something so long after this one last did, in
// either direction: the peer lives, and can be reached. A peer that stops, stops all
// its rails, but not in the same moment: the first to fall silent is not to blame
// for the little that the others still did.
bool Executor::others_moved(const Lane& lane, Duration since_last) const {
  const std::uint32_t first = lane.group & ~1u;  // of the peer's two groups
  for (const std::uint32_t group : {first, first + 1}) {
    for (const LaneIndex index : groups_[group].lanes) {
      const Lane& other = lanes_[index];
      if (other.ordinal != lane.ordinal && other.progressed_at > lane.watch.last() + since_last) {
        return true;
      }
    }
  }
  return false;
}

void Executor::on_blackout(Duration span) {
  for (Lane& lane : lanes_) lane.watch.excuse(span);
}

// --- quarantine and the way back ------------------------------------------------------

// A lane ends; what its health learns from that.
void Executor::blame(Lane& lane, Cause cause, Instant now) {
  if (cause == Cause::kShutDown || cause == Cause::kPeerGone || cause == Cause::kPeerRestarted) {
    return;
  }
  const HealthState state = lane.health.state();
  if (is_own_wish(cause)) {
    if (state != HealthState::kSuspect) return;
    cause = lane.health.cause();
  }
  judge(lane, now, [&] {
    if (state == HealthState::kProbing) {
      lane.health.probe_failed(cause, in_use(lane, now), now, options_.health, prng_.next());
    } else {
      lane.health.quarantine(cause, now, options_.health, prng_.next());
    }
  });
}

bool Executor::in_use(const Lane& lane, Instant now) const {
  const std::uint32_t first = lane.group & ~1u;
  for (const std::uint32_t index : {first, first + 1}) {
    const Group& group = groups_[index];
    if (!group.jobs.empty() || (group.last_use != Instant{} && now - group.last_use < kInUse)) {
      return true;
    }
  }
  return false;
}

std::uint64_t Executor::working_rails(const Group& group) const {
  std::uint64_t rails = 0;
  for (const LaneIndex index : group.lanes) {
    if (lanes_[index].works()) rails |= std::uint64_t{1} << lanes_[index].ordinal;
  }
  return rails;
}

// Rails are held down for the others' sake. Where there are no others, of all or of
// those that a transfer admits, the least bad one is better than none.
void Executor::hurry_if_none_works(const Group& group, Instant now) {
  const std::uint64_t working = working_rails(group);
  std::uint64_t missed = working == 0 ? ~std::uint64_t{0} : 0;
  for (const Job* job : group.jobs) {
    if (!job->failing && (job->plan_rails & working) == 0) missed |= job->plan_rails;
  }
  for (const LaneIndex index : group.lanes) {
    Lane& lane = lanes_[index];
    if (lane.state != LaneState::kWaiting || (missed >> lane.ordinal & 1) == 0) continue;
    lane.health.hold_at_most(now + options_.health.hold_min);
    set_lane_timer(lane, std::max(lane.health.probe_at(), now));
  }
}

void Executor::begin_probe(Lane& lane, Instant now) {
  if (stopping_) return;
  if (now < next_probe_) return set_lane_timer(lane, next_probe_);
  next_probe_ = now + options_.health.probe_spacing;
  judge(lane, now, [&] { lane.health.begin_probe(now); });
  open(lane);
  set_lane_timer(
      lane, now + lane.health.probe_timeout(options_.health) + kProbeRoundTrips * lane.round_trip);
}

void Executor::post_probe(Lane& lane, Instant now) {
  const bool write = lane.direction == Operation::kWrite;
  push_attempt(lane, kProbeSlab,
               {.descriptors = write ? &probe_write_ : &probe_read_,
                .bytes = std::min(rails::kScratchBytes, lane.capabilities.slice_max),
                .ranges = 1,
                .checksum = true},
               now);
}

void Executor::on_probe_settled(Lane& lane, Cause cause, Instant now) {
  if (lane.state != LaneState::kUp) return;  // the rest of a probe that was given up
  if (cause != Cause::kNone) {
    ++lane.probes_bad;
    return begin_fence(lane, Cause::kProbeFailed, now);
  }
  ++lane.probes_good;
  bool readmitted = false;
  judge(lane, now, [&] { readmitted = lane.health.probe_landed(now); });
  if (!readmitted) return post_probe(lane, now);
  set_lane_timer(lane, kNever);
  choose_tiers(groups_[lane.group]);
}

void Executor::on_link(LaneIndex index, bool up, Instant now) {
  SPINDRIFT_CHECK(index < lanes_.size());
  Lane& lane = lanes_[index];
  if (up) {
    lane.health.hint(now);
    if (lane.state == LaneState::kWaiting)
      set_lane_timer(lane, std::max(lane.health.probe_at(), now));
    return;
  }
  if (lane.state == LaneState::kUp || lane.state == LaneState::kOpening) {
    return begin_fence(lane, Cause::kLinkDown, now);
  }
  if (!lane.health.carries()) return;
  blame(lane, Cause::kLinkDown, now);
  if (lane.state == LaneState::kIdle) reopen_later(lane, now);
}

void Executor::on_peer_back(PeerIndex peer, Instant now) {
  for (const Operation direction : {Operation::kWrite, Operation::kRead}) {
    for (const LaneIndex index : groups_[group_of(peer, direction)].lanes)
      on_link(index, true, now);
  }
}

}  // namespace spindrift::executor
