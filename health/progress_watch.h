// Whether one lane moves: how long it has placed nothing although bytes are
// outstanding, and for how long that is normal for it. Pure; owned by one thread.
//
// A *gap* is the time between two reports of placement, or from the posting on an
// empty lane to its first report. The limit is twice the largest gap of the last 5
// to 10 seconds, within bounds: a rail whose acknowledgements come in bursts earns
// itself more patience. A fixed limit was rejected: 25 ms is for ever on one link
// and nothing on another; so was a phi-accrual detector, which needs a
// distribution that stalls of TCP do not have.
//
//   watch.begin(now);                  // posted on an empty lane
//   watch.on_progress(empty, now);     // something was placed
//   if (watch.silence(now) > watch.limit()) ...
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/instant.h"
#include "health/health_options.h"

namespace spindrift::health {

class ProgressWatch {
 public:
  void begin(Instant now) {
    waiting_ = true;
    last_ = now;
  }
  // True when enough gaps were seen for the first time: the limit is a new one.
  bool on_progress(bool now_empty, Instant now) {
    const bool measured = gaps_ == kGapsMeasured;
    if (waiting_) note_gap(now - last_, now);
    waiting_ = !now_empty;
    last_ = now;
    return !measured && gaps_ == kGapsMeasured;
  }
  // The lane broke or was fenced; what it owed tells nothing more.
  void stop() { waiting_ = false; }
  // This end was not there to look for so long.
  void excuse(Duration blackout) { last_ += blackout; }

  bool waiting() const { return waiting_; }
  // Of the latest report or beginning.
  Instant last() const { return last_; }
  Duration silence(Instant now) const { return waiting_ ? now - last_ : Duration(0); }

  Duration limit(const HealthOptions& options) const {
    if (gaps_ < kGapsMeasured) return options.silence_max;
    return std::clamp(2 * std::max(recent_max_, older_max_), options.silence_min,
                      options.silence_max);
  }
  // The mean gap as somebody sees it who looks at a random moment, so that few
  // long stalls weigh more than many short ones: what a slice that is posted now
  // may have to wait beyond its turn.
  Duration stall() const {
    return sum_us_ == 0 ? Duration(0) : std::chrono::microseconds(squares_us_ / sum_us_);
  }

 private:
  static constexpr std::uint32_t kGapsMeasured = 8;
  static constexpr Duration kBucket = std::chrono::seconds(5);
  static constexpr std::int64_t kFadeAfterUs = 2'000'000;

  void note_gap(Duration gap, Instant now) {
    if (now - bucket_begin_ >= kBucket) {
      older_max_ = now - bucket_begin_ >= 2 * kBucket ? Duration(0) : recent_max_;
      recent_max_ = Duration(0);
      bucket_begin_ = now;
    }
    recent_max_ = std::max(recent_max_, gap);
    if (gaps_ < kGapsMeasured) ++gaps_;
    const std::int64_t us = std::min<std::int64_t>(gap.count() / 1000, kFadeAfterUs);
    sum_us_ += us;
    squares_us_ += us * us;
    if (sum_us_ > kFadeAfterUs) {
      sum_us_ /= 2;
      squares_us_ /= 2;
    }
  }

  bool waiting_ = false;
  Instant last_{};
  std::uint32_t gaps_ = 0;
  Instant bucket_begin_{};
  Duration recent_max_{0}, older_max_{0};  // of the running bucket and the one before
  std::int64_t sum_us_ = 0, squares_us_ = 0;
};

}  // namespace spindrift::health
