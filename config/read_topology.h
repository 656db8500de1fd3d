// The keys of a topology file (docs/CONFIG.md), onto planner::Topology. Internal
// to config/.
#pragma once

#include "config/map_reader.h"
#include "planner/topology.h"

namespace spindrift::config {

void read_topology(MapReader& map, planner::Topology& out);

}  // namespace spindrift::config
