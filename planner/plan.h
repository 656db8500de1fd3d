// What the planner answers to an intent: the admissible rails in tiers and the
// bounds of its slices. It binds no slice to a rail; the executor does that,
// late. Immutable once made, shared by all intents that it fits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/rail_types.h"
#include "policies/rule.h"

namespace spindrift::planner {

// What a plan depends on. An intent in the planner's eyes.
struct PlanRequest {
  Operation operation = Operation::kWrite;
  std::string klass = "default";
  std::uint64_t bytes = 0;
  std::uint64_t descriptors = 1;
  Location source;
  Location destination;
  bool same_host = false;
  std::string peer;  // node name
  Integrity integrity = Integrity::kPolicy;
  int source_numa = -1;  // NUMA node of the memory; -1: unknown
  int destination_numa = -1;
};

// One rail to the peer as the planner sees it. Index in the list == ordinal.
struct RailCandidate {
  RailFacts facts;
  RailCapabilities capabilities;
  bool usable = true;
  std::string reason;  // why not, when not usable
  Rate measured_rate;  // 0: not measured; then facts.line_rate predicts
  Duration round_trip{0};
};

struct Plan {
  std::string rule;  // name of the rule that matched
  // Rails of one tier are used together; the next tier only when none of the
  // earlier ones works. Never empty, no empty tier.
  std::vector<std::vector<RailOrdinal>> tiers;
  policies::Spray spray = policies::Spray::kLeastCompletion;
  std::vector<std::uint32_t> weights;  // by ordinal; kWeighted only
  std::uint64_t slice_min = 0;
  std::uint64_t slice_max = 0;
  std::uint32_t attempts_max = 1;
  bool checksum = false;
  bool hedge = false;  // copies of what is late, once nothing else is left to send
};

}  // namespace spindrift::planner
