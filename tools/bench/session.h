// The two ends of a benchmark: an engine of our own with its memory, and a
// peer's segment, which is in a child process on this machine for --loopback.
//
// Owns all of it; the destructor ends the engine, then the child. Made before
// this process has threads. Errors: whatever kept an end from being made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "config/node_config.h"
#include "spindrift/spindrift.h"
#include "tools/bench/bench_options.h"
#include "tools/child_process.h"
#include "tools/memory_block.h"

namespace spindrift::tools::bench {

// A peer's memory, as the benchmark uses it.
struct Target {
  Segment segment;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  bool can_write = false;
  bool can_read = false;
};

// The segment's largest region. kNotFound when it has none.
Result<Target> open_target(Engine& engine, const std::string& peer, const std::string& segment,
                           Duration timeout);

class Session {
 public:
  // `memory`: bytes wanted at each end.
  static Result<std::unique_ptr<Session>> start(const BenchOptions& options, std::uint64_t memory);

  Engine& engine() { return *engine_; }
  const Target& target() const { return target_; }
  std::byte* memory() const { return memory_.data(); }        // source or destination
  std::byte* read_back() const { return read_back_.data(); }  // to verify with
  std::uint64_t length() const { return length_; }            // of both, and of the target at least

 private:
  Session() = default;
  Status start_loopback_agent(const BenchOptions& options, std::uint64_t memory);
  Result<config::NodeConfig> own_config(const BenchOptions& options) const;
  Status take_memory(std::uint64_t memory, bool verify);

  // In this order they are destroyed backwards: engine before memory and child.
  ChildProcess agent_;
  std::string peer_;
  MemoryBlock memory_;
  MemoryBlock read_back_;
  std::unique_ptr<Engine> engine_;
  Target target_;
  std::uint64_t length_ = 0;
};

}  // namespace spindrift::tools::bench
