// How fast one lane places bytes at the far end, from the receiver's placement
// acknowledgements alone: what a socket accepted or a kernel acknowledged says
// nothing about memory. Pure; owned by one thread.
//
// A sample spans from one progress report to a later one, at least 10 ms and
// four slices, in which the lane was never empty. The estimate is the smaller
// of an average over about 200 ms and the last 20 ms: a rail that becomes slow
// is seen at once, one that becomes fast again within a few samples. There is no
// maximum filter: a token bucket's burst would latch it.
//
// A sample in which the lane ran empty tells what the caller offered, not what
// the lane can do, so it may only raise the estimate.
#pragma once

#include <cstdint>

#include "base/instant.h"
#include "base/units.h"

namespace spindrift::health {

class RateEstimator {
 public:
  explicit RateEstimator(Rate initial) : rate_(initial) {}

  // Bytes were handed to the lane; `was_empty`: nothing was outstanding before.
  void on_posted(std::uint64_t slice_bytes, bool was_empty, Instant now) {
    slice_bytes_ = slice_bytes;
    if (was_empty) begin_after_empty(now);
  }
  // `bytes` more were placed; `now_empty`: nothing is outstanding any more.
  // True when the estimate changed.
  bool on_placed(std::uint64_t bytes, bool now_empty, Instant now) {
    bytes_ += bytes;
    // In the middle of an interval, nearly always.
    if (running_ && !now_empty && now - begin_ < kSampleMin) return false;
    return consider(now_empty, now);
  }
  // The lane broke or was fenced: what it had outstanding tells nothing.
  void on_interrupted();

  Rate rate() const { return rate_; }
  bool measured() const { return measured_; }
  Instant last_sample() const { return last_sample_; }

 private:
  static constexpr Duration kSampleMin = std::chrono::milliseconds(10);
  static constexpr Duration kRecentSpan = std::chrono::milliseconds(20);
  static constexpr Duration kAverageSpan = std::chrono::milliseconds(200);
  static constexpr std::uint64_t kSlicesPerSample = 4;

  void begin_after_empty(Instant now);
  bool consider(bool now_empty, Instant now);
  void take_sample(std::uint64_t bytes, Duration span, Instant now);
  void raise_to(Rate seen, Instant now);

  Rate rate_;        // the estimate
  Rate average_{0};  // over kAverageSpan
  bool measured_ = false;
  Instant last_sample_{};

  bool running_ = false;  // an interval has begun
  Instant begin_{};
  std::uint64_t bytes_ = 0;
  std::uint64_t slice_bytes_ = 0;  // size of the latest slice
  Instant posted_on_empty_{};

  std::uint64_t recent_bytes_ = 0;  // the samples that make up the last 20 ms
  Duration recent_span_{0};
};

}  // namespace spindrift::health
