// The port between the engine and what really moves bytes.
//
// A *driver* is one backend (tcp, shm, rdma, sim ...) inside one worker. It
// carries *lanes*: as initiator, one per direction of each rail to a peer; as
// responder, the ones that peers opened to this worker. It knows nothing of
// intents, policies or other rails.
//
// Thread-safety: everything is called by the owning worker's thread only.
// Bounds: post(), poll() and the fences never block and never allocate;
// the rest may allocate.
// Errors: what a peer or the kernel does comes back as an event with a Cause;
// a Status is returned only for what the caller can act on at once.
//
// The life of an initiator's lane, as the executor drives it:
//
//   add_lane ─▶ connect_lane(g) ─▶ kLaneUp(g) ─▶ post ... kLanded/kFailed/kProgress
//                                     │
//                 kLaneDown(g, cause) ◀┘ or our own decision
//                     │
//                 fence_lane(g) ─▶ kLocalFenced(g) ─▶ connect_lane(g + 1) ...
//
// What every backend must keep (tests/rail_conformance checks it):
//  - Exactly one of kLanded and kFailed for every posted attempt, except for
//    those outstanding when a lane goes down or is fenced: these get neither.
//  - kLanded means the bytes are in the destination memory, visible to a reader
//    there. For a read: in local memory.
//  - kFailed means that the attempt will not touch memory at either end again.
//  - After kLocalFenced(g) nothing posted under generation g or older reads or
//    writes memory at this end. After fence_inbound(min) returned, nothing of a
//    generation below min touches memory at the responder's end, and a lane of
//    such a generation is never adopted again. Both together settle a write;
//    the first alone settles a read.
//  - Addresses and lengths from the wire are checked against the RegionTable
//    before a byte is placed or read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bounded_vector.h"
#include "base/file_descriptor.h"
#include "base/instant.h"
#include "base/rail_types.h"
#include "rails/region_table.h"
#include "spindrift/status.h"

namespace spindrift::rails {

// What connects two ends, made off the data path: for TCP a connected socket
// after its hello was answered; others put their bootstrap data in `blob`.
struct LaneEndpoint {
  FileDescriptor socket;
  std::vector<std::byte> blob;
};

struct LaneSpec {
  LaneIndex lane = kNoLane;  // chosen by the worker; dense, small
  Operation direction = Operation::kWrite;
  RailFacts facts;
};

// Names a lane at its responder. `peer` is the responder's number for the
// initiator's session; `lane_key` the initiator's number for the lane.
struct InboundLaneId {
  std::uint32_t peer = 0;
  std::uint32_t lane_key = 0;

  friend bool operator==(const InboundLaneId&, const InboundLaneId&) = default;
};

struct InboundLane {
  InboundLaneId id;
  std::uint32_t rights_peer = 0;  // who it is for the RegionTable
  Generation generation = 0;
  Operation direction = Operation::kWrite;
  AttemptSeq first_seq = 0;  // of the first attempt that will come
  LaneEndpoint endpoint;
};

// What a responder did for the fenced generations of one lane: every attempt
// with seq < settled_end was placed, except the refused ones. Nothing at or
// above settled_end was placed completely, nor ever will be.
struct InboundFenceReport {
  AttemptSeq settled_end = 0;
  std::vector<AttemptSeq> refused;
};

class RailDriver {
 public:
  virtual ~RailDriver() = default;

  virtual Transport transport() const = 0;
  virtual const RailCapabilities& capabilities() const = 0;

  // --- as initiator ---------------------------------------------------------
  virtual Status add_lane(const LaneSpec& spec) = 0;
  // Only a lane that was never connected or is fenced.
  virtual void remove_lane(LaneIndex lane) = 0;
  // Attempts of this generation start with `first_seq`. Answered by kLaneUp or
  // kLaneDown.
  virtual void connect_lane(LaneIndex lane, Generation generation, AttemptSeq first_seq,
                            LaneEndpoint endpoint) = 0;
  // Takes attempts from the front, as many as fit, and says how many. All are
  // of this lane's current generation, with consecutive seqs.
  virtual std::size_t post(LaneIndex lane, std::span<const Attempt> attempts) = 0;
  // Ends every generation up to and including `generation` at this end;
  // answered by kLocalFenced. Harmless on a lane that is already down.
  virtual void fence_lane(LaneIndex lane, Generation generation) = 0;

  // --- as responder ---------------------------------------------------------
  // Refuses (kStaleGeneration by Code::kProtocol, kBusy over the bound) and
  // closes the endpoint, or answers the peer's hello and serves the lane.
  virtual Status adopt(InboundLane lane) = 0;
  // See the rules above. Idempotent: asked again, it reports the same.
  virtual InboundFenceReport fence_inbound(InboundLaneId id, Generation min_generation) = 0;
  // Ends all lanes of that session and forgets them; nothing of it touches
  // memory after the return.
  virtual void drop_inbound(std::uint32_t peer) = 0;
  // The table has lost rights: attempts in the middle of being placed are to be
  // checked again before the next byte. After the return the table is obeyed.
  virtual void regions_changed() = 0;

  // --- both -----------------------------------------------------------------
  // Moves what can move without blocking and appends events while there is
  // room; says how much work it did (0: idle).
  virtual std::size_t poll(Instant now, BoundedVector<RailEvent>& events) = 0;
  // Readable in epoll when poll() would find work; -1: must be polled.
  virtual int wait_fd() const = 0;
};

}  // namespace spindrift::rails
