#include "policies/matching.h"

#include <algorithm>
#include <optional>

#include "policies/glob.h"

namespace spindrift::policies {
namespace {

std::string_view class_of(const MatchView& view) {
  return view.klass.empty() ? std::string_view("default") : view.klass;
}

// An absent field covers everything; a given one only its equal.
template <typename T>
bool field_covers(const std::optional<T>& earlier, const std::optional<T>& later) {
  return !earlier || (later && *earlier == *later);
}

bool patterns_cover(const std::vector<std::string>& earlier,
                    const std::vector<std::string>& later) {
  if (earlier.empty()) return true;
  const auto covered = [&](std::string_view specific) {
    return std::any_of(earlier.begin(), earlier.end(),
                       [&](const std::string& general) { return glob_covers(general, specific); });
  };
  return later.empty() ? covered("*") : std::all_of(later.begin(), later.end(), covered);
}

bool device_fits(const std::string& pattern, std::string_view device) {
  return pattern.empty() || glob_match(pattern, device);
}

}  // namespace

bool matches(const Match& match, const MatchView& view) {
  if (match.operation && *match.operation != view.operation) return false;
  if (view.bytes < match.size_min || view.bytes > match.size_max) return false;
  if (match.source && *match.source != view.source) return false;
  if (match.destination && *match.destination != view.destination) return false;
  if (match.same_host && *match.same_host != view.same_host) return false;
  return any_glob_matches(match.classes, class_of(view)) &&
         any_glob_matches(match.peers, view.peer);
}

const Rule* match_rule(const PolicySet& policy, const MatchView& view) {
  for (const Rule& rule : policy.rules) {
    if (matches(rule.match, view)) return &rule;
  }
  return nullptr;
}

bool can_match(const Match& match) {
  return match.size_min <= match.size_max;
}

bool covers(const Match& earlier, const Match& later) {
  return field_covers(earlier.operation, later.operation) &&
         field_covers(earlier.source, later.source) &&
         field_covers(earlier.destination, later.destination) &&
         field_covers(earlier.same_host, later.same_host) && earlier.size_min <= later.size_min &&
         earlier.size_max >= later.size_max && patterns_cover(earlier.classes, later.classes) &&
         patterns_cover(earlier.peers, later.peers);
}

bool selects(const RailSelector& selector, const RailFacts& rail) {
  if (selector.transport && *selector.transport != rail.transport) return false;
  return device_fits(selector.local_device, rail.local_device) &&
         device_fits(selector.remote_device, rail.remote_device) &&
         (selector.rail.empty() || glob_match(selector.rail, rail.name()));
}

}  // namespace spindrift::policies
