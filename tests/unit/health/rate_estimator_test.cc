#include "health/rate_estimator.h"

#include <catch2/catch.hpp>

namespace spindrift::health {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint64_t kSlice = 10'000;
constexpr Rate kInitial{100'000'000};

// A lane that places a slice at a time at a set rate, with two outstanding.
class Stream {
 public:
  explicit Stream(RateEstimator& estimator) : estimator_(estimator) {}

  void run(Rate rate, Duration span) {
    const Instant end = now + span;
    if (!busy_) {
      estimator_.on_posted(kSlice, true, now);
      estimator_.on_posted(kSlice, false, now);
      busy_ = true;
    }
    while (now + rate.time_for(kSlice) <= end) {
      now += rate.time_for(kSlice);
      estimator_.on_placed(kSlice, false, now);
      estimator_.on_posted(kSlice, false, now);
    }
  }
  // Both outstanding slices land, and nothing is posted for a while.
  void pause(Rate rate, Duration span) {
    now += rate.time_for(kSlice);
    estimator_.on_placed(kSlice, false, now);
    now += rate.time_for(kSlice);
    estimator_.on_placed(kSlice, true, now);
    now += span;
    busy_ = false;
  }
  Instant now{std::chrono::seconds(1)};

 private:
  RateEstimator& estimator_;
  bool busy_ = false;
};

bool near(Rate rate, std::uint64_t expected, std::uint64_t percent = 3) {
  return rate.bytes_per_s >= expected - expected * percent / 100 &&
         rate.bytes_per_s <= expected + expected * percent / 100;
}

TEST_CASE("Before anything was measured the estimate is the initial guess") {
  const RateEstimator estimator(kInitial);
  CHECK(estimator.rate() == kInitial);
  CHECK_FALSE(estimator.measured());
}

TEST_CASE("A constant rate is found, above and below the guess") {
  for (const std::uint64_t rate : {2'000'000ull, 100'000'000ull, 5'000'000'000ull}) {
    RateEstimator estimator(kInitial);
    Stream stream(estimator);
    stream.run(Rate{rate}, milliseconds(60));
    INFO(rate);
    CHECK(estimator.measured());
    CHECK(near(estimator.rate(), rate));
    CHECK(stream.now - estimator.last_sample() <= milliseconds(21));
  }
}

TEST_CASE("A fall is seen within 30 ms, a rise within a few hundred") {
  RateEstimator estimator(kInitial);
  Stream stream(estimator);
  stream.run(Rate{100'000'000}, milliseconds(500));
  stream.run(Rate{10'000'000}, milliseconds(30));
  CHECK(near(estimator.rate(), 10'000'000, 15));
  stream.run(Rate{100'000'000}, milliseconds(600));
  CHECK(near(estimator.rate(), 100'000'000, 10));
}

TEST_CASE("A sample spans at least four slices") {
  RateEstimator estimator(kInitial);
  Stream stream(estimator);
  stream.run(Rate{500'000}, milliseconds(81));  // 20 ms a slice; the first opens the interval
  CHECK_FALSE(estimator.measured());
  stream.run(Rate{500'000}, milliseconds(20));
  CHECK(estimator.measured());
  CHECK(near(estimator.rate(), 500'000));
}

TEST_CASE("What the caller did not offer does not lower the estimate") {
  RateEstimator estimator(Rate{50'000'000});
  Stream stream(estimator);
  stream.run(Rate{50'000'000}, milliseconds(300));
  // A slice every 5 ms: 2 MB/s offered.
  for (int i = 0; i < 100; ++i) {
    stream.now += milliseconds(5);
    estimator.on_posted(kSlice, true, stream.now);
    stream.now += microseconds(200);
    estimator.on_placed(kSlice, true, stream.now);
  }
  CHECK(near(estimator.rate(), 50'000'000));
  CHECK(stream.now == estimator.last_sample());
}

TEST_CASE("It says when the estimate has changed") {
  RateEstimator estimator(Rate{1'000'000});
  Instant now{std::chrono::seconds(1)};
  estimator.on_posted(kSlice, true, now);
  now += milliseconds(1);
  CHECK_FALSE(estimator.on_placed(1000, false, now));  // opens the interval
  now += milliseconds(9);
  CHECK_FALSE(estimator.on_placed(4 * kSlice, false, now));
  now += milliseconds(1);
  CHECK(estimator.on_placed(kSlice, false, now));
  CHECK(estimator.rate() == Rate{5'000'000});
  now += milliseconds(10);
  CHECK_FALSE(estimator.on_placed(5 * kSlice, false, now));  // a sample of the same rate
}

TEST_CASE("A short burst that was faster than the estimate raises it") {
  RateEstimator estimator(Rate{1'000'000});
  Stream stream(estimator);
  estimator.on_posted(kSlice, true, stream.now);
  stream.now += milliseconds(1);
  estimator.on_placed(kSlice, true, stream.now);
  CHECK(estimator.rate() == Rate{10'000'000});
  CHECK_FALSE(estimator.measured());
}

TEST_CASE("A token bucket's burst is forgotten within 30 ms of steady flow") {
  RateEstimator estimator(Rate{10'000'000});
  Stream stream(estimator);
  stream.run(Rate{10'000'000}, milliseconds(300));
  stream.pause(Rate{10'000'000}, milliseconds(500));  // the bucket fills
  stream.run(Rate{1'000'000'000}, milliseconds(2));   // and empties at line rate
  stream.run(Rate{10'000'000}, milliseconds(30));
  CHECK(near(estimator.rate(), 10'000'000, 10));
}

TEST_CASE("Empty times are no part of a sample") {
  RateEstimator estimator(kInitial);
  Stream stream(estimator);
  for (int i = 0; i < 20; ++i) {
    stream.run(Rate{20'000'000}, milliseconds(30));
    stream.pause(Rate{20'000'000}, milliseconds(50));
  }
  CHECK(near(estimator.rate(), 20'000'000, 5));
}

TEST_CASE("What was outstanding when the lane broke says nothing about its rate") {
  RateEstimator estimator(Rate{20'000'000});
  Stream stream(estimator);
  stream.run(Rate{20'000'000}, milliseconds(100));
  estimator.on_interrupted();
  stream.now += std::chrono::seconds(2);
  // Placed before the break, told after it.
  estimator.on_placed(2 * kSlice, true, stream.now);
  CHECK(near(estimator.rate(), 20'000'000));
}

}  // namespace
}  // namespace spindrift::health
