// What the health of a lane comes to for those who choose between lanes: one
// small value, kept up to date by the estimators.
#pragma once

#include "base/instant.h"
#include "base/units.h"
#include "health/rail_health.h"

namespace spindrift::health {

struct LaneView {
  Rate rate;               // bytes placed per second, or the initial guess
  bool measured = false;   // false: `rate` is a guess
  Duration round_trip{0};  // the smallest seen; 0: not yet
  HealthState state = HealthState::kHealthy;
  Cause cause = Cause::kNone;  // of the latest transition
};

}  // namespace spindrift::health
