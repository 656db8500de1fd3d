#include "health/rate_estimator.h"

#include <algorithm>

namespace spindrift::health {

void RateEstimator::begin_after_empty(Instant now) {
  running_ = false;  // an interval must not contain an empty time
  posted_on_empty_ = now;
  bytes_ = 0;
}

bool RateEstimator::consider(bool now_empty, Instant now) {
  const Rate before = rate_;
  if (!running_) {
    // The first report after an empty time opens an interval. If it is also
    // the last one, the whole burst counts from its posting: an underestimate
    // by a round trip, which can only raise.
    if (now_empty) {
      raise_to(Rate::of(bytes_, now - posted_on_empty_), now);
    } else {
      running_ = true;
      begin_ = now;
      bytes_ = 0;
    }
    return rate_ != before;
  }
  const Duration span = now - begin_;
  if (span >= kSampleMin && bytes_ >= kSlicesPerSample * slice_bytes_) {
    take_sample(bytes_, span, now);
    begin_ = now;
    bytes_ = 0;
  }
  if (now_empty) {
    if (bytes_ > 0) raise_to(Rate::of(bytes_, std::max(now - begin_, kSampleMin / 10)), now);
    running_ = false;
    bytes_ = 0;
  }
  return rate_ != before;
}

void RateEstimator::on_interrupted() {
  running_ = false;
  bytes_ = 0;
  recent_bytes_ = 0;
  recent_span_ = Duration(0);
}

void RateEstimator::take_sample(std::uint64_t bytes, Duration span, Instant now) {
  const Rate sample = Rate::of(bytes, span);
  if (recent_span_ >= kRecentSpan) {
    recent_bytes_ = 0;
    recent_span_ = Duration(0);
  }
  recent_bytes_ += bytes;
  recent_span_ += span;
  if (average_.bytes_per_s == 0) {
    average_ = sample;
  } else {
    // Weight span / kAverageSpan, in 1/1024 so that it stays an integer.
    const auto weight =
        static_cast<std::int64_t>(std::min<std::int64_t>(1024, span * 1024 / kAverageSpan));
    const auto old_rate = static_cast<std::int64_t>(average_.bytes_per_s);
    const auto new_rate = static_cast<std::int64_t>(sample.bytes_per_s);
    average_.bytes_per_s =
        static_cast<std::uint64_t>(old_rate + (new_rate - old_rate) / 1024 * weight);
  }
  rate_ = std::min(average_, Rate::of(recent_bytes_, recent_span_));
  rate_.bytes_per_s = std::max<std::uint64_t>(rate_.bytes_per_s, 1);
  measured_ = true;
  last_sample_ = now;
}

void RateEstimator::raise_to(Rate seen, Instant now) {
  // It also counts as a look at the lane: it was used and answered.
  last_sample_ = now;
  if (seen <= rate_) return;
  rate_ = seen;
  average_ = seen;
}

}  // namespace spindrift::health
