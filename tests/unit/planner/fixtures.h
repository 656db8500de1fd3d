// What the planner's tests share: rails, rules and topologies in few words, and
// random ones.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "planner/planner.h"
#include "planner/topology.h"

namespace spindrift::planner {

inline constexpr Rate kGbit{125'000'000};
inline constexpr Rate k100Gbit{12'500'000'000};

inline RailCandidate rail(Transport transport, const std::string& device, Rate rate = k100Gbit) {
  RailCandidate candidate{.facts = {.transport = transport,
                                    .local_device = device,
                                    .remote_device = device,
                                    .line_rate = rate}};
  candidate.capabilities.cuda_memory =
      transport == Transport::kRdma || transport == Transport::kNvlink;
  candidate.capabilities.host_memory = transport != Transport::kNvlink;
  candidate.capabilities.file_memory = transport == Transport::kFile;
  return candidate;
}

inline policies::PolicySet one_rule(policies::Directives directives) {
  return {
      .name = "p.yaml",
      .rules = {{.name = "bulk", .directives = std::move(directives), .place = {"p.yaml", 3, 5}}}};
}

inline PlanRequest write_of(std::uint64_t bytes) {
  return {.bytes = bytes, .peer = "decode-0"};
}

inline Nic nic(const std::string& name, std::vector<std::string> addresses,
               Transport transport = Transport::kTcp) {
  return {.name = name,
          .transport = transport,
          .addresses = std::move(addresses),
          .line_rate = k100Gbit};
}

// --- random inputs; the same ones for the same seed -------------------------------

inline policies::RailSelector random_selector(Prng& prng) {
  policies::RailSelector selector;
  if (prng.chance(500)) selector.transport = static_cast<Transport>(prng.below(6));
  if (prng.chance(300)) selector.local_device = prng.chance(500) ? "d[0-2]" : "d*";
  if (prng.chance(200)) selector.rail = prng.chance(500) ? "tcp:*" : "*>d1";
  return selector;
}

inline std::vector<policies::RailSelector> random_selectors(Prng& prng, std::uint64_t most) {
  std::vector<policies::RailSelector> selectors(prng.below(most + 1));
  for (policies::RailSelector& selector : selectors) selector = random_selector(prng);
  return selectors;
}

inline policies::Rule random_rule(Prng& prng, int number) {
  policies::Rule rule{.name = "rule-" + std::to_string(number)};
  if (prng.chance(300)) rule.match.operation = Operation::kRead;
  if (prng.chance(300)) rule.match.classes = {"kv*"};
  if (prng.chance(300)) rule.match.size_min = prng.below(4);
  if (prng.chance(300)) rule.match.size_max = prng.below(5);
  if (prng.chance(200)) rule.match.source = static_cast<MemoryKind>(prng.below(3));
  if (prng.chance(200)) rule.match.same_host = prng.chance(500);
  if (prng.chance(200)) rule.match.peers = {"a*"};
  policies::Directives& directives = rule.directives;
  directives.prefer = random_selectors(prng, 3);
  if (prng.chance(300)) directives.require = random_selectors(prng, 2);
  if (prng.chance(400)) directives.forbid = random_selectors(prng, 2);
  directives.spray = static_cast<policies::Spray>(prng.below(4));
  directives.slice_min = 1 + prng.below(5);
  directives.slice_max = directives.slice_min + prng.below(5);
  if (prng.chance(300)) {
    directives.weights.push_back(
        {random_selector(prng), static_cast<std::uint32_t>(prng.below(4))});
  }
  if (prng.chance(300)) directives.integrity = Integrity::kCrc32c;
  return rule;
}

inline policies::PolicySet random_policy(Prng& prng) {
  policies::PolicySet policy{.name = "random"};
  const int count = static_cast<int>(prng.below(4));
  for (int i = 0; i < count; ++i) policy.rules.push_back(random_rule(prng, i));
  return policy;
}

// What changes from moment to moment, and no plan may depend on.
inline void shake(Prng& prng, std::vector<RailCandidate>& rails) {
  for (RailCandidate& candidate : rails) {
    candidate.usable = prng.chance(700);
    candidate.reason = candidate.usable ? "" : "link down";
    candidate.measured_rate = Rate{prng.chance(500) ? 0 : prng.below(1'000'000)};
    candidate.round_trip = Duration(static_cast<std::int64_t>(prng.below(1'000'000)));
  }
}

inline std::vector<RailCandidate> random_rails(Prng& prng) {
  std::vector<RailCandidate> rails;
  for (std::uint64_t i = prng.below(9); i > 0; --i) {
    rails.push_back(rail(static_cast<Transport>(prng.below(6)), "d" + std::to_string(prng.below(5)),
                         Rate{prng.below(1000) * 1'000'000}));
    rails.back().facts.local_numa = static_cast<int>(prng.below(3)) - 1;
    rails.back().facts.remote_numa = static_cast<int>(prng.below(3)) - 1;
    rails.back().capabilities.read = prng.chance(900);
  }
  shake(prng, rails);
  return rails;
}

inline PlanRequest random_request(Prng& prng) {
  static const char* const kClasses[] = {"", "kv", "kv-x", "bulk"};
  static const char* const kPeers[] = {"a", "ab", "b"};
  return {.operation = prng.chance(500) ? Operation::kRead : Operation::kWrite,
          .klass = kClasses[prng.below(4)],
          .bytes = prng.below(6),
          .source = {static_cast<MemoryKind>(prng.chance(850) ? 0 : prng.below(3)),
                     static_cast<std::uint32_t>(prng.below(2))},
          .destination = {static_cast<MemoryKind>(prng.chance(850) ? 0 : prng.below(3)), 0},
          .same_host = prng.chance(300),
          .peer = kPeers[prng.below(3)],
          .integrity = static_cast<Integrity>(prng.below(3)),
          .source_numa = prng.chance(600) ? -1 : static_cast<int>(prng.below(2)),
          .destination_numa = prng.chance(600) ? -1 : static_cast<int>(prng.below(2))};
}

}  // namespace spindrift::planner
