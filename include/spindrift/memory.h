// Memory that can take part in transfers, and who may touch it.
//
// A *region* is local memory registered with an engine. A *segment* is a named
// set of regions as peers see it. Registering with a segment name publishes the
// region; without one it can only be the local side of this engine's transfers.
//
// The caller owns the memory and keeps it mapped until unregister_memory() has
// returned ok. Value types; safe to copy between threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spindrift/ids.h"

namespace spindrift {

// What is served so far is host memory; the others are names for plans.
enum class MemoryKind : std::uint8_t { kHost, kCuda, kFile };

// Where memory lives. `device` counts within the kind: cuda:0, cuda:1, ...
struct Location {
  MemoryKind kind = MemoryKind::kHost;
  std::uint32_t device = 0;

  friend constexpr bool operator==(const Location&, const Location&) = default;
};

// What peers may do with a region. This engine may always use it locally.
enum class Rights : std::uint8_t {
  kLocal = 0,
  kRemoteRead = 1,
  kRemoteWrite = 2,
  kRemoteReadWrite = 3,
};
constexpr bool allows(Rights have, Rights want) {
  return (static_cast<unsigned>(have) & static_cast<unsigned>(want)) == static_cast<unsigned>(want);
}

// Rights of one peer, by its node name, instead of the region's general ones.
struct Grant {
  std::string peer = {};
  Rights rights = Rights::kLocal;
};

struct MemoryOptions {
  void* address = nullptr;
  std::uint64_t length = 0;  // bytes, > 0
  std::string segment = {};  // empty: not published
  Rights rights = Rights::kLocal;
  std::vector<Grant> grants = {};  // peers named here have exactly these rights
  Location location = {};
};

// What register_memory() returns.
struct Region {
  RegionId id;
  std::byte* address = nullptr;
  std::uint64_t length = 0;
};

}  // namespace spindrift
