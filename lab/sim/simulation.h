// The deterministic simulator: real workers, executors, policies, planner and
// control sessions of several nodes over simulated rails, in virtual time. One
// seed decides topology, load, faults and interleaving; the same seed replays
// exactly. The invariants of docs/ARCHITECTURE.md are checked at every step by
// objects that know nothing of how the executor works (ledger.h).
//
//   SimulationResult result = run_simulation({.seed = 42});
//   if (!result.violations.empty()) ... // replay with the same seed
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spindrift::lab::sim {

struct SimulationOptions {
  std::uint64_t seed = 0;
  std::uint32_t intents = 40;  // submitted in all
  bool trace = false;          // print what happens, for debugging a seed
};

struct SimulationResult {
  std::vector<std::string> violations;  // empty: every invariant held
  std::uint64_t trace_hash = 0;         // of everything that happened, in order
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t slices = 0;
  std::uint64_t retries = 0;
  std::uint64_t fences = 0;
  std::uint64_t late_arrivals_refused = 0;
};

SimulationResult run_simulation(const SimulationOptions& options);

}  // namespace spindrift::lab::sim
