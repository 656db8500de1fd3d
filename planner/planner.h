// The planner: intent + rails + policy -> plan. Pure: the same inputs give the
// same answer. Errors: kPolicyUnsatisfied names the rule (file:line:column),
// what it requires and what there is; kPeerUnreachable when there is no rail at
// all; kUnsupported when no rail can carry this memory or operation;
// kInvalidArgument for more than kRailsPerPeerMax rails.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "planner/plan.h"
#include "spindrift/status.h"

namespace spindrift::planner {

// Usable or not, unusable rails stay in the plan's tiers when the policy admits
// them: a rail that comes back must be found again without planning anew. So a
// plan does not depend on the candidates' usability, measured rates and round
// trips. An intent that no rule matches is directed by the default rule
// (policies/default_rule.h).
Result<Plan> make_plan(const policies::PolicySet& policy, const PlanRequest& request,
                       std::span<const RailCandidate> rails);

struct RuleVerdict {
  std::string rule;
  bool matched = false;
  std::string why;  // "size 4 KiB is below 1 MiB"; "not looked at: rule X matched first"
};

struct RailVerdict {
  std::string rail;
  int tier = -1;    // 0 is first; -1: excluded
  std::string why;  // "forbidden by rule bulk (policy.yaml:12:7)", "link down"
  Rate predicted_rate;
  std::uint64_t predicted_bytes = 0;  // its share when the first usable tier carries all
  bool usable = true;                 // now; an unusable rail of a tier waits there
  bool measured = false;              // the rate was measured; else it is the line rate
  Duration predicted_time{0};         // for its share; 0: unknown, or it carries nothing
};

struct Explanation {
  // What make_plan would say; or kPeerUnreachable, with the plan, when every rail
  // of the plan is unusable now.
  Status status;
  Plan plan;  // has tiers when make_plan would give it
  std::vector<RuleVerdict> rules;
  std::vector<RailVerdict> rails;  // by ordinal
  // Of the first usable tier together, under the rule's spray: round robin and
  // fixed weights go at the pace of the rail that is slowest for its share.
  // 0: unknown, because a rail's rate is.
  Rate predicted_rate;
  Duration predicted_time{0};
};

Explanation explain(const policies::PolicySet& policy, const PlanRequest& request,
                    std::span<const RailCandidate> rails);

}  // namespace spindrift::planner
