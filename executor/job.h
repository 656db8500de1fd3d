// A transfer as the executor sees it. The submitter makes it, hands it to
// exactly one executor and gets it back finished; in between only that
// executor's thread touches it. It owns the descriptors that attempts point to.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/cause.h"
#include "base/indexed_heap.h"
#include "base/instant.h"
#include "base/rail_types.h"
#include "base/slab.h"
#include "executor/cursor.h"
#include "planner/plan.h"
#include "spindrift/ids.h"

namespace spindrift::executor {

using PeerIndex = std::uint32_t;  // of the executor's peers; dense

// What one rail did for this transfer.
struct RailTally {
  std::uint64_t bytes = 0;  // landed
  std::uint64_t attempts = 0;
  std::uint64_t failures = 0;
  Cause first_cause = Cause::kNone;
};

// A part of the transfer that is not confirmed, in descriptor order per entry.
struct Unlanded {
  Cursor begin;
  std::uint64_t bytes = 0;
  bool posted = false;  // it may have landed, in whole or in part
};

// One rail's part under a static strategy (round robin, weighted).
struct StaticShare {
  Cursor cursor;           // round robin: its own place in the list
  std::uint64_t left = 0;  // weighted: bytes of its quota; round robin: 1 while not at the end
};

struct Job {
  // --- constant after construction -------------------------------------------
  TransferId id;
  PeerIndex peer = 0;
  Operation operation = Operation::kWrite;
  std::vector<ResolvedDescriptor> descriptors;  // none empty
  std::uint64_t bytes = 0;                      // their sum
  std::shared_ptr<const planner::Plan> plan;
  Instant submitted{};
  Instant deadline = kNever;

  // --- results, valid once finished --------------------------------------------
  Cause outcome = Cause::kNone;      // kNone: every byte landed
  Cause first_cause = Cause::kNone;  // of the first attempt that failed
  RailOrdinal first_cause_rail = 0;
  std::uint64_t landed = 0;  // bytes
  std::uint64_t slices = 0;
  std::uint64_t retries = 0;  // attempts beyond the first of each slice, hedges included
  std::uint64_t hedges = 0;   // of them: made on no failure, because a lane had nothing else
  Instant first_post = kNever;
  Instant finished_at{};
  std::vector<RailTally> tallies;  // by ordinal; sized by start() if need be
  std::vector<Unlanded> unlanded;  // unordered; empty when completed

  // --- the executor's own -------------------------------------------------------
  Cursor cursor;                    // shared one, of the dynamic strategies
  std::uint64_t unbound = 0;        // bytes no slice was cut for yet (R)
  std::uint64_t unsettled = 0;      // attempts
  std::uint64_t tier_rails = 0;     // bit mask of ordinals: the tier in use
  std::uint64_t plan_rails = 0;     // bit mask of ordinals: all tiers
  std::uint32_t ranges_max = 0;     // smallest of the plan's rails, so that each can carry a
  std::uint64_t slice_max = 0;      // copy of any slice; at most the plan's
  std::uint64_t slice_min = 0;      // the plan's, at most slice_max
  std::vector<StaticShare> shares;  // by place in the first tier
  SlabIndex retry_head = kNoSlab;   // slices to be posted again; FIFO
  SlabIndex retry_tail = kNoSlab;
  Instant order{};  // service order; ties by id
  Instant timer = kNever;
  std::uint32_t timer_slot = kNotInHeap;
  std::uint32_t group_slot = kNotInHeap;  // place in its group's list of jobs while it runs
  bool failing = false;                   // outcome is decided, attempts still settle
  bool superseded = false;                // all bytes landed, originals of copies still out
  bool listed = false;                    // in its group's serving list
};

}  // namespace spindrift::executor
