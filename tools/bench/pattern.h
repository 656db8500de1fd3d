// What the benchmark's memory holds, so that a byte in the wrong place, from the
// wrong intent or left over from before is noticed: every 8 bytes are a hash of
// the key and their position. A key is made of the seed, the round and the slot.
// Pure functions; little-endian, byte-addressed, so that parts may begin anywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spindrift::tools::bench {

struct PatternKey {
  std::uint64_t value = 0;
};

PatternKey pattern_key(std::uint64_t seed, std::uint64_t round, std::uint64_t slot);

// Writes bytes [offset, offset + length) of the key's pattern to `at`.
void fill_pattern(std::byte* at, PatternKey key, std::uint64_t offset, std::uint64_t length);

// How many of those bytes `at` does not hold.
std::uint64_t count_differences(const std::byte* at, PatternKey key, std::uint64_t offset,
                                std::uint64_t length);

}  // namespace spindrift::tools::bench
