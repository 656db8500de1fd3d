#include "config/read_policy.h"

#include <limits>
#include <optional>
#include <string>

#include "config/policy_checks.h"
#include "config/text_rules.h"

namespace spindrift::config {
namespace {

using policies::Directives;
using policies::Match;
using policies::RailSelector;
using policies::Rule;
using policies::Spray;
using policies::Weight;

// Rules are looked through for each kind of intent, and compared with each other
// when the file is read.
constexpr std::size_t kRulesMax = 256;
constexpr std::size_t kPatternsMax = 32;
constexpr std::size_t kSelectorsMax = 64;
constexpr std::uint64_t kIntentMax = std::uint64_t{1} << 60;

constexpr Choice<Operation> kOperations[] = {{"write", Operation::kWrite},
                                             {"read", Operation::kRead}};
constexpr Choice<MemoryKind> kMemoryKinds[] = {
    {"host", MemoryKind::kHost}, {"cuda", MemoryKind::kCuda}, {"file", MemoryKind::kFile}};
constexpr Choice<Transport> kTransports[] = {
    {"tcp", Transport::kTcp},       {"shm", Transport::kShm},   {"rdma", Transport::kRdma},
    {"nvlink", Transport::kNvlink}, {"file", Transport::kFile}, {"sim", Transport::kSim}};
constexpr Choice<Spray> kSprays[] = {{"least_completion", Spray::kLeastCompletion},
                                     {"round_robin", Spray::kRoundRobin},
                                     {"weighted", Spray::kWeighted},
                                     {"single", Spray::kSingle}};
constexpr Choice<Integrity> kIntegrities[] = {{"none", Integrity::kNone},
                                              {"crc32c", Integrity::kCrc32c}};

// A list that is written and empty fits nothing; an absent one fits everything.
void check_patterns(MapReader& map, const char* key, Match& out) {
  if (!map.has_empty_list(key)) return;
  map.warning(key, "is an empty list, so this rule can never match",
              "name at least one pattern, or remove the key to match all");
  out.size_min = std::numeric_limits<std::uint64_t>::max();
  out.size_max = 0;
}

void read_match(MapReader& map, Match& out) {
  std::optional<std::uint64_t> size_min, size_max;
  map.choice("operation", out.operation, kOperations);
  map.texts("class", out.classes, kPattern, kPatternsMax);
  map.size("size_min", size_min, {0, kIntentMax});
  map.size("size_max", size_max, {0, kIntentMax});
  map.choice("source", out.source, kMemoryKinds);
  map.choice("destination", out.destination, kMemoryKinds);
  map.flag("same_host", out.same_host);
  map.texts("peer", out.peers, kPattern, kPatternsMax);
  if (size_min) out.size_min = *size_min;
  if (size_max) out.size_max = *size_max;
  if (out.size_min > out.size_max) {
    map.warning("size_min", "is above `size_max`, so this rule can never match",
                "write the smaller size first");
  }
  check_patterns(map, "class", out);
  check_patterns(map, "peer", out);
}

void read_selector(MapReader& map, RailSelector& out) {
  map.choice("transport", out.transport, kTransports);
  map.text("local_device", out.local_device, kPattern);
  map.text("remote_device", out.remote_device, kPattern);
  map.text("rail", out.rail, kPattern);
}

bool selects_something(const MapReader& map) {
  return map.has("transport") || map.has("local_device") || map.has("remote_device") ||
         map.has("rail");
}

void read_rail_entry(MapReader& map, RailSelector& out) {
  read_selector(map, out);
  if (!selects_something(map)) {
    map.error("transport", "and all the other keys are missing, so this selects every rail",
              "name the rails by transport, local_device, remote_device or rail");
  }
}

void read_rails(MapReader& map, Directives& out) {
  map.each("prefer", out.prefer, kSelectorsMax, read_rail_entry);
  map.each("require", out.require, kSelectorsMax, read_rail_entry);
  map.each("forbid", out.forbid, kSelectorsMax, read_rail_entry);
}

void read_slice(MapReader& map, Directives& out) {
  const Range<std::uint64_t> range{4 * kKiB, kGiB};
  map.size("min", out.slice_min, range);
  map.size("max", out.slice_max, range);
  if (out.slice_min > out.slice_max) {
    map.error(map.has("min") ? "min" : "max", "does not fit: `min` is above `max`",
              "allowed: min up to max");
  }
}

void read_weight(MapReader& map, Weight& out) {
  map.required({"weight"});
  read_rail_entry(map, out.rails);
  map.number("weight", out.weight, {0, 1'000'000});
}

void read_rule(MapReader& map, Rule& out) {
  map.required({"name"});
  out.place = map.has("name") ? map.place("name") : map.place();
  map.text("name", out.name, kNodeName);
  map.section("match", [&](MapReader& section) { read_match(section, out.match); });
  Directives& directives = out.directives;
  map.section("rails", [&](MapReader& section) { read_rails(section, directives); });
  map.section("slice", [&](MapReader& section) { read_slice(section, directives); });
  map.choice("spray", directives.spray, kSprays);
  map.each("weights", directives.weights, kSelectorsMax, read_weight);
  map.number("attempts_max", directives.attempts_max, {1, 1000});
  map.flag("hedge", directives.hedge);
  map.choice("integrity", directives.integrity, kIntegrities);
  if (map.has("weights") && directives.spray != Spray::kWeighted) {
    map.warning("weights", "have no effect with this spray", "say `spray: weighted`");
  }
  if (!map.has("weights") && directives.spray == Spray::kWeighted) {
    map.warning("spray", "is weighted, and there are no weights: all rails weigh the same",
                "add `weights`");
  }
}

}  // namespace

void read_policy(MapReader& map, policies::PolicySet& out) {
  map.required({"rules"});
  map.text("name", out.name, kSentence);
  if (map.has_empty_list("rules")) {
    map.error("rules", "is empty", "add a rule, like `- name: everything`");
  }
  map.each("rules", out.rules, kRulesMax, read_rule);
  if (out.name.empty()) out.name = map.context().file;
  check_rules(out, map.context().problems);
}

}  // namespace spindrift::config
