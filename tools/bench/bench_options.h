// All inputs of a benchmark: what the command line said. Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/units.h"
#include "spindrift/intent.h"

namespace spindrift::tools::bench {

struct BenchOptions {
  // --- between whom ---------------------------------------------------------------
  bool loopback = false;  // with an agent of its own on this machine
  std::string peer;       // else: a configured name or IP:PORT
  std::string segment = "bench";
  std::string config;    // node file of this end; empty: the built-in one
  std::string key_file;  // for the built-in one
  bool insecure = false;
  std::uint32_t rails = 0;    // loopback only; 0: one: addresses 127.0.0.1, 127.0.0.2, ...
  std::uint32_t workers = 0;  // loopback only: threads at each end; 0: one
  Duration open_timeout = std::chrono::seconds(10);

  // --- what moves -----------------------------------------------------------------
  std::vector<Operation> operations{Operation::kWrite};
  std::vector<std::uint64_t> sizes{64 * kMiB};
  std::uint64_t descriptors = 1;
  bool scatter = false;
  bool unaligned = false;
  bool reuse_addresses = false;
  std::uint64_t memory = 0;  // at each end; 0: chosen from the rest
  std::string klass;
  std::string policy;  // file; empty: the config's
  std::string spray;   // strategy; makes a policy of one rule
  bool checksum = false;

  // --- how much of it ---------------------------------------------------------------
  std::uint32_t depth = 1;
  std::uint32_t threads = 1;
  std::uint64_t count = 0;  // intents per point; 0: by duration
  Duration duration = std::chrono::seconds(3);
  Duration warmup = std::chrono::milliseconds(500);
  Duration budget{0};  // of an intent; 0: the engine's default
  Duration idle{0};    // after the last point
  bool verify = false;
  std::uint64_t seed = 1;

  bool json = false;
};

}  // namespace spindrift::tools::bench
