#include "tools/bench/histogram.h"

#include <algorithm>

#include "base/units.h"

namespace spindrift::tools::bench {

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

Duration Histogram::quantile(std::uint64_t per_100k) const {
  if (count_ == 0) return Duration(0);
  constexpr std::uint64_t kWhole = 100'000;
  // Rounded up: of ten values the median is the fifth, the 99th percentile the tenth.
  const std::uint64_t floor = mul_div(count_, per_100k, kWhole);
  const std::uint64_t rest = count_ * per_100k % kWhole;
  const std::uint64_t rank = std::max<std::uint64_t>(1, floor + (rest != 0 ? 1 : 0));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= rank) return to_duration(std::clamp(last_of(i), min_, max_));
  }
  return max();
}

}  // namespace spindrift::tools::bench
