// Whom to serve first: the intent with the earliest virtual finish, submission
// time plus its size at 1 GB/s. Short intents pass elephants; an elephant waits
// at most as long as its own size explains, so nobody starves. (Virtual-time
// ordering as in weighted fair queueing, Demers, Keshav and Shenker, 1989.)
#pragma once

#include <cstdint>

#include "base/instant.h"

namespace spindrift::policies {

constexpr Instant virtual_finish(Instant submitted, std::uint64_t bytes) {
  constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 60;  // a billion seconds
  return after(submitted,
               Duration(static_cast<std::int64_t>(bytes < kBytesMax ? bytes : kBytesMax)));
}

}  // namespace spindrift::policies
