#include "tools/bench/pattern.h"

#include <algorithm>
#include <cstring>

#include "base/prng.h"

namespace spindrift::tools::bench {
namespace {

constexpr std::uint64_t kWord = 8;

// splitmix64's finaliser over key + index: neighbours share nothing.
std::uint64_t word_at(PatternKey key, std::uint64_t index) {
  std::uint64_t state = key.value + index * 0x9e3779b97f4a7c15ULL;
  return splitmix64(state);
}

// Calls part(position in `at`, bytes, first byte within the word, word) for each
// word that the range touches, whole or in part.
template <typename Part>
void for_each_word(PatternKey key, std::uint64_t offset, std::uint64_t length, const Part& part) {
  std::uint64_t done = 0;
  while (done < length) {
    const std::uint64_t within = (offset + done) % kWord;
    const std::uint64_t bytes = std::min(kWord - within, length - done);
    part(done, bytes, within, word_at(key, (offset + done) / kWord));
    done += bytes;
  }
}

std::uint64_t differing_bytes(std::uint64_t difference) {
  std::uint64_t count = 0;
  for (; difference != 0; difference >>= 8) count += (difference & 0xff) != 0 ? 1 : 0;
  return count;
}

}  // namespace

PatternKey pattern_key(std::uint64_t seed, std::uint64_t round, std::uint64_t slot) {
  std::uint64_t state = seed;
  state = splitmix64(state) + round;
  state = splitmix64(state) + slot;
  return PatternKey{splitmix64(state)};
}

void fill_pattern(std::byte* at, PatternKey key, std::uint64_t offset, std::uint64_t length) {
  for_each_word(
      key, offset, length,
      [at](std::uint64_t position, std::uint64_t bytes, std::uint64_t within, std::uint64_t word) {
        word >>= within * 8;
        std::memcpy(at + position, &word, bytes);
      });
}

std::uint64_t count_differences(const std::byte* at, PatternKey key, std::uint64_t offset,
                                std::uint64_t length) {
  std::uint64_t count = 0;
  for_each_word(key, offset, length,
                [at, &count](std::uint64_t position, std::uint64_t bytes, std::uint64_t within,
                             std::uint64_t word) {
                  std::uint64_t expected = 0;
                  std::uint64_t found = 0;
                  word >>= within * 8;
                  std::memcpy(&expected, &word, bytes);
                  std::memcpy(&found, at + position, bytes);
                  count += differing_bytes(expected ^ found);
                });
  return count;
}

}  // namespace spindrift::tools::bench
