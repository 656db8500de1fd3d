#include "policies/window.h"

#include <catch2/catch.hpp>

namespace spindrift::policies {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST_CASE("A window covers round trip, two service times and jitter, with a quarter to spare") {
  // 1.25 * 1 MB/s * (1 ms + 2 * 2 ms + 3 ms)
  CHECK(window_bytes({.rate = Rate{1'000'000},
                      .round_trip = milliseconds(1),
                      .service_time = milliseconds(2),
                      .jitter = milliseconds(3),
                      .slice_bytes = 2000,
                      .window_max = 1'000'000}) == 10'000);
}

TEST_CASE("A window is at least two slices and at most its bound") {
  struct Case {
    std::uint64_t slice_bytes, window_max, window;
  };
  const Case cases[] = {
      {4000, 1'000'000, 8000},  // two slices, where the rate would ask for 5000
      {1000, 1'000'000, 5000},  // the rate's
      {1000, 3000, 3000},       // the bound
      {4000, 3000, 4000},       // a bound below one slice would stop the lane
  };
  for (const Case& c : cases) {
    INFO(c.slice_bytes << " " << c.window_max);
    CHECK(window_bytes({.rate = Rate{1'000'000},
                        .service_time = milliseconds(2),
                        .slice_bytes = c.slice_bytes,
                        .window_max = c.window_max}) == c.window);
  }
}

TEST_CASE("A window is never closed altogether") {
  CHECK(window_bytes({.rate = Rate{1}, .service_time = milliseconds(2), .window_max = 1000}) == 1);
}

TEST_CASE("A window at the highest rates does not overflow") {
  CHECK(window_bytes({.rate = Rate{~std::uint64_t{0}},
                      .round_trip = std::chrono::seconds(10),
                      .service_time = milliseconds(2),
                      .window_max = 128 * kMiB}) == 128 * kMiB);
}

TEST_CASE("A slice is what the lane moves in a service time, and less towards the end") {
  struct Case {
    std::uint64_t rate, sum, unbound, min, max, slice;
  };
  const Case cases[] = {
      {1'000'000, 2'000'000, 1'000'000, 100, 10'000, 2000},     // far from the end: 2 ms
      {1'000'000, 2'000'000, 4000, 100, 10'000, 1000},          // a quarter: 1/2 of its share
      {500'000, 2'000'000, 4000, 100, 10'000, 500},             // a slower lane: a smaller one
      {1'000'000, 2'000'000, 40, 100, 10'000, 40},              // never more than there is
      {1'000'000, 2'000'000, 200, 100, 10'000, 100},            // not below the least
      {9'000'000, 10'000'000, 1'000'000, 100, 10'000, 10'000},  // not above the most
      {1'000'000, 1'000'000, 3000, 100, 10'000, 2000},          // alone: no sharing of the end
      {0, 1'000'000, 3000, 100, 10'000, 100},                   // a lane thought dead slow
  };
  for (const Case& c : cases) {
    INFO(c.rate << " of " << c.sum << ", " << c.unbound << " left");
    CHECK(slice_bytes({.rate = Rate{c.rate},
                       .sum = Rate{c.sum},
                       .unbound = c.unbound,
                       .service_time = milliseconds(2),
                       .slice_min = c.min,
                       .slice_max = c.max}) == c.slice);
  }
}

}  // namespace
}  // namespace spindrift::policies
