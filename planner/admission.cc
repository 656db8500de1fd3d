#include "planner/admission.h"

#include <algorithm>

#include "planner/plan_parts.h"
#include "policies/default_rule.h"
#include "policies/matching.h"

namespace spindrift::planner {
namespace {

using policies::RailSelector;

bool handles(const RailCapabilities& can, MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kHost:
      return can.host_memory;
    case MemoryKind::kCuda:
      return can.cuda_memory;
    case MemoryKind::kFile:
      return can.file_memory;
  }
  return false;
}

Standing carries(const RailCandidate& rail, const PlanRequest& request) {
  const RailCapabilities& can = rail.capabilities;
  if (!(request.operation == Operation::kWrite ? can.write : can.read)) {
    return Standing::kNoOperation;
  }
  if (!handles(can, request.source.kind)) return Standing::kNoSource;
  if (!handles(can, request.destination.kind)) return Standing::kNoDestination;
  if (rail.facts.transport == Transport::kFile && request.source.kind != MemoryKind::kFile &&
      request.destination.kind != MemoryKind::kFile) {
    return Standing::kNoFile;
  }
  return Standing::kAdmitted;
}

bool is_far(int nic, int memory) {
  return nic >= 0 && memory >= 0 && nic != memory;
}

Reach reach_of(const RailFacts& facts, const PlanRequest& request) {
  switch (facts.transport) {
    case Transport::kNvlink:
      return Reach::kNvlink;
    case Transport::kShm:
      return Reach::kShm;
    case Transport::kFile:
      return Reach::kFile;
    case Transport::kTcp:
    case Transport::kSim:
      return Reach::kNetwork;
    case Transport::kRdma:
      break;
  }
  const bool write = request.operation == Operation::kWrite;
  const int local = write ? request.source_numa : request.destination_numa;
  const int remote = write ? request.destination_numa : request.source_numa;
  return is_far(facts.local_numa, local) || is_far(facts.remote_numa, remote) ? Reach::kRdmaFar
                                                                              : Reach::kRdmaNear;
}

// Index of the first selector that selects the rail; -1: none does.
int first_selecting(const std::vector<RailSelector>& selectors, const RailFacts& facts) {
  const auto found =
      std::find_if(selectors.begin(), selectors.end(),
                   [&](const RailSelector& selector) { return selects(selector, facts); });
  return found == selectors.end() ? -1 : static_cast<int>(found - selectors.begin());
}

Judgement judge(const policies::Directives& directives, const PlanRequest& request,
                const RailCandidate& rail) {
  Judgement judgement{.standing = carries(rail, request), .reach = reach_of(rail.facts, request)};
  if (judgement.standing != Standing::kAdmitted) return judgement;
  judgement.selector = first_selecting(directives.forbid, rail.facts);
  if (judgement.selector >= 0) {
    judgement.standing = Standing::kForbidden;
    return judgement;
  }
  if (!directives.require.empty() && first_selecting(directives.require, rail.facts) < 0) {
    judgement.standing = Standing::kNotRequired;
    return judgement;
  }
  judgement.selector = first_selecting(directives.prefer, rail.facts);
  return judgement;
}

// The place in the order of tiers, before empty ones are left out.
std::size_t rank(const Judgement& judgement, std::size_t preferences) {
  return judgement.selector >= 0 ? static_cast<std::size_t>(judgement.selector)
                                 : preferences + static_cast<std::size_t>(judgement.reach);
}

}  // namespace

policies::MatchView match_view(const PlanRequest& request) {
  return {.operation = request.operation,
          .klass = request.klass,
          .bytes = request.bytes,
          .source = request.source.kind,
          .destination = request.destination.kind,
          .same_host = request.same_host,
          .peer = request.peer};
}

Admission admit(const policies::PolicySet& policy, const PlanRequest& request,
                std::span<const RailCandidate> rails) {
  Admission admission;
  admission.rule = match_rule(policy, match_view(request));
  admission.rule_matched = admission.rule != nullptr;
  if (!admission.rule_matched) admission.rule = &policies::default_rule();

  const policies::Directives& directives = admission.rule->directives;
  const std::size_t preferences = directives.prefer.size();
  std::vector<std::vector<RailOrdinal>> ranked(preferences +
                                               static_cast<std::size_t>(Reach::kNetwork) + 1);
  for (std::size_t i = 0; i < rails.size(); ++i) {
    admission.judgements.push_back(judge(directives, request, rails[i]));
    const Judgement& judgement = admission.judgements.back();
    if (judgement.standing != Standing::kAdmitted) continue;
    ranked[rank(judgement, preferences)].push_back(static_cast<RailOrdinal>(i));
  }
  for (std::vector<RailOrdinal>& tier : ranked) {
    if (tier.empty()) continue;
    for (const RailOrdinal ordinal : tier) {
      admission.judgements[ordinal].tier = static_cast<int>(admission.tiers.size());
    }
    admission.tiers.push_back(std::move(tier));
  }
  return admission;
}

}  // namespace spindrift::planner
