// What must hold between the rules of a policy. Pure.
#pragma once

#include "config/problem.h"
#include "policies/rule.h"

namespace spindrift::config {

// Errors: two rules of one name. Warnings: a rule that can never match, because
// an earlier one takes all its intents; requirements that are forbidden too.
void check_rules(const policies::PolicySet& policy, ProblemList& problems);

}  // namespace spindrift::config
