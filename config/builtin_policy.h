// The policy that is used where none is given. Good for everybody: no rail is
// preferred or forbidden, every slice goes to the rail that would finish it
// first, and small intents are not cut into pieces.
#pragma once

#include <string_view>

#include "policies/rule.h"

namespace spindrift::config {

// As a policy file, to be printed or to start one's own from.
std::string_view builtin_policy_text();
// The same, read. Its name is "built-in".
const policies::PolicySet& builtin_policy();

}  // namespace spindrift::config
