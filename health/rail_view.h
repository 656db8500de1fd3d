// What the health of a rail comes to for those who choose: one small value per
// lane, refreshed by the estimators.
#pragma once

#include "base/instant.h"
#include "base/units.h"

namespace spindrift::health {

struct LaneView {
  Rate rate;              // bytes placed per second, or the initial guess
  bool measured = false;  // false: `rate` is a guess
  Duration round_trip{0}; // the smallest seen
};

}  // namespace spindrift::health
