#include <algorithm>
#include <map>

#include "planner/plan_parts.h"
#include "planner/planner.h"
#include "planner/predict.h"

namespace spindrift::planner {
namespace {

Rate predicted_rate(const RailCandidate& rail) {
  return rail.measured_rate.bytes_per_s > 0 ? rail.measured_rate : rail.facts.line_rate;
}

std::vector<RuleVerdict> rule_verdicts(const policies::PolicySet& policy,
                                       const PlanRequest& request, const Admission& admission) {
  std::vector<RuleVerdict> verdicts;
  for (const policies::RuleOutcome& outcome :
       policies::explain_match(policy, match_view(request))) {
    const std::string place = policies::describe(outcome.rule->place);
    verdicts.push_back({.rule = outcome.rule->name,
                        .matched = outcome.matched,
                        .why = outcome.matched ? "matches" : outcome.why});
    if (outcome.matched && !place.empty()) verdicts.back().why += " (" + place + ")";
  }
  if (!admission.rule_matched) {
    verdicts.push_back({.rule = admission.rule->name,
                        .matched = true,
                        .why = "the defaults, because no rule of " + policy.name + " matches"});
  }
  return verdicts;
}

// Functions of one PCI device share its slot: their rates need not add up.
std::string pci_device(const RailFacts& facts) {
  return facts.pci.substr(0, facts.pci.rfind('.'));
}

void note_shared_devices(std::span<const RailCandidate> rails, std::vector<RailVerdict>& verdicts) {
  std::map<std::string, std::size_t> first;  // rail in use by PCI device
  for (std::size_t i = 0; i < rails.size(); ++i) {
    if (verdicts[i].tier < 0 || rails[i].facts.pci.empty()) continue;
    const auto [other, fresh] = first.emplace(pci_device(rails[i].facts), i);
    if (fresh) continue;
    verdicts[i].why += ", on one PCI device with " + verdicts[other->second].rail;
  }
}

void predict(const PlanRequest& request, std::span<const RailCandidate> rails, Explanation& out) {
  std::vector<RailOrdinal> in_use;  // of the first tier that has a usable rail
  for (const std::vector<RailOrdinal>& tier : out.plan.tiers) {
    std::copy_if(tier.begin(), tier.end(), std::back_inserter(in_use),
                 [&](RailOrdinal rail) { return rails[rail].usable; });
    if (!in_use.empty()) break;
  }
  std::vector<RailSpeed> speeds;
  for (const RailOrdinal rail : in_use) {
    speeds.push_back({.rate = out.rails[rail].predicted_rate,
                      .round_trip = rails[rail].round_trip,
                      .weight = out.plan.weights.empty() ? 1 : out.plan.weights[rail]});
  }
  const Forecast what = forecast(out.plan.spray, speeds, request.bytes, out.plan.slice_min);
  for (std::size_t i = 0; i < in_use.size(); ++i) {
    out.rails[in_use[i]].predicted_bytes = what.shares[i];
    out.rails[in_use[i]].predicted_time = what.times[i];
  }
  out.predicted_rate = what.rate;
  out.predicted_time = what.time;
}

Status nothing_usable(const PlanRequest& request, std::span<const RailCandidate> rails,
                      const Plan& plan) {
  std::string why;
  for (const std::vector<RailOrdinal>& tier : plan.tiers) {
    for (const RailOrdinal rail : tier) {
      if (rails[rail].usable) return {};
      why += (why.empty() ? "" : "; ") + rails[rail].facts.name() + ": " + rails[rail].reason;
    }
  }
  return Status(Code::kPeerUnreachable,
                {.what = describe(request) + ": no rail of the plan is usable now",
                 .why = std::move(why),
                 .hint = "the plan stands; it is carried out when one of them comes back",
                 .peer = request.peer});
}

}  // namespace

Explanation explain(const policies::PolicySet& policy, const PlanRequest& request,
                    std::span<const RailCandidate> rails) {
  Explanation out;
  if (Status status = check_rails(request, rails); !status) {
    out.status = std::move(status);
    return out;
  }
  const Admission admission = admit(policy, request, rails);
  out.rules = rule_verdicts(policy, request, admission);
  for (std::size_t i = 0; i < rails.size(); ++i) {
    const RailCandidate& rail = rails[i];
    out.rails.push_back({.rail = rail.facts.name(),
                         .tier = admission.judgements[i].tier,
                         .why = describe(admission, request, rail, static_cast<RailOrdinal>(i)),
                         .predicted_rate = predicted_rate(rail),
                         .usable = rail.usable,
                         .measured = rail.measured_rate.bytes_per_s > 0});
    if (!rail.usable) out.rails.back().why += ", not usable now: " + rail.reason;
  }
  note_shared_devices(rails, out.rails);
  out.status = admission_status(admission, request, rails);
  if (!out.status) return out;
  out.plan = assemble(admission, request, rails);
  predict(request, rails, out);
  out.status = nothing_usable(request, rails, out.plan);
  return out;
}

}  // namespace spindrift::planner
