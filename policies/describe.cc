// The words of matching.h: what people read about rules and selectors.
#include "base/format.h"
#include "policies/glob.h"
#include "policies/matching.h"

namespace spindrift::policies {
namespace {

void add(std::string& text, const std::string& part, const char* between) {
  if (!text.empty()) text += between;
  text += part;
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::string any_of(const std::vector<std::string>& patterns) {
  std::string text;
  for (const std::string& pattern : patterns) add(text, quoted(pattern), " or ");
  return text;
}

}  // namespace

std::string why_not(const Match& match, const MatchView& view) {
  std::string text;
  const auto say = [&text](const std::string& reason) { add(text, reason, "; "); };
  if (match.operation && *match.operation != view.operation) {
    say("is for " + std::string(policies::to_string(*match.operation)) + "s");
  }
  const std::string_view klass = view.klass.empty() ? std::string_view("default") : view.klass;
  if (!any_glob_matches(match.classes, klass)) {
    say("class " + std::string(klass) + " is not " + any_of(match.classes));
  }
  if (!can_match(match)) {
    say("can never match: its smallest size is above its largest");
  } else if (view.bytes < match.size_min) {
    say("size " + format_bytes(view.bytes) + " is below " + format_bytes(match.size_min));
  } else if (view.bytes > match.size_max) {
    say("size " + format_bytes(view.bytes) + " is above " + format_bytes(match.size_max));
  }
  if (match.source && *match.source != view.source) {
    say("source is " + std::string(policies::to_string(view.source)) + ", not " +
        policies::to_string(*match.source));
  }
  if (match.destination && *match.destination != view.destination) {
    say("destination is " + std::string(policies::to_string(view.destination)) + ", not " +
        policies::to_string(*match.destination));
  }
  if (match.same_host && *match.same_host != view.same_host) {
    say(view.same_host ? "the peer is on this host" : "the peer is on another host");
  }
  if (!any_glob_matches(match.peers, view.peer)) {
    say("peer " + std::string(view.peer) + " is not " + any_of(match.peers));
  }
  return text;
}

std::vector<RuleOutcome> explain_match(const PolicySet& policy, const MatchView& view) {
  std::vector<RuleOutcome> outcomes;
  const Rule* first = nullptr;
  for (const Rule& rule : policy.rules) {
    RuleOutcome outcome{.rule = &rule};
    if (first != nullptr) {
      outcome.why = "not looked at: rule " + first->name + " matched first";
    } else if (matches(rule.match, view)) {
      outcome.matched = true;
      first = &rule;
    } else {
      outcome.why = why_not(rule.match, view);
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::string describe(const RailSelector& selector) {
  std::string text;
  if (selector.transport) {
    add(text, std::string("transport ") + to_string(*selector.transport), ", ");
  }
  if (!selector.local_device.empty()) {
    add(text, "local device " + quoted(selector.local_device), ", ");
  }
  if (!selector.remote_device.empty()) {
    add(text, "remote device " + quoted(selector.remote_device), ", ");
  }
  if (!selector.rail.empty()) add(text, "rail " + quoted(selector.rail), ", ");
  return text.empty() ? "any rail" : text;
}

std::string describe(const std::vector<RailSelector>& selectors) {
  std::string text;
  for (const RailSelector& selector : selectors) add(text, describe(selector), " or ");
  return text;
}

std::string describe(const SourcePlace& place) {
  if (place.line <= 0) return place.file;
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string describe(const Rule& rule) {
  const std::string place = describe(rule.place);
  return "rule " + rule.name + (place.empty() ? "" : " (" + place + ")");
}

const char* to_string(Operation operation) {
  switch (operation) {
    case Operation::kWrite:
      return "write";
    case Operation::kRead:
      return "read";
  }
  return "unknown";
}

const char* to_string(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kHost:
      return "host";
    case MemoryKind::kCuda:
      return "cuda";
    case MemoryKind::kFile:
      return "file";
  }
  return "unknown";
}

const char* to_string(Spray spray) {
  switch (spray) {
    case Spray::kLeastCompletion:
      return "least_completion";
    case Spray::kRoundRobin:
      return "round_robin";
    case Spray::kWeighted:
      return "weighted";
    case Spray::kSingle:
      return "single";
  }
  return "unknown";
}

}  // namespace spindrift::policies
