// How long to wait before trying again: doubles from `min` to `max`, less up to
// a quarter of jitter so that many peers do not come back in step. Pure; the
// random bits are an argument.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/instant.h"

namespace spindrift {

constexpr Duration backoff(Duration min, Duration max, std::uint32_t failures,
                           std::uint64_t random) {
  const std::uint32_t doublings = std::min<std::uint32_t>(failures > 0 ? failures - 1 : 0, 30);
  const std::int64_t longest = std::max<std::int64_t>(max.count(), 1);
  const std::int64_t base =
      min.count() > (longest >> doublings) ? longest : min.count() << doublings;
  const auto quarter = static_cast<std::uint64_t>(base / 4 + 1);
  return Duration(base - static_cast<std::int64_t>(random % quarter));
}

}  // namespace spindrift
