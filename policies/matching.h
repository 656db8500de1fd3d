// Which rule of a policy directs an intent, which rails a selector means, and
// which rules can never match. Pure; safe from any thread; owns nothing: what is
// returned points into the PolicySet that was passed in.
//
//   const Rule* rule = match_rule(policy, view);  // null: no rule fits
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rail_types.h"
#include "policies/rule.h"

namespace spindrift::policies {

// An intent in the eyes of a rule.
struct MatchView {
  Operation operation = Operation::kWrite;
  std::string_view klass = "default";  // empty counts as "default"
  std::uint64_t bytes = 0;             // of the whole intent
  MemoryKind source = MemoryKind::kHost;
  MemoryKind destination = MemoryKind::kHost;
  bool same_host = false;
  std::string_view peer;
};

bool matches(const Match& match, const MatchView& view);

// Everything in which `view` does not fit, for people: "is for reads; size
// 4 KiB is below 1 MiB". Empty when it matches.
std::string why_not(const Match& match, const MatchView& view);

// The first rule that matches.
const Rule* match_rule(const PolicySet& policy, const MatchView& view);

// The same, told rule by rule, in order.
struct RuleOutcome {
  const Rule* rule = nullptr;
  bool matched = false;
  std::string why;  // empty when matched; "not looked at: rule X matched first"
};
std::vector<RuleOutcome> explain_match(const PolicySet& policy, const MatchView& view);

// --- rules that can never match; config/ warns of them ---------------------------

// False when no intent at all can fit, because the match contradicts itself.
bool can_match(const Match& match);

// True only when it is certain that every intent that fits `later` fits
// `earlier` too, so that `later` is never reached when it stands behind it.
// False means "perhaps not": two earlier rules that cover it only together are
// not seen.
bool covers(const Match& earlier, const Match& later);

// --- rails -----------------------------------------------------------------------

bool selects(const RailSelector& selector, const RailFacts& rail);
// "transport rdma, local device \"mlx5_*\""; "any rail" for an empty one.
std::string describe(const RailSelector& selector);
// `transport rdma or rail "tcp:*"`.
std::string describe(const std::vector<RailSelector>& selectors);

// "policy.yaml:12:7"; just the file for a rule that no file holds.
std::string describe(const SourcePlace& place);
// "rule bulk (policy.yaml:12:7)".
std::string describe(const Rule& rule);

// "write", "read"; "host", "cuda", "file"; "least_completion": as in YAML.
const char* to_string(Operation operation);
const char* to_string(MemoryKind kind);
const char* to_string(Spray spray);

}  // namespace spindrift::policies
