// The steps of make_plan(), for explain() to take the same ones. Pure.
#pragma once

#include <span>

#include "planner/admission.h"
#include "planner/plan.h"
#include "policies/matching.h"
#include "spindrift/status.h"

namespace spindrift::planner {

// kInvalidArgument for more than kRailsPerPeerMax rails.
Status check_rails(const PlanRequest& request, std::span<const RailCandidate> rails);

// The request in the eyes of a rule; points into it.
policies::MatchView match_view(const PlanRequest& request);

// The plan of an admission whose status is ok.
Plan assemble(const Admission& admission, const PlanRequest& request,
              std::span<const RailCandidate> rails);

}  // namespace spindrift::planner
