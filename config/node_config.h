// What a node file says, as the option structs that the modules declare.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"
#include "control/control_options.h"
#include "executor/executor_options.h"
#include "policies/rule.h"
#include "rails/tcp/tcp_options.h"
#include "spindrift/memory.h"

namespace spindrift::config {

struct MetricsOptions {
  bool enabled = false;
  std::string bind = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one, published in the ready line
};

// Memory that the agent allocates, touches and publishes.
struct SegmentOptions {
  std::string name;
  std::uint64_t size = 0;
  Rights rights = Rights::kRemoteReadWrite;
  std::vector<Grant> grants;
};

struct PeerOptions {
  std::string name;
  std::vector<std::string> addresses;  // "IP:PORT", any of them
};

enum class LogVerbosity : std::uint8_t { kDebug, kInfo, kWarn, kError, kOff };

struct NodeConfig {
  std::string name;  // empty: the host name and a random number
  control::ControlOptions control;
  rails::tcp::TcpOptions tcp;
  executor::ExecutorOptions executor;
  executor::WorkerOptions workers;
  MetricsOptions metrics;
  std::vector<SegmentOptions> segments;
  std::vector<PeerOptions> peers;
  std::string policy_file;     // empty: the built-in policy
  policies::PolicySet policy;  // as loaded, or the built-in one
  LogVerbosity log = LogVerbosity::kWarn;
  Duration shutdown_grace = std::chrono::seconds(2);
};

}  // namespace spindrift::config
