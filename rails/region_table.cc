#include "rails/region_table.h"

#include <algorithm>

#include "base/check.h"
#include "base/units.h"

namespace spindrift::rails {

void RegionTable::put(RegionEntry entry) {
  SPINDRIFT_CHECK(entry.key != kScratchKey);
  const std::uint32_t index = region_key_index(entry.key);
  if (index >= entries_.size()) entries_.resize(index + 1);
  entries_[index] = std::move(entry);
}

const RegionEntry* RegionTable::find(RegionKey key) const {
  const std::uint32_t index = region_key_index(key);
  if (index >= entries_.size()) return nullptr;
  const RegionEntry& entry = entries_[index];
  return entry.base != nullptr && entry.key == key ? &entry : nullptr;
}

void RegionTable::erase(RegionKey key) {
  if (find(key) != nullptr) entries_[region_key_index(key)] = RegionEntry();
}

void RegionTable::revoke(RegionKey key, std::uint32_t peer) {
  if (find(key) == nullptr) return;
  std::vector<PeerRights>& grants = entries_[region_key_index(key)].grants;
  std::erase_if(grants, [peer](const PeerRights& grant) { return grant.peer == peer; });
  grants.push_back({peer, Rights::kLocal});
}

void RegionTable::quiesce(std::uint64_t token, const std::byte* base, std::uint64_t length) {
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  quiesced_.push_back({token, begin, begin + length});
}

void RegionTable::resume(std::uint64_t token) {
  std::erase_if(quiesced_, [token](const Quiesced& range) { return range.token == token; });
}

std::byte* RegionTable::check(std::uint32_t peer, RegionKey key, std::uint64_t remote,
                              std::uint64_t length, Rights want, Cause& why) const {
  if (key == kScratchKey) {
    const bool inside = fits(remote, length, scratch_.size());
    why = inside ? Cause::kNone : Cause::kBadRange;
    return inside ? scratch_.data() + remote : nullptr;
  }
  const RegionEntry* entry = find(key);
  if (entry == nullptr) {
    why = Cause::kNoRegion;
    return nullptr;
  }
  Rights have = entry->rights;
  for (const PeerRights& grant : entry->grants) {
    if (grant.peer == peer) have = grant.rights;
  }
  if (!allows(have, want)) {
    why = Cause::kNoRight;
    return nullptr;
  }
  const auto base = reinterpret_cast<std::uintptr_t>(entry->base);
  if (remote < base || !fits(remote - base, length, entry->length)) {
    why = Cause::kBadRange;
    return nullptr;
  }
  for (const Quiesced& range : quiesced_) {
    if (remote < range.end && remote + length > range.begin) {
      why = Cause::kQuiesced;
      return nullptr;
    }
  }
  why = Cause::kNone;
  return entry->base + (remote - base);
}

}  // namespace spindrift::rails
