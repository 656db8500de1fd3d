// The demo's sending end: shows the policy and the plan, moves intents to the
// agent, shows live rates, verifies every byte, and says how it went. Runs in a
// process of its own, inside a network namespace where there is one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"

namespace spindrift::tools::showcase {

struct SenderOptions {
  std::string peer;                       // "IP:PORT" of the agent
  std::string config;                     // node file of this end
  std::vector<std::uint32_t> rates_mbit;  // of the rails; empty: they have none
  Duration duration{0};
};

inline constexpr std::uint64_t kDemoIntentBytes = 64ULL << 20;
inline constexpr std::uint32_t kDemoDepth = 4;
// Two turns of what is in flight: a round of over a second shows steady rates.
inline constexpr std::uint64_t kDemoMemory = (kDemoIntentBytes + 4096) * kDemoDepth * 2;
inline constexpr char kDemoSegment[] = "demo";

// The exit status: 0 only if every byte was verified.
int send_and_show(const SenderOptions& options);

}  // namespace spindrift::tools::showcase
