// The values that cross the rail port: what a rail is, what is posted on it and
// what comes back. Shared by policies, planner, executor and every backend.
// Plain values; no ownership but where said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "base/cause.h"
#include "base/instant.h"
#include "base/units.h"
#include "spindrift/intent.h"
#include "spindrift/memory.h"

namespace spindrift {

enum class Transport : std::uint8_t { kSim, kTcp, kShm, kRdma, kNvlink, kFile };
const char* to_string(Transport transport);

// A rail's place in its peer's list. Stable for the life of the peer: a rail
// that is gone leaves its place empty, later ones never shift.
using RailOrdinal = std::uint16_t;
inline constexpr std::size_t kRailsPerPeerMax = 64;  // fits one bit mask

// What does not change while a rail exists.
struct RailFacts {
  Transport transport = Transport::kTcp;
  std::string local_device;   // "eth2"
  std::string remote_device;  // "eth2"
  Rate line_rate;             // what the device claims; 0: unknown. A hint only
  int local_numa = -1;        // -1: unknown
  int remote_numa = -1;
  std::string pci;  // "0000:3b:00.0", empty: none

  // "tcp:eth2>eth2"
  std::string name() const;
};

// What a backend can do; data, not virtual calls.
struct RailCapabilities {
  bool host_memory = true;
  bool cuda_memory = false;
  bool file_memory = false;
  bool write = true;
  bool read = true;
  bool needs_registration = false;
  bool can_cancel = false;
  std::uint64_t slice_max = 64 * kMiB;  // bytes per attempt
  std::uint32_t ranges_max = 512;       // ranges per attempt
  std::uint32_t attempts_max = 512;     // outstanding per lane
};

// A lane's place in its worker's table (executor/lane.h). One lane carries one
// direction of one rail.
using LaneIndex = std::uint32_t;
inline constexpr LaneIndex kNoLane = std::numeric_limits<LaneIndex>::max();

// Only the initiator raises it; see "fence" in docs/ARCHITECTURE.md.
using Generation = std::uint32_t;

// Counts the attempts of one lane over all its generations, without gaps.
using AttemptSeq = std::uint64_t;

// A descriptor with the keys of the memory that it touches.
struct ResolvedDescriptor {
  std::byte* local = nullptr;
  std::uint64_t remote = 0;
  std::uint64_t length = 0;
  std::uint32_t local_key = 0;
  std::uint32_t remote_key = 0;
};

// One posting of a slice: `bytes` bytes that begin `offset` bytes into
// `descriptors[0]` and run on over the following ones, `ranges` of them in all.
// The array outlives the attempt: it belongs to the transfer, which does not
// finish before the attempt is settled.
struct Attempt {
  LaneIndex lane = kNoLane;
  Generation generation = 0;
  AttemptSeq seq = 0;
  const ResolvedDescriptor* descriptors = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t ranges = 0;
  bool checksum = false;
};

enum class RailEventKind : std::uint8_t {
  kLanded,       // seq: its bytes are at the destination, visible to a reader there
  kFailed,       // seq, cause: it did not land and never will; settled
  kProgress,     // value: bytes placed at the destination in all, per lane generation
  kRoundTrip,    // value: the transport's own estimate of the smallest, ns
  kLaneUp,       // generation is usable
  kLaneDown,     // generation, cause: broken; its attempts are *not* settled
  kLocalFenced,  // generation: nothing older touches memory at this end
};

struct RailEvent {
  RailEventKind kind = RailEventKind::kProgress;
  Cause cause = Cause::kNone;
  LaneIndex lane = kNoLane;
  Generation generation = 0;
  std::uint64_t value = 0;  // AttemptSeq, bytes or ns, as the kind says
};

}  // namespace spindrift
