// The rule that directs an intent which no rule of the policy matches: the plain
// defaults of `Directives`. All rails of the best tier together, each slice to
// the rail that would finish it first. Not the built-in policy of config/, which
// stands in where no policy is given at all.
#pragma once

#include "policies/rule.h"

namespace spindrift::policies {

// Named "unmatched". Built once; lives as long as the program.
const Rule& default_rule();

}  // namespace spindrift::policies
