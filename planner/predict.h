// What a tier of rails would do with an intent, by the formulas that the
// executor follows: how many bytes each rail gets, how long it takes. Pure,
// integers only. A forecast from rates, not a promise: nothing else is known to
// compete.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/instant.h"
#include "base/units.h"
#include "policies/rule.h"

namespace spindrift::planner {

struct RailSpeed {
  Rate rate;  // 0: unknown
  Duration round_trip{0};
  std::uint32_t weight = 1;  // kWeighted only
};

struct Forecast {
  std::vector<std::uint64_t> shares;  // bytes per rail; they add up to what was asked
  std::vector<Duration> times;        // per rail, for its share; 0: unknown or nothing to do
  Rate rate;                          // together, in the long run; 0: unknown
  Duration time{0};                   // until the last byte; 0: unknown
};

// `slice` is what round robin deals out. With an unknown rate among the rails
// there is no time and no rate; the shares then take the unknown ones for as
// fast as the average of the known.
Forecast forecast(policies::Spray spray, std::span<const RailSpeed> rails, std::uint64_t bytes,
                  std::uint64_t slice);

}  // namespace spindrift::planner
