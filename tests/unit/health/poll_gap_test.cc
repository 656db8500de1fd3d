#include "health/poll_gap.h"

#include <catch2/catch.hpp>

namespace spindrift::health {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

void feed(PollGap& gaps, int count, Duration gap) {
  for (int i = 0; i < count; ++i) gaps.on_gap(gap);
}

TEST_CASE("Until enough gaps were seen, a millisecond is assumed") {
  PollGap gaps;
  feed(gaps, 63, microseconds(10));
  CHECK(gaps.p99() == milliseconds(1));
  feed(gaps, 1, microseconds(10));
  CHECK(gaps.p99() == microseconds(16));  // the upper end of its bucket
}

TEST_CASE("One gap in a hundred does not count, two do") {
  PollGap gaps;
  for (int i = 0; i < 32; ++i) {  // 1 in 200
    feed(gaps, 199, microseconds(3));
    feed(gaps, 1, milliseconds(5));
  }
  CHECK(gaps.p99() == microseconds(4));
  for (int i = 0; i < 32; ++i) {  // 1 in 50
    feed(gaps, 49, microseconds(3));
    feed(gaps, 1, microseconds(3000));
  }
  CHECK(gaps.p99() == microseconds(4096));
}

TEST_CASE("The answer is at most 8 ms, whatever happened") {
  PollGap gaps;
  feed(gaps, 640, std::chrono::hours(1));
  CHECK(gaps.p99() == PollGap::kMax);
  feed(gaps, 640, Duration(-5));  // a clock that stepped
  CHECK(gaps.p99() == PollGap::kMax);
}

TEST_CASE("A bad time fades") {
  PollGap gaps;
  feed(gaps, 4000, milliseconds(7));
  CHECK(gaps.p99() == milliseconds(8));
  int fed = 0;
  while (gaps.p99() == milliseconds(8) && fed < 100'000) {
    feed(gaps, 64, microseconds(3));
    fed += 64;
  }
  CHECK(gaps.p99() == microseconds(4));
  CHECK(fed < 20'000);
}

}  // namespace
}  // namespace spindrift::health
