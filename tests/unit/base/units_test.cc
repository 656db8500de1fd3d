#include "base/units.h"

#include <catch2/catch.hpp>

#include "base/prng.h"

namespace spindrift {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("fits never overflows") {
  struct Row {
    std::uint64_t offset, length, size;
    bool fits;
  };
  const Row rows[] = {
      {0, 0, 0, true},         {0, 1, 0, false},
      {1, 0, 0, false},        {0, 10, 10, true},
      {10, 0, 10, true},       {10, 1, 10, false},
      {11, 0, 10, false},      {5, 5, 10, true},
      {5, 6, 10, false},       {kMost, 1, 10, false},
      {1, kMost, 10, false},   {kMost, kMost, 10, false},
      {0, kMost, kMost, true}, {1, kMost, kMost, false},
      {kMost, 0, kMost, true}, {1ULL << 63, 1ULL << 63, kMost, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.offset, row.length, row.size);
    CHECK(fits(row.offset, row.length, row.size) == row.fits);
  }
}

TEST_CASE("adds_up tells when a sum overflows") {
  CHECK(adds_up(0, kMost));
  CHECK(adds_up(kMost, 0));
  CHECK_FALSE(adds_up(1, kMost));
  CHECK_FALSE(adds_up(1ULL << 63, 1ULL << 63));
  CHECK(adds_up((1ULL << 63) - 1, 1ULL << 63));
}

TEST_CASE("mul_div is exact and saturates") {
  struct Row {
    std::uint64_t a, b, c, result;
  };
  const Row rows[] = {
      {0, 0, 1, 0},
      {7, 3, 2, 10},
      {kMost, 1, 1, kMost},
      {kMost, kMost, kMost, kMost},
      {kMost, 2, 2, kMost},
      {kMost, 2, 1, kMost},
      {kMost, kMost, 1, kMost},
      {1ULL << 63, 4, 8, 1ULL << 62},
      {1, 1, 0, kMost},
      {0, 0, 0, kMost},
      {kMost, 3, kMost, 3},
      {1, kMost, 2, kMost / 2},
  };
  for (const Row& row : rows) {
    CAPTURE(row.a, row.b, row.c);
    CHECK(mul_div(row.a, row.b, row.c) == row.result);
  }
  Prng prng(9);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t a = prng.next() >> prng.below(64);
    const std::uint64_t c = (prng.next() >> prng.below(64)) | 1;
    REQUIRE(mul_div(a, c, c) == a);
    REQUIRE(mul_div(a, 1, c) == a / c);
  }
}

TEST_CASE("a rate turns time into bytes and back") {
  constexpr Rate kGigabyte{1'000'000'000};
  CHECK(kGigabyte.bytes_in(1ms) == 1'000'000);
  CHECK(kGigabyte.bytes_in(0ns) == 0);
  CHECK(kGigabyte.bytes_in(-1s) == 0);
  CHECK(kGigabyte.bytes_in(Duration::min()) == 0);
  CHECK(Rate{kMost}.bytes_in(Duration::max()) == kMost);
  CHECK(kGigabyte.time_for(1'000'000) == 1ms);
  CHECK(kGigabyte.time_for(0) == 0ns);
  CHECK(Rate{0}.time_for(1) == Duration(Rate::kLongest));
  CHECK(Rate{1}.time_for(kMost) == Duration(Rate::kLongest));
  CHECK(Rate::of(5, 1s) == Rate{5});
  CHECK(Rate::of(5, 0s) == Rate{0});
  CHECK(Rate::of(5, -1s) == Rate{0});
  CHECK(Rate::of(kMost, 1ns) == Rate{kMost});
}

TEST_CASE("the longest times add up without overflow") {
  constexpr Duration kLong = Rate{0}.time_for(1);
  CHECK(kLong + kLong + kLong > kLong);
}

TEST_CASE("a far future stays never") {
  CHECK(after(Instant(5ns), 3ns) == Instant(8ns));
  CHECK(after(kNever, 1ns) == kNever);
  CHECK(after(kNever, 0ns) == kNever);
  CHECK(after(Instant(1ns), Duration::max()) == kNever);
  CHECK(to_ns(after(Instant(1ns), Duration::max() - 2ns)) == kNever.time_since_epoch().count() - 1);
}

}  // namespace
}  // namespace spindrift
