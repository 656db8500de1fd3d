// How latencies are distributed, in bounded memory: log-linear buckets, as in
// HdrHistogram (http://hdrhistogram.org). Each power of two is divided into 128
// buckets, so that a quantile is at most 0.8 % above the exact one; minimum,
// maximum and mean are exact. 64 KiB, whatever is recorded. Not thread-safe: one
// per thread, merged afterwards.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/instant.h"

namespace spindrift::tools::bench {

class Histogram {
 public:
  void record(Duration span) {
    const auto ns = static_cast<std::uint64_t>(span.count() < 0 ? 0 : span.count());
    ++buckets_[bucket_of(ns)];
    ++count_;
    sum_ += ns;
    if (ns < min_) min_ = ns;
    if (ns > max_) max_ = ns;
  }
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  Duration min() const { return to_duration(count_ == 0 ? 0 : min_); }
  Duration max() const { return to_duration(max_); }
  Duration mean() const { return to_duration(count_ == 0 ? 0 : sum_ / count_); }
  // The smallest recorded value, rounded up to its bucket's end, that at least
  // `per_100k` of 100,000 do not exceed: 50'000 is the median. 0 when empty.
  Duration quantile(std::uint64_t per_100k) const;

 private:
  static constexpr int kSubBits = 7;  // 128 buckets per power of two
  static constexpr std::size_t kSub = std::size_t{1} << kSubBits;
  static constexpr std::size_t kBuckets = (64 - kSubBits + 1) * kSub;

  // Below 128: one bucket per value. Above: the leading 8 bits.
  static std::size_t bucket_of(std::uint64_t value) {
    if (value < kSub) return value;
    const int shift = static_cast<int>(std::bit_width(value)) - 1 - kSubBits;
    return (static_cast<std::size_t>(shift) << kSubBits) + (value >> shift);
  }
  static std::uint64_t last_of(std::size_t bucket) {
    if (bucket < 2 * kSub) return bucket;
    const std::size_t shift = (bucket >> kSubBits) - 1;
    const std::uint64_t first = (kSub + (bucket & (kSub - 1))) << shift;
    return first + ((std::uint64_t{1} << shift) - 1);
  }
  static Duration to_duration(std::uint64_t ns) { return Duration(static_cast<std::int64_t>(ns)); }

  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_ = 0;
};

}  // namespace spindrift::tools::bench
