#include "config/policy_checks.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/suggest.h"
#include "policies/matching.h"

namespace spindrift::config {
namespace {

using policies::RailSelector;
using policies::Rule;

void warn(const Rule& rule, std::string text, std::string hint, ProblemList& problems) {
  problems.add({.severity = Severity::kWarning,
                .place = rule.place,
                .text = "rule " + quoted(rule.name) + " " + std::move(text),
                .hint = std::move(hint)});
}

void check_name(const Rule& rule, std::map<std::string, SourcePlace>& names,
                ProblemList& problems) {
  if (rule.name.empty()) return;
  const auto [first, is_new] = names.emplace(rule.name, rule.place);
  if (is_new) return;
  problems.add(
      {.severity = Severity::kError,
       .place = rule.place,
       .text = "rule name " + quoted(rule.name) + " is already used at " + to_string(first->second),
       .hint = "names are unique; rename one"});
}

std::uint64_t length_of(const std::vector<std::string>& patterns) {
  std::uint64_t length = 0;
  for (const std::string& pattern : patterns) length += pattern.size();
  return length;
}

// An upper bound of the steps that policies::covers() takes.
std::uint64_t cost_of_covers(const policies::Match& earlier, const policies::Match& later) {
  return length_of(earlier.classes) * length_of(later.classes) +
         length_of(earlier.peers) * length_of(later.peers) + 1;
}

// Each rule against all before it. 100 rules of ten patterns of ten characters
// take half of the steps; a file made to be slow takes all of them, under a second.
class ReachableRules {
 public:
  explicit ReachableRules(const std::vector<Rule>& rules) : rules_(rules) {}
  void check(std::size_t i, ProblemList& problems);

 private:
  static constexpr std::uint64_t kStepsMax = 100'000'000;

  const std::vector<Rule>& rules_;
  std::uint64_t steps_ = 0;
};

void ReachableRules::check(std::size_t i, ProblemList& problems) {
  const Rule& rule = rules_[i];
  if (!policies::can_match(rule.match)) return;  // said where it was read
  if (steps_ >= kStepsMax) return;
  for (std::size_t earlier = 0; earlier < i; ++earlier) {
    steps_ += cost_of_covers(rules_[earlier].match, rule.match);
    if (steps_ >= kStepsMax) {
      warn(rule, "and those after it are not checked for whether they can ever match",
           "the rules have too many patterns for that; use fewer", problems);
      return;
    }
    if (!policies::covers(rules_[earlier].match, rule.match)) continue;
    warn(rule,
         "can never match: rule " + quoted(rules_[earlier].name) + " at " +
             to_string(rules_[earlier].place) + " takes all its intents",
         "put it before that rule, or remove it", problems);
    return;
  }
}

bool same(const RailSelector& a, const RailSelector& b) {
  return a.transport == b.transport && a.local_device == b.local_device &&
         a.remote_device == b.remote_device && a.rail == b.rail;
}

void check_requirements(const Rule& rule, ProblemList& problems) {
  for (const RailSelector& required : rule.directives.require) {
    for (const RailSelector& forbidden : rule.directives.forbid) {
      if (!same(required, forbidden)) continue;
      warn(rule, "requires and forbids " + policies::describe(required), "remove one of the two",
           problems);
      return;
    }
  }
}

}  // namespace

void check_rules(const policies::PolicySet& policy, ProblemList& problems) {
  std::map<std::string, SourcePlace> names;
  ReachableRules reachable(policy.rules);
  for (std::size_t i = 0; i < policy.rules.size(); ++i) {
    check_name(policy.rules[i], names, problems);
    reachable.check(i, problems);
    check_requirements(policy.rules[i], problems);
  }
}

}  // namespace spindrift::config
