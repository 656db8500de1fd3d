// One direction of one rail to one peer, as the executor keeps it: the state of
// its connection, what is outstanding on it, and how fast it is.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cause.h"
#include "base/instant.h"
#include "base/rail_types.h"
#include "base/slab.h"
#include "health/rate_estimator.h"

namespace spindrift::executor {

enum class LaneState : std::uint8_t {
  kIdle,     // no connection, nothing owed; opened when there is work
  kOpening,  // asked to be connected
  kUp,       // slices may be posted
  kFencing,  // broken or given up: its attempts wait for the fences
  kWaiting,  // could not be connected or broke; tried again at reopen_at
};

struct Lane {
  // --- constant after add_peer ----------------------------------------------------
  LaneIndex index = kNoLane;
  std::uint32_t group = 0;
  RailOrdinal ordinal = 0;
  Operation direction = Operation::kWrite;
  RailCapabilities capabilities;

  // --- the connection -------------------------------------------------------------
  LaneState state = LaneState::kIdle;
  Generation generation = 0;              // of the current or last connection
  bool local_fence_due = false;           // kFencing: still waiting for this end,
  bool remote_fence_due = false;          // and for the other end
  std::vector<AttemptSeq> fenced_landed;  // kFencing: what the other end had placed
  std::uint32_t failures = 0;             // in a row, without a byte landed
  Cause last_cause = Cause::kNone;
  Instant reopen_at = kNever;

  // --- attempts, a ring by sequence number: head <= posted <= next ------------------
  std::vector<Attempt> attempts;   // power of two places, allocated when first opened
  std::vector<SlabIndex> slices;   // what each attempt carries; kNoSlab: it is settled
  std::uint64_t attempts_max = 0;  // outstanding at a time; the ring may be larger
  AttemptSeq head = 0;             // the oldest that is not settled
  AttemptSeq posted = 0;           // the next to hand to the rail
  AttemptSeq next = 0;             // the next to make
  bool dirty = false;              // has made attempts the shell was told of
  std::uint64_t outstanding = 0;   // bytes of attempts not settled
  std::uint64_t progress = 0;      // bytes placed, as reported, this generation
  std::uint64_t landed_here = 0;   // bytes of landed attempts, this generation

  // --- the estimates --------------------------------------------------------------
  health::RateEstimator rate{Rate{}};
  Duration round_trip{0};
  std::uint64_t window = 0;       // bytes
  std::uint64_t slice_bytes = 0;  // size of the latest slice

  // --- counters -------------------------------------------------------------------
  std::uint64_t bytes_total = 0;
  std::uint64_t failures_total = 0;
  std::uint64_t fences_total = 0;

  std::size_t mask() const { return attempts.size() - 1; }
  Attempt& attempt(AttemptSeq seq) { return attempts[seq & mask()]; }
  SlabIndex& slice(AttemptSeq seq) { return slices[seq & mask()]; }
  bool settled(AttemptSeq seq) const { return slices[seq & mask()] == kNoSlab; }
  bool ring_full() const { return next - head >= attempts_max; }
  // q: bytes outstanding that are not known to be placed.
  std::uint64_t queued() const {
    const std::uint64_t partial = progress > landed_here ? progress - landed_here : 0;
    return partial >= outstanding ? 0 : outstanding - partial;
  }
  bool works() const {
    return state == LaneState::kUp ||
           (failures == 0 && (state == LaneState::kIdle || state == LaneState::kOpening));
  }
};

}  // namespace spindrift::executor
