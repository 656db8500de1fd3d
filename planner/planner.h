// The planner: intent + rails + policy -> plan. Pure: the same inputs give the
// same answer. Errors: kPolicyUnsatisfied names the rule (file:line:column),
// what it requires and what there is; kPeerUnreachable when no rail is usable;
// kUnsupported when no rail can carry this memory or operation.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "planner/plan.h"
#include "spindrift/status.h"

namespace spindrift::planner {

// Usable or not, unusable rails stay in the plan's tiers when the policy admits
// them: a rail that comes back must be found again without planning anew.
Result<Plan> make_plan(const policies::PolicySet& policy, const PlanRequest& request,
                       std::span<const RailCandidate> rails);

struct RuleVerdict {
  std::string rule;
  bool matched = false;
  std::string why;  // "size 4 KiB is below 1 MiB"; "not looked at: rule X matched first"
};

struct RailVerdict {
  std::string rail;
  int tier = -1;     // 0 is first; -1: excluded
  std::string why;   // "forbidden by rule bulk (policy.yaml:12:7)", "link down"
  Rate predicted_rate;
  std::uint64_t predicted_bytes = 0;  // its share when the first tier carries all
};

struct Explanation {
  Status status;  // what make_plan would say
  Plan plan;      // meaningful when status is ok
  std::vector<RuleVerdict> rules;
  std::vector<RailVerdict> rails;  // by ordinal
  Rate predicted_rate;             // of the first usable tier together
  Duration predicted_time{0};
};

Explanation explain(const policies::PolicySet& policy, const PlanRequest& request,
                    std::span<const RailCandidate> rails);

}  // namespace spindrift::planner
