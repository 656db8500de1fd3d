#include "tools/bench/histogram.h"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "base/prng.h"

namespace spindrift::tools::bench {
namespace {

TEST_CASE("an empty histogram says zero everywhere") {
  const Histogram empty;
  CHECK(empty.count() == 0);
  CHECK(empty.quantile(50'000) == Duration(0));
  CHECK(empty.min() == Duration(0));
  CHECK(empty.max() == Duration(0));
  CHECK(empty.mean() == Duration(0));
}

TEST_CASE("small values are exact") {
  Histogram histogram;
  for (int i = 1; i <= 100; ++i) histogram.record(Duration(i));
  CHECK(histogram.quantile(50'000) == Duration(50));
  CHECK(histogram.quantile(99'000) == Duration(99));
  CHECK(histogram.quantile(99'900) == Duration(100));
  CHECK(histogram.quantile(100'000) == Duration(100));
  CHECK(histogram.quantile(0) == Duration(1));
  CHECK(histogram.mean() == Duration(50));
}

TEST_CASE("a quantile is never below the exact one and at most 0.8 percent above") {
  Prng prng(7);
  Histogram histogram;
  std::vector<std::int64_t> exact;
  for (int i = 0; i < 20'000; ++i) {
    // From nanoseconds to minutes: as many of each magnitude.
    const auto value = static_cast<std::int64_t>(prng.next() >> prng.between(24, 60));
    histogram.record(Duration(value));
    exact.push_back(value);
  }
  std::sort(exact.begin(), exact.end());
  for (const std::uint64_t per_100k : {10U, 1'000U, 50'000U, 90'000U, 99'000U, 99'900U, 99'999U}) {
    const std::size_t rank = (exact.size() * per_100k + 99'999) / 100'000;
    const std::int64_t want = exact[std::max<std::size_t>(rank, 1) - 1];
    const std::int64_t got = histogram.quantile(per_100k).count();
    CAPTURE(per_100k, want, got);
    CHECK(got >= want);
    CHECK(got <= want + want / 125 + 1);
  }
  CHECK(histogram.max().count() == exact.back());
  CHECK(histogram.min().count() == exact.front());
}

TEST_CASE("the extremes of a duration have their places") {
  Histogram histogram;
  histogram.record(Duration::max());
  histogram.record(Duration(-5));
  CHECK(histogram.min() == Duration(0));
  CHECK(histogram.max() == Duration::max());
  CHECK(histogram.quantile(100'000) == Duration::max());
}

TEST_CASE("merged histograms are as one that saw everything") {
  Histogram a, b, both;
  for (int i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? a : b).record(Duration(i * 977));
    both.record(Duration(i * 977));
  }
  a.merge(b);
  CHECK(a.count() == both.count());
  CHECK(a.mean() == both.mean());
  CHECK(a.min() == both.min());
  CHECK(a.max() == both.max());
  for (const std::uint64_t per_100k : {1'000U, 50'000U, 99'900U}) {
    CHECK(a.quantile(per_100k) == both.quantile(per_100k));
  }
}

}  // namespace
}  // namespace spindrift::tools::bench
