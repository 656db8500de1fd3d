// How many bytes a lane may have in flight, and how large its slices are. Pure.
//
// Window: W = 1.25 * r * (rtt_min + 2 * T_s + J), at least two slices, at most a
// bound: enough to keep the link busy while this worker is away and a slice is
// being served, and no more, so that a reroute repeats little.
// Slice: min(r * T_s, R * r / (2 * sum of r)) within [s_min, s_max]: about one
// service time, and less towards the end of an intent (guided self-scheduling,
// Polychronopoulos and Kuck, 1987), so that all rails finish together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/instant.h"
#include "base/units.h"

namespace spindrift::policies {

struct WindowInput {
  Rate rate;
  Duration round_trip{0};
  Duration service_time{0};  // T_s
  Duration jitter{0};        // J
  std::uint64_t slice_bytes = 0;
  std::uint64_t window_max = 0;
};

constexpr std::uint64_t window_bytes(const WindowInput& in) {
  const Duration cover = in.round_trip + 2 * in.service_time + in.jitter;
  const std::uint64_t fill = mul_div(in.rate.bytes_in(cover), 5, 4);
  const std::uint64_t window =
      std::min(std::max(fill, 2 * in.slice_bytes), std::max(in.window_max, in.slice_bytes));
  return std::max<std::uint64_t>(window, 1);  // 0 would close the lane for ever
}

struct SliceInput {
  Rate rate;                  // of the lane
  Rate sum;                   // of all usable lanes of the tier, this one included
  std::uint64_t unbound = 0;  // R: bytes of the intent not yet bound
  Duration service_time{0};
  std::uint64_t slice_min = 0;
  std::uint64_t slice_max = 0;
};

constexpr std::uint64_t slice_bytes(const SliceInput& in) {
  std::uint64_t size = in.rate.bytes_in(in.service_time);
  // A lane that is alone has nobody to finish together with; and far from the
  // end, which is nearly always, its share is larger than a service time.
  if (in.sum > in.rate && in.unbound < in.sum.bytes_in(2 * in.service_time)) {
    size = std::min(size, mul_div(in.unbound, in.rate.bytes_per_s, 2 * in.sum.bytes_per_s));
  }
  size = std::min(std::max(size, in.slice_min), in.slice_max);
  return std::min(size, in.unbound);
}

}  // namespace spindrift::policies
