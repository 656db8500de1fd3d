// The only reader of the kernel's monotonic clock. Shells call it once per duty
// cycle and pass the value down; cores never see this header.
#pragma once

#include <chrono>

#include "base/instant.h"

namespace spindrift {

inline Instant read_monotonic_clock() {
  return Instant(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

}  // namespace spindrift
