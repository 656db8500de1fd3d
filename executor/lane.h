// One direction of one rail to one peer, as the executor keeps it: the state of
// its connection, what is outstanding on it, and how fast it is.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cause.h"
#include "base/indexed_heap.h"
#include "base/instant.h"
#include "base/rail_types.h"
#include "base/slab.h"
#include "health/progress_watch.h"
#include "health/rail_health.h"
#include "health/rate_estimator.h"

namespace spindrift::executor {

enum class LaneState : std::uint8_t {
  kIdle,     // no connection, nothing owed; opened when there is work
  kOpening,  // asked to be connected
  kUp,       // slices may be posted
  kFencing,  // broken or given up: its attempts wait for the fences
  kWaiting,  // quarantined; the next probe opens it
};

// In the place of an attempt's slice: it is a probe and carries none.
inline constexpr SlabIndex kProbeSlab = kNoSlab - 1;

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

  // --- health ---------------------------------------------------------------------
  health::RailHealth health;
  health::ProgressWatch watch;
  bool trusted = false;    // up and not suspect: its attempts are expected to land
  Instant timer = kNever;  // of its state: silence, a probe due, a probe's end
  std::uint32_t timer_slot = kNotInHeap;
  Instant progressed_at{};  // when something was last placed

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
  std::uint64_t reroutes_total = 0;  // slices of it that were copied to other lanes
  std::uint64_t hedges_total = 0;    // likewise at the end of a transfer, on no suspicion
  std::uint64_t probes_good = 0;
  std::uint64_t probes_bad = 0;

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
  // May carry slices, at once or when it is connected.
  bool works() const {
    return health.carries() &&
           (state == LaneState::kUp || state == LaneState::kIdle || state == LaneState::kOpening);
  }
  // Takes new slices now.
  bool usable() const { return state == LaneState::kUp && health.carries(); }
};

}  // namespace spindrift::executor
