#include "base/prng.h"

#include <catch2/catch.hpp>
#include <limits>

namespace spindrift {
namespace {

TEST_CASE("splitmix64 gives its published numbers") {
  std::uint64_t state = 1234567;
  CHECK(splitmix64(state) == 6457827717110365317ULL);
  CHECK(splitmix64(state) == 3203168211198807973ULL);
  CHECK(splitmix64(state) == 9817491932198370423ULL);
  CHECK(splitmix64(state) == 4593380528125082431ULL);
  CHECK(splitmix64(state) == 16408922859458223821ULL);
}

// Kept for ever: a seed in a report must replay on every later build.
TEST_CASE("the same seed gives the same numbers on every compiler") {
  Prng prng(42);
  CHECK(prng.next() == 1546998764402558742ULL);
  CHECK(prng.next() == 6990951692964543102ULL);
  CHECK(prng.next() == 12544586762248559009ULL);
  CHECK(prng.next() == 17057574109182124193ULL);
}

TEST_CASE("numbers stay in their bounds and reach both ends") {
  Prng prng(1);
  CHECK(prng.below(0) == 0);
  CHECK(prng.below(1) == 0);
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = prng.between(3, 6);
    REQUIRE(value >= 3);
    REQUIRE(value <= 6);
    low = low || value == 3;
    high = high || value == 6;
    REQUIRE(prng.between(8, 8) == 8);
  }
  CHECK(low);
  CHECK(high);
}

TEST_CASE("chances are what they say") {
  Prng prng(2);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) {
    REQUIRE_FALSE(prng.chance(0));
    REQUIRE(prng.chance(1000));
    hits += prng.chance(250) ? 1 : 0;
  }
  CHECK(hits > 2300);
  CHECK(hits < 2700);
}

}  // namespace
}  // namespace spindrift
