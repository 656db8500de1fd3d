// The keys of a node file (docs/CONFIG.md): how they map onto NodeConfig, and
// what must hold between them. Internal to config/.
#pragma once

#include "config/map_reader.h"
#include "config/node_config.h"

namespace spindrift::config {

// Reads the files that it names too: keys and the policy. Their problems go into
// ReadContext::elsewhere. A node that names no policy is left with an empty one.
void read_node(MapReader& map, NodeConfig& out);

}  // namespace spindrift::config
