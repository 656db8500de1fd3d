// Which local memory peers may touch: one worker's copy of the engine's
// registrations, asked before every placement and every read on behalf of a
// peer. Pure; owned by one thread. Keys are handed out by the engine
// (make_region_key) and carry a random tag, so that a stale key of an
// unregistered region does not open the one that took its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cause.h"
#include "spindrift/memory.h"

namespace spindrift::rails {

using RegionKey = std::uint32_t;

inline constexpr unsigned kRegionKeyIndexBits = 18;  // 262,144 regions
inline constexpr std::uint32_t kRegionsMax = 1u << kRegionKeyIndexBits;

constexpr RegionKey make_region_key(std::uint32_t index, std::uint32_t tag) {
  return (tag << kRegionKeyIndexBits) | (index & (kRegionsMax - 1));
}
constexpr std::uint32_t region_key_index(RegionKey key) {
  return key & (kRegionsMax - 1);
}

// Every worker's scratch memory, which any peer may read and write at the
// addresses [0, kScratchBytes): probes move through it. Part of the protocol.
inline constexpr RegionKey kScratchKey = ~RegionKey{0};
inline constexpr std::uint64_t kScratchBytes = 64 * 1024;

// Rights of one peer; `peer` is a number for its node name, given by the engine.
struct PeerRights {
  std::uint32_t peer = 0;
  Rights rights = Rights::kLocal;
};

struct RegionEntry {
  RegionKey key = 0;
  std::byte* base = nullptr;
  std::uint64_t length = 0;
  Rights rights = Rights::kLocal;
  std::vector<PeerRights> grants;  // override `rights`
};

class RegionTable {
 public:
  RegionTable() : scratch_(kScratchBytes) {}

  // Replaces the entry of the same index.
  void put(RegionEntry entry);
  void erase(RegionKey key);
  void revoke(RegionKey key, std::uint32_t peer);

  // Closes [base, base + length) to every peer until resume() with the same
  // token.
  void quiesce(std::uint64_t token, const std::byte* base, std::uint64_t length);
  void resume(std::uint64_t token);

  // The local address of [remote, remote + length) if `peer` holds `want` on
  // all of it; else nullptr and why.
  std::byte* check(std::uint32_t peer, RegionKey key, std::uint64_t remote, std::uint64_t length,
                   Rights want, Cause& why) const;
  const std::byte* scratch() const { return scratch_.data(); }

 private:
  struct Quiesced {
    std::uint64_t token = 0;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  const RegionEntry* find(RegionKey key) const;

  mutable std::vector<std::byte> scratch_;  // peers write it, nobody reads it
  std::vector<RegionEntry> entries_;        // by index; key 0 and base null: empty
  std::vector<Quiesced> quiesced_;
};

}  // namespace spindrift::rails
