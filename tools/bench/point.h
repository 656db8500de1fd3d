// One measured point: intents of one size and one operation, several in flight
// from several threads, over fresh memory each.
//
// Verification does not distort the timing. A round uses every slot once: the
// pattern is laid out untimed, then the intents are timed, then, untimed again,
// what arrived is compared, canaries between descriptors included (a write is
// read back through the engine into other memory). Then the next round, with
// another pattern. Without verification slots are used again and again in one
// long round.
//
// Latency is from the call of submit() to the moment at which the caller could
// see the outcome. Blocks the calling thread, which ticks the observer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spindrift/spindrift.h"
#include "tools/bench/histogram.h"
#include "tools/bench/layout.h"
#include "tools/bench/session.h"

namespace spindrift::tools::bench {

enum class Phase : std::uint8_t { kWarmup, kPrepare, kTimed, kVerify };
const char* to_string(Phase phase);  // "verifying"

struct Progress {
  Phase phase = Phase::kWarmup;
  std::uint64_t intents = 0;  // of the timed phases so far
  std::uint64_t bytes = 0;
  Duration timed{0};
};

struct PointOptions {
  Operation operation = Operation::kWrite;
  LayoutOptions layout;
  std::uint32_t depth = 1;
  std::uint32_t threads = 1;
  std::uint64_t count = 0;  // 0: by duration
  Duration duration{0};
  Duration warmup{0};
  Duration budget{0};
  bool verify = false;
  bool reuse_addresses = false;
  Integrity integrity = Integrity::kPolicy;
  std::string klass;
  std::uint64_t seed = 1;
  // Called about every `tick` from the thread that runs the point, in all phases.
  std::function<void(const Progress&)> observe;
  Duration tick = std::chrono::milliseconds(100);
  // Asked at each tick; true ends the point early, in good order.
  std::function<bool()> stop;
};

struct PointResult {
  Duration timed{0};          // first submit to last outcome, over all rounds
  std::uint64_t intents = 0;  // that completed
  std::uint64_t bytes = 0;    // confirmed landed within `timed`
  Histogram latency;
  Duration submit_time{0};  // within submit(), all threads together
  std::uint64_t submitted_descriptors = 0;
  std::uint64_t retries = 0;
  std::uint64_t failed_intents = 0;
  Status first_failure;
  std::uint64_t rounds = 0;
  std::uint64_t verified_bytes = 0;
  std::uint64_t verify_failures = 0;  // bytes that were not as they must be
  std::string policy_rule;
  std::vector<RailReport> rails;

  std::uint64_t goodput() const;  // bytes per second; 0 when nothing was timed
};

// Memory at each end: what a point cannot do without, and what it makes use of.
struct MemoryNeed {
  std::uint64_t least = 0;
  std::uint64_t useful = 0;
};
MemoryNeed memory_need(const PointOptions& options);

// kInvalidArgument when the session's memory is too small or lacks a right;
// failed intents are part of the result.
Result<PointResult> run_point(Session& session, const PointOptions& options);

}  // namespace spindrift::tools::bench
