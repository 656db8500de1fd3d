// Which rails a rule admits for a request, and in which tier: the part that
// make_plan() and explain() share. Pure. It looks at nothing that changes while
// a topology epoch lasts: neither at a rail's health nor at measured rates.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "planner/plan.h"
#include "spindrift/status.h"

namespace spindrift::planner {

enum class Standing : std::uint8_t {
  kAdmitted,
  kNoOperation,    // the transport does not read, or does not write
  kNoSource,       // it cannot read the source's memory
  kNoDestination,  // it cannot write the destination's memory
  kNoFile,         // it moves files, and there is none
  kForbidden,      // by the rule
  kNotRequired,    // the rule requires others
};

// Default order of the tiers, after those that the rule prefers.
enum class Reach : std::uint8_t {
  kNvlink,
  kShm,
  kRdmaNear,  // NICs on the NUMA nodes of the memory at their ends, or unknown
  kRdmaFar,   // a NIC on another NUMA node than its end's memory
  kFile,
  kNetwork,  // TCP and the simulator: all in one tier, sprayed over
};

struct Judgement {
  Standing standing = Standing::kAdmitted;
  Reach reach = Reach::kNetwork;
  int tier = -1;      // 0 is first; -1: not admitted
  int selector = -1;  // index of the forbid or prefer entry that decided; -1: none
};

struct Admission {
  const policies::Rule* rule = nullptr;
  bool rule_matched = false;          // false: the default rule stands in
  std::vector<Judgement> judgements;  // by ordinal
  std::vector<std::vector<RailOrdinal>> tiers;
};

// At most kRailsPerPeerMax rails.
Admission admit(const policies::PolicySet& policy, const PlanRequest& request,
                std::span<const RailCandidate> rails);

// ok when there is a tier; else what is wrong, in full.
Status admission_status(const Admission& admission, const PlanRequest& request,
                        std::span<const RailCandidate> rails);

// Why this rail is where it is: "forbidden by rule bulk (p.yaml:3:5): transport
// tcp", "cannot read cuda:0 memory", "rdma on the memory's NUMA node".
std::string describe(const Admission& admission, const PlanRequest& request,
                     const RailCandidate& rail, RailOrdinal ordinal);

// "host", "cuda:0".
std::string describe(const Location& location);
// "write of 64 MiB to peer decode-0".
std::string describe(const PlanRequest& request);

}  // namespace spindrift::planner
