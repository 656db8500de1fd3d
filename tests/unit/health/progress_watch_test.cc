#include "health/progress_watch.h"

#include <catch2/catch.hpp>

namespace spindrift::health {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const HealthOptions kOptions;

Instant at(Duration since_start) {
  return Instant(seconds(1000)) + since_start;
}

// Reports at these gaps, with something outstanding all the time.
Instant feed(ProgressWatch& watch, Instant now, int count, Duration gap) {
  for (int i = 0; i < count; ++i) {
    now += gap;
    watch.on_progress(false, now);
  }
  return now;
}

TEST_CASE("A lane that was not measured yet has the most patience") {
  ProgressWatch watch;
  watch.begin(at(seconds(0)));
  CHECK(watch.limit(kOptions) == kOptions.silence_max);
  feed(watch, at(seconds(0)), 7, milliseconds(1));
  CHECK(watch.limit(kOptions) == kOptions.silence_max);
  feed(watch, at(milliseconds(7)), 1, milliseconds(1));
  CHECK(watch.limit(kOptions) == kOptions.silence_min);
}

TEST_CASE("The limit is twice the largest gap of late, within bounds") {
  const auto [gap, limit] =
      GENERATE(table<Duration, Duration>({{milliseconds(2), kOptions.silence_min},
                                          {milliseconds(20), milliseconds(40)},
                                          {milliseconds(100), milliseconds(200)},
                                          {seconds(3), kOptions.silence_max}}));
  ProgressWatch watch;
  watch.begin(at(seconds(0)));
  const Instant now = feed(watch, at(seconds(0)), 20, milliseconds(1));
  feed(watch, now, 1, gap);
  CHECK(watch.limit(kOptions) == limit);
}

TEST_CASE("A large gap is forgotten after 5 to 10 seconds") {
  ProgressWatch watch;
  watch.begin(at(seconds(0)));
  Instant now = feed(watch, at(seconds(0)), 20, milliseconds(100));
  now = feed(watch, now, 2500, milliseconds(1));
  CHECK(watch.limit(kOptions) == milliseconds(200));
  now = feed(watch, now, 8000, milliseconds(1));
  CHECK(watch.limit(kOptions) == kOptions.silence_min);
}

TEST_CASE("An empty lane is not silent, and its idle time is no gap") {
  ProgressWatch watch;
  watch.begin(at(seconds(0)));
  Instant now = feed(watch, at(seconds(0)), 20, milliseconds(1));
  watch.on_progress(true, now);
  CHECK_FALSE(watch.waiting());
  CHECK(watch.silence(now + seconds(5)) == Duration(0));
  now += seconds(5);
  watch.begin(now);
  watch.on_progress(false, now + milliseconds(1));
  CHECK(watch.limit(kOptions) == kOptions.silence_min);
}

TEST_CASE("Time in which this end did not look is excused") {
  ProgressWatch watch;
  watch.begin(at(seconds(0)));
  watch.excuse(milliseconds(300));
  CHECK(watch.silence(at(milliseconds(310))) == milliseconds(10));
}

TEST_CASE("Long stalls weigh more than many short gaps") {
  ProgressWatch watch;
  watch.begin(at(seconds(0)));
  Instant now = at(seconds(0));
  for (int i = 0; i < 10; ++i) {  // half the time in stalls of 20 ms
    now = feed(watch, now, 20, milliseconds(1));
    now = feed(watch, now, 1, milliseconds(20));
  }
  CHECK(watch.stall() > milliseconds(9));
  CHECK(watch.stall() < milliseconds(12));
}

}  // namespace
}  // namespace spindrift::health
