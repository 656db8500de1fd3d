#include "planner/predict.h"

#include <catch2/catch.hpp>
#include <limits>
#include <numeric>

#include "base/prng.h"

namespace spindrift::planner {
namespace {

using namespace std::chrono_literals;
using policies::Spray;
using Shares = std::vector<std::uint64_t>;

constexpr Rate kRate1{1'000'000'000};  // a byte a nanosecond
constexpr Rate kRate2{2'000'000'000};

TEST_CASE("least completion: all rails finish together") {
  const std::vector<RailSpeed> rails{{kRate1}, {kRate2}, {kRate1}};
  const Forecast what = forecast(Spray::kLeastCompletion, rails, 4000, 64);
  CHECK(what.shares == Shares{1000, 2000, 1000});
  CHECK(what.times == std::vector<Duration>{1000ns, 1000ns, 1000ns});
  CHECK(what.time == 1000ns);
  CHECK(what.rate == Rate{4'000'000'000});
}

TEST_CASE("least completion: a longer round trip means a smaller share") {
  const std::vector<RailSpeed> rails{{kRate1, 100ns}, {kRate1, 300ns}};
  const Forecast what = forecast(Spray::kLeastCompletion, rails, 1000, 64);
  // T = (1000 + 100 + 300) / 2
  CHECK(what.shares == Shares{600, 400});
  CHECK(what.time == 700ns);
}

TEST_CASE("least completion: a rail that comes too late for a small intent is not used") {
  const std::vector<RailSpeed> rails{{kRate1, 5ms}, {kRate1, 100ns}, {kRate1, 200ns}};
  const Forecast what = forecast(Spray::kLeastCompletion, rails, 1000, 64);
  CHECK(what.shares == Shares{0, 550, 450});
  CHECK(what.times[0] == 0ns);
  CHECK(what.time == 650ns);
}

TEST_CASE("round robin: equal shares, and the slowest rail decides") {
  const std::vector<RailSpeed> rails{{Rate{1'000'000'000}}, {Rate{100'000'000}}};
  const Forecast what = forecast(Spray::kRoundRobin, rails, 2000, 100);
  CHECK(what.shares == Shares{1000, 1000});
  CHECK(what.time == 10'000ns);
  CHECK(what.rate == Rate{200'000'000});
}

TEST_CASE("round robin deals whole slices, the last one may be shorter") {
  const std::vector<RailSpeed> rails{{kRate1}, {kRate1}, {kRate1}};
  struct Row {
    std::uint64_t bytes;
    Shares shares;
  };
  const Row rows[] = {{0, {0, 0, 0}},     {1, {1, 0, 0}},     {10, {10, 0, 0}},
                      {11, {10, 1, 0}},   {30, {10, 10, 10}}, {45, {20, 15, 10}},
                      {60, {20, 20, 20}}, {61, {21, 20, 20}}};
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    CHECK(forecast(Spray::kRoundRobin, rails, row.bytes, 10).shares == row.shares);
  }
}

TEST_CASE("weighted: in proportion, and the worst proportion decides") {
  const std::vector<RailSpeed> rails{{kRate1, 0ns, 3}, {kRate1, 0ns, 1}, {kRate1, 0ns, 0}};
  const Forecast what = forecast(Spray::kWeighted, rails, 4001, 64);
  CHECK(what.shares == Shares{3001, 1000, 0});
  CHECK(what.time == 3001ns);
  CHECK(what.rate == Rate{1'333'333'333});
  const std::vector<RailSpeed> weightless{{kRate1, 0ns, 0}, {kRate1, 0ns, 0}};
  CHECK(forecast(Spray::kWeighted, weightless, 10, 64).shares == Shares{10, 0});
}

TEST_CASE("single: one rail carries all") {
  const std::vector<RailSpeed> rails{{kRate1, 50ns}, {kRate2}};
  const Forecast what = forecast(Spray::kSingle, rails, 4000, 64);
  CHECK(what.shares == Shares{4000, 0});
  CHECK(what.time == 4050ns);
  CHECK(what.rate == kRate1);
}

TEST_CASE("with an unknown rate there are shares, but neither rate nor time") {
  const std::vector<RailSpeed> some{{kRate1}, {Rate{0}}, {Rate{3'000'000'000}}};
  const Forecast what = forecast(Spray::kLeastCompletion, some, 6000, 64);
  CHECK(what.shares == Shares{1000, 2000, 3000});
  CHECK(what.time == 0ns);
  CHECK(what.rate == Rate{0});
  CHECK(what.times == std::vector<Duration>(3, 0ns));
  const std::vector<RailSpeed> none{{Rate{0}}, {Rate{0}, 1ms}};
  CHECK(forecast(Spray::kLeastCompletion, none, 10, 64).shares == Shares{5, 5});
}

TEST_CASE("nothing to move, nothing to carry it") {
  CHECK(forecast(Spray::kLeastCompletion, {}, 10, 64).shares.empty());
  const std::vector<RailSpeed> rails{{kRate1, 5us}};
  const Forecast what = forecast(Spray::kLeastCompletion, rails, 0, 64);
  CHECK(what.shares == Shares{0});
  CHECK(what.time == 0ns);
  CHECK(what.rate == kRate1);
}

TEST_CASE("shares add up to the bytes, whatever the numbers") {
  Prng prng(5);
  const auto any = [&prng](unsigned bits) { return prng.next() >> (64 - prng.between(1, bits)); };
  for (int i = 0; i < 20'000; ++i) {
    std::vector<RailSpeed> rails(prng.between(1, 64));
    for (RailSpeed& rail : rails) {
      rail.rate = Rate{prng.chance(50) ? 0 : any(64)};
      rail.round_trip = Duration(static_cast<std::int64_t>(any(63)) - 5);
      rail.weight = static_cast<std::uint32_t>(any(32));
    }
    const std::uint64_t bytes = any(64);
    const auto spray = static_cast<Spray>(prng.below(4));
    const Forecast what = forecast(spray, rails, bytes, any(64));
    CAPTURE(i, bytes, rails.size());
    REQUIRE(std::accumulate(what.shares.begin(), what.shares.end(), std::uint64_t{0}) == bytes);
    for (std::size_t j = 0; j < rails.size(); ++j) REQUIRE(what.times[j] <= what.time);
  }
}

TEST_CASE("no fixed split is faster than least completion") {
  Prng prng(6);
  for (int i = 0; i < 5'000; ++i) {
    std::vector<RailSpeed> rails(prng.between(1, 8));
    for (RailSpeed& rail : rails) {
      rail.rate = Rate{prng.between(1'000'000, 10'000'000'000)};
      rail.round_trip = Duration(static_cast<std::int64_t>(prng.below(1'000'000)));
      rail.weight = static_cast<std::uint32_t>(prng.between(1, 9));
    }
    const std::uint64_t bytes = prng.between(1, 1'000'000'000);
    const Duration best = forecast(Spray::kLeastCompletion, rails, bytes, kMiB).time;
    // Rounding down to bytes leaves at most one per rail over for the fastest.
    const Duration slack = Rate{1'000'000}.time_for(16);
    for (const Spray spray : {Spray::kRoundRobin, Spray::kWeighted, Spray::kSingle}) {
      REQUIRE(best <= forecast(spray, rails, bytes, kMiB).time + slack);
    }
  }
}

}  // namespace
}  // namespace spindrift::planner
