#include "config/policy_checks.h"

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

void check_reachable(const std::vector<Rule>& rules, std::size_t i, ProblemList& problems) {
  const Rule& rule = rules[i];
  if (!policies::can_match(rule.match)) return;  // said where it was read
  for (std::size_t earlier = 0; earlier < i; ++earlier) {
    if (!policies::covers(rules[earlier].match, rule.match)) continue;
    warn(rule,
         "can never match: rule " + quoted(rules[earlier].name) + " at " +
             to_string(rules[earlier].place) + " takes all its intents",
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
  for (std::size_t i = 0; i < policy.rules.size(); ++i) {
    check_name(policy.rules[i], names, problems);
    check_reachable(policy.rules, i, problems);
    check_requirements(policy.rules[i], problems);
  }
}

}  // namespace spindrift::config
