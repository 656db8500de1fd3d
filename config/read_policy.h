// The keys of a policy file (docs/CONFIG.md), onto policies::PolicySet. Internal
// to config/. What must hold between rules is in policy_checks.h.
#pragma once

#include "config/map_reader.h"
#include "policies/rule.h"

namespace spindrift::config {

void read_policy(MapReader& map, policies::PolicySet& out);

}  // namespace spindrift::config
