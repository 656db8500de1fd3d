// How long a worker is away between two looks at its rails: J in the window
// formula, the 99th percentile of the gaps between duty cycles while bytes were
// outstanding, at most 8 ms. A window that does not cover it lets rails run
// empty whenever the scheduler takes the CPU away. Pure; owned by one thread.
//
// A histogram of power-of-two buckets, halved every 4096 gaps so that the past
// fades.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/instant.h"

namespace spindrift::health {

class PollGap {
 public:
  static constexpr Duration kMax = std::chrono::milliseconds(8);

  void on_gap(Duration gap) {
    const auto us = static_cast<std::uint64_t>(gap.count() < 0 ? 0 : gap.count() / 1000);
    const auto bucket = static_cast<std::size_t>(std::bit_width(us));
    ++counts_[bucket < counts_.size() ? bucket : counts_.size() - 1];
    if (++total_ >= kFadeAfter) fade();
    if ((total_ & 63u) == 0) percentile_ = compute();
  }

  // The upper end of the bucket that holds the 99th percentile.
  Duration p99() const { return percentile_; }

 private:
  static constexpr std::uint32_t kFadeAfter = 4096;

  void fade() {
    total_ = 0;
    for (std::uint32_t& count : counts_) total_ += (count /= 2);
  }
  Duration compute() const {
    std::uint32_t above = 0;
    for (std::size_t i = counts_.size(); i-- > 0;) {
      above += counts_[i];
      if (above * 100 > total_) {
        const Duration upper = std::chrono::microseconds(std::int64_t{1} << i);
        return upper < kMax ? upper : kMax;
      }
    }
    return Duration(0);
  }

  std::array<std::uint32_t, 16> counts_{};  // [2^(i-1), 2^i) us; the last: 16 ms and more
  std::uint32_t total_ = 0;
  Duration percentile_ = std::chrono::milliseconds(1);  // until measured
};

}  // namespace spindrift::health
