// What the engine knows of one rail to one peer, for reports and metrics.
#pragma once

#include <array>
#include <cstdint>

#include "health/rail_health.h"
#include "spindrift/engine.h"

namespace spindrift::api {

// Of one direction. Counters are cumulative.
struct LaneReport {
  health::HealthState state = health::HealthState::kHealthy;
  Cause failure = Cause::kNone;  // of late; kNone: never
  std::uint64_t transitions = 0;
  std::uint64_t quarantines = 0;
  std::uint64_t fences = 0;
  std::uint64_t reroutes = 0;
  std::uint64_t hedges = 0;
  std::uint64_t probes_good = 0;
  std::uint64_t probes_bad = 0;
};

struct RailDetails {
  RailStatus status;
  std::array<LaneReport, 2> lanes;  // writes, reads
};

}  // namespace spindrift::api
