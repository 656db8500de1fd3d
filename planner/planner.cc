#include "planner/planner.h"

#include <algorithm>

#include "planner/admission.h"
#include "planner/plan_parts.h"

namespace spindrift::planner {
namespace {

// By ordinal; rails outside the plan weigh nothing.
std::vector<std::uint32_t> weights_of(const Admission& admission,
                                      std::span<const RailCandidate> rails) {
  std::vector<std::uint32_t> weights(rails.size(), 0);
  for (std::size_t i = 0; i < rails.size(); ++i) {
    if (admission.judgements[i].tier < 0) continue;
    weights[i] = 1;
    for (const policies::Weight& weight : admission.rule->directives.weights) {
      if (!policies::selects(weight.rails, rails[i].facts)) continue;
      weights[i] = weight.weight;
      break;
    }
  }
  // A tier in which everything weighs nothing could never move a byte.
  for (const std::vector<RailOrdinal>& tier : admission.tiers) {
    const bool weightless =
        std::all_of(tier.begin(), tier.end(), [&](RailOrdinal rail) { return weights[rail] == 0; });
    if (!weightless) continue;
    for (const RailOrdinal rail : tier) weights[rail] = 1;
  }
  return weights;
}

}  // namespace

Plan assemble(const Admission& admission, const PlanRequest& request,
              std::span<const RailCandidate> rails) {
  const policies::Directives& directives = admission.rule->directives;
  Plan plan;
  plan.rule = admission.rule->name;
  plan.tiers = admission.tiers;
  plan.spray = directives.spray;
  if (plan.spray == policies::Spray::kWeighted) plan.weights = weights_of(admission, rails);
  // config/ refuses an empty or inverted slice range; a caller that fills the
  // struct by hand gets the nearest sound one instead of a division by zero.
  plan.slice_min = std::max<std::uint64_t>(directives.slice_min, 1);
  plan.slice_max = std::max(directives.slice_max, plan.slice_min);
  plan.attempts_max = std::max<std::uint32_t>(directives.attempts_max, 1);
  // The static strategies divide blindly, and stay what they are.
  plan.hedge = directives.hedge && plan.spray == policies::Spray::kLeastCompletion;
  const Integrity integrity =
      request.integrity == Integrity::kPolicy ? directives.integrity : request.integrity;
  plan.checksum = integrity == Integrity::kCrc32c;
  return plan;
}

Status check_rails(const PlanRequest& request, std::span<const RailCandidate> rails) {
  if (rails.size() <= kRailsPerPeerMax) return {};
  return Status(Code::kInvalidArgument,
                {.what = std::to_string(rails.size()) + " rails to one peer",
                 .why = "at most " + std::to_string(kRailsPerPeerMax) + " are supported",
                 .hint = "exclude interfaces in the node file",
                 .peer = request.peer});
}

Result<Plan> make_plan(const policies::PolicySet& policy, const PlanRequest& request,
                       std::span<const RailCandidate> rails) {
  if (Status status = check_rails(request, rails); !status) return status;
  const Admission admission = admit(policy, request, rails);
  if (Status status = admission_status(admission, request, rails); !status) return status;
  return assemble(admission, request, rails);
}

}  // namespace spindrift::planner
