#include "policies/least_completion.h"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

namespace spindrift::policies {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A byte per microsecond, and multiples of it.
constexpr LaneLoad lane(std::uint64_t megabytes_per_s, std::uint64_t queued = 0,
                        Duration round_trip = Duration(0)) {
  return {Rate{megabytes_per_s * 1'000'000}, round_trip, queued};
}

TEST_CASE("A slice is complete after the round trip, the queue and its own time") {
  CHECK(completion_time(lane(1), 1000) == milliseconds(1));
  CHECK(completion_time(lane(2, 3000), 1000) == milliseconds(2));
  CHECK(completion_time(lane(2, 3000, microseconds(70)), 1000) == microseconds(2070));
  CHECK(completion_time(lane(0), 1) > std::chrono::hours(1000));
}

TEST_CASE("A lane is refused when the others move the rest before it would be done") {
  struct Case {
    const char* what;
    std::vector<LaneLoad> lanes;
    std::uint64_t slice, unbound;
    bool refused;  // the last lane
  };
  const Case cases[] = {
      {"alone", {lane(1)}, 1000, 1000, false},
      {"far from the end", {lane(10), lane(1)}, 1000, 100'000, false},
      {"ten times slower, at the end", {lane(10), lane(1)}, 1000, 1000, true},
      {"exactly the others' reach", {lane(10), lane(1)}, 1000, 10'000, true},
      {"a byte beyond the others' reach", {lane(10), lane(1)}, 1000, 10'001, false},
      {"the fast one has a queue", {lane(10, 9500), lane(1)}, 1000, 1000, false},
      {"the fast one is far away", {lane(10, 0, milliseconds(1)), lane(1)}, 1000, 1000, false},
      {"two others together", {lane(2), lane(2), lane(1)}, 1000, 4000, true},
      {"the others' reach adds up beyond 64 bits",
       {{Rate{~std::uint64_t{0}}, Duration(0), 0},
        {Rate{~std::uint64_t{0}}, Duration(0), 0},
        lane(1)},
       1'000'000'000,
       ~std::uint64_t{0} - 1,
       true},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    CHECK(refuses(c.lanes, c.lanes.size() - 1, c.slice, c.unbound) == c.refused);
    Rate others;
    for (std::size_t i = 0; i + 1 < c.lanes.size(); ++i) {
      const std::uint64_t rate = c.lanes[i].rate.bytes_per_s;
      others.bytes_per_s += std::min(rate, ~std::uint64_t{0} - others.bytes_per_s);
    }
    if (c.refused) CHECK(may_refuse(c.lanes.back(), others, c.slice, c.unbound));
  }
}

TEST_CASE("Far from the end a quick look tells that a lane is not refused") {
  CHECK_FALSE(may_refuse(lane(1), Rate{10'000'000}, 1000, 10'001));
  CHECK(may_refuse(lane(1), Rate{10'000'000}, 1000, 10'000));
  CHECK_FALSE(may_refuse(lane(1), Rate{}, 1000, 1));
}

TEST_CASE("Some lane takes the last slice, however alike they are") {
  for (std::size_t count = 1; count <= 8; ++count) {
    for (const std::uint64_t rate : {0ull, 1ull, 3ull, 125ull, 12'345ull}) {
      for (const std::uint64_t left : {1ull, 1000ull, 1001ull, 65536ull}) {
        const std::vector<LaneLoad> lanes(count, lane(rate));
        std::size_t willing = 0;
        for (std::size_t i = 0; i < count; ++i) willing += !refuses(lanes, i, left, left);
        INFO(count << " lanes of " << rate << " MB/s, " << left << " bytes");
        CHECK(willing >= 1);
      }
    }
  }
}

TEST_CASE("The lane that finishes first is never refused, even if the others together could") {
  // Each of the two moves the rest by the time the third is done, in slices that
  // are not to be had.
  const std::vector<LaneLoad> lanes{lane(2, 500), lane(2, 400), lane(2, 450)};
  CHECK(refuses(lanes, 0, 1000, 1000));
  CHECK_FALSE(refuses(lanes, 1, 1000, 1000));
  CHECK(refuses(lanes, 2, 1000, 1000));
}

}  // namespace
}  // namespace spindrift::policies
