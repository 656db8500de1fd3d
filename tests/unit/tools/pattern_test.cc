#include "tools/bench/pattern.h"

#include <cstring>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

namespace spindrift::tools::bench {
namespace {

const PatternKey kKey = pattern_key(1, 2, 3);

TEST_CASE("a pattern is the same in whatever parts it is written") {
  std::vector<std::byte> whole(300), parts(300);
  fill_pattern(whole.data(), kKey, 5, whole.size());
  std::size_t at = 0;
  for (std::size_t length = 1; at < parts.size(); ++length) {
    const std::size_t part = std::min(length, parts.size() - at);
    fill_pattern(parts.data() + at, kKey, 5 + at, part);
    at += part;
  }
  CHECK(whole == parts);
  CHECK(count_differences(whole.data(), kKey, 5, whole.size()) == 0);
}

TEST_CASE("nothing beyond the range is written") {
  for (const std::uint64_t length : {0U, 1U, 3U, 7U, 8U, 9U, 63U}) {
    std::vector<std::byte> memory(80, std::byte{0xaa});
    fill_pattern(memory.data() + 8, kKey, 3, length);
    for (std::size_t i = 0; i < 8; ++i) CHECK(memory[i] == std::byte{0xaa});
    for (std::size_t i = 8 + length; i < memory.size(); ++i) CHECK(memory[i] == std::byte{0xaa});
  }
}

TEST_CASE("each wrong byte counts, once") {
  std::vector<std::byte> memory(1000);
  fill_pattern(memory.data(), kKey, 0, memory.size());
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < memory.size(); i += 37) {
    memory[i] ^= std::byte{1};
    CHECK(count_differences(memory.data(), kKey, 0, memory.size()) == ++wrong);
  }
}

TEST_CASE("bytes of another place, slot, round or seed are wrong") {
  constexpr std::uint64_t kBytes = 800;
  std::vector<std::byte> memory(kBytes);
  fill_pattern(memory.data(), kKey, 0, kBytes);
  // By chance one byte of 256 is right.
  constexpr std::uint64_t kMost = kBytes - kBytes / 64;
  CHECK(count_differences(memory.data(), kKey, 8, kBytes) > kMost);
  CHECK(count_differences(memory.data(), kKey, 1, kBytes) > kMost);
  CHECK(count_differences(memory.data(), pattern_key(1, 2, 4), 0, kBytes) > kMost);
  CHECK(count_differences(memory.data(), pattern_key(1, 3, 3), 0, kBytes) > kMost);
  CHECK(count_differences(memory.data(), pattern_key(2, 2, 3), 0, kBytes) > kMost);
}

TEST_CASE("keys of neighbours differ") {
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t round = 0; round < 10; ++round) {
      for (std::uint64_t slot = 0; slot < 10; ++slot) {
        keys.insert(pattern_key(seed, round, slot).value);
      }
    }
  }
  CHECK(keys.size() == 1000);
}

}  // namespace
}  // namespace spindrift::tools::bench
