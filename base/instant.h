// Points in time and spans of it. An Instant has no clock: it is always handed
// in (`now` is an argument), so that the same code runs in real and in virtual
// time. base/clock.h is the one place that reads the kernel's clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace spindrift {

using Duration = std::chrono::nanoseconds;

// Deliberately without a now().
struct EngineTime {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
};
using Instant = std::chrono::time_point<EngineTime, Duration>;

inline constexpr Instant kNever = Instant::max();

constexpr std::int64_t to_ns(Duration d) {
  return d.count();
}
constexpr std::int64_t to_ns(Instant t) {
  return t.time_since_epoch().count();
}

// t + d without overflow: a far future stays "never".
constexpr Instant after(Instant t, Duration d) {
  return d >= kNever - t ? kNever : t + d;
}

}  // namespace spindrift
