// The words of admission.h: what people read when a plan is refused or explained.
#include <algorithm>

#include "base/format.h"
#include "planner/admission.h"
#include "policies/matching.h"

namespace spindrift::planner {
namespace {

bool carries_it(Standing standing) {
  return standing == Standing::kAdmitted || standing == Standing::kForbidden ||
         standing == Standing::kNotRequired;
}

std::string numa_note(const char* end, int nic, int memory) {
  if (nic < 0 || memory < 0 || nic == memory) return "";
  return std::string(" (") + end + " NIC on node " + std::to_string(nic) + ", memory on node " +
         std::to_string(memory) + ")";
}

std::string reach_text(Reach reach, const PlanRequest& request, const RailFacts& facts) {
  const bool write = request.operation == Operation::kWrite;
  const int local = write ? request.source_numa : request.destination_numa;
  const int remote = write ? request.destination_numa : request.source_numa;
  switch (reach) {
    case Reach::kRdmaNear: {
      const bool known =
          (local >= 0 && facts.local_numa >= 0) || (remote >= 0 && facts.remote_numa >= 0);
      return known ? "rdma on the memory's NUMA node" : "rdma, NUMA nodes unknown";
    }
    case Reach::kRdmaFar:
      return "rdma across NUMA nodes" + numa_note("local", facts.local_numa, local) +
             numa_note("remote", facts.remote_numa, remote);
    case Reach::kNvlink:
    case Reach::kShm:
    case Reach::kFile:
    case Reach::kNetwork:
      break;
  }
  return to_string(facts.transport);
}

// "tcp:eth0>eth0: not required; ..." for at most a handful of rails.
std::string rails_text(const Admission& admission, const PlanRequest& request,
                       std::span<const RailCandidate> rails) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(rails.size(), kShown); ++i) {
    text += (i == 0 ? "" : "; ") + rails[i].facts.name() + " " +
            describe(admission, request, rails[i], static_cast<RailOrdinal>(i));
  }
  if (rails.size() > kShown) text += "; and " + std::to_string(rails.size() - kShown) + " more";
  return text;
}

// What all rails lack alike; they may also lack different things.
std::string lacking(const Admission& admission, const PlanRequest& request) {
  const Standing first = admission.judgements.front().standing;
  const bool alike =
      std::all_of(admission.judgements.begin(), admission.judgements.end(),
                  [&](const Judgement& judgement) { return judgement.standing == first; });
  if (alike && first == Standing::kNoOperation) {
    return std::string("no rail can ") + policies::to_string(request.operation);
  }
  if (alike && first == Standing::kNoSource) {
    return "no rail can read " + describe(request.source) + " memory";
  }
  if (alike && first == Standing::kNoDestination) {
    return "no rail can write " + describe(request.destination) + " memory";
  }
  return "no rail can carry " + describe(request.source) + " to " + describe(request.destination) +
         " memory";
}

Status unsatisfied(const Admission& admission, const PlanRequest& request,
                   std::span<const RailCandidate> rails) {
  const policies::Rule& rule = *admission.rule;
  const bool forbids_all =
      std::none_of(admission.judgements.begin(), admission.judgements.end(),
                   [](const Judgement& j) { return j.standing == Standing::kNotRequired; });
  const std::string what = forbids_all ? "forbids every rail that could carry it"
                                       : "requires " + policies::describe(rule.directives.require) +
                                             ", and no such rail can carry it";
  return Status(
      Code::kPolicyUnsatisfied,
      {.what = describe(request) + ": rule " + rule.name + " " + what,
       .why = "there is: " + rails_text(admission, request, rails),
       .hint = forbids_all ? "relax `forbid` of the rule, or match this intent by another rule"
                           : "provide such a rail or relax `require` of the rule; what a rule "
                             "requires is never replaced silently",
       .peer = request.peer,
       .where = policies::describe(rule.place)});
}

}  // namespace

std::string describe(const Location& location) {
  std::string text = policies::to_string(location.kind);
  if (location.kind == MemoryKind::kCuda) text += ":" + std::to_string(location.device);
  return text;
}

std::string describe(const PlanRequest& request) {
  const bool write = request.operation == Operation::kWrite;
  return std::string(policies::to_string(request.operation)) + " of " +
         format_bytes(request.bytes) + (write ? " to peer " : " from peer ") + request.peer;
}

std::string describe(const Admission& admission, const PlanRequest& request,
                     const RailCandidate& rail, RailOrdinal ordinal) {
  const Judgement& judgement = admission.judgements[ordinal];
  const policies::Directives& directives = admission.rule->directives;
  const auto place = static_cast<std::size_t>(std::max(judgement.selector, 0));
  switch (judgement.standing) {
    case Standing::kNoOperation:
      return std::string("cannot ") + policies::to_string(request.operation);
    case Standing::kNoSource:
      return "cannot read " + describe(request.source) + " memory";
    case Standing::kNoDestination:
      return "cannot write " + describe(request.destination) + " memory";
    case Standing::kNoFile:
      return "moves files only";
    case Standing::kForbidden:
      return "forbidden by " + policies::describe(*admission.rule) + ": " +
             policies::describe(directives.forbid[place]);
    case Standing::kNotRequired:
      return "not what " + policies::describe(*admission.rule) +
             " requires: " + policies::describe(directives.require);
    case Standing::kAdmitted:
      break;
  }
  if (judgement.selector >= 0) return "preferred: " + policies::describe(directives.prefer[place]);
  return reach_text(judgement.reach, request, rail.facts);
}

Status admission_status(const Admission& admission, const PlanRequest& request,
                        std::span<const RailCandidate> rails) {
  if (rails.empty()) {
    return Status(
        Code::kPeerUnreachable,
        {.what = describe(request),
         .why = "there is no rail to this peer",
         .hint = "`spindrift topo` shows which interfaces are used and why others are not",
         .peer = request.peer});
  }
  if (!admission.tiers.empty()) return {};
  const bool any_carries =
      std::any_of(admission.judgements.begin(), admission.judgements.end(),
                  [](const Judgement& judgement) { return carries_it(judgement.standing); });
  if (any_carries) return unsatisfied(admission, request, rails);
  return Status(Code::kUnsupported,
                {.what = describe(request) + ": " + lacking(admission, request),
                 .why = "there is: " + rails_text(admission, request, rails),
                 .hint = "use memory of a kind that a rail to this peer can reach",
                 .peer = request.peer});
}

}  // namespace spindrift::planner
