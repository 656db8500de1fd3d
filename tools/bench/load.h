// The timed part: threads that submit intents and wait for them. Each thread owns
// a share of the slots and takes them in turn; an intent's slot is free again when
// it was waited for, so no two intents in flight ever share memory. Threads share
// a few counters only.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "spindrift/spindrift.h"
#include "tools/bench/histogram.h"
#include "tools/bench/layout.h"
#include "tools/bench/point.h"

namespace spindrift::tools::bench {

// What all intents of a point have in common.
struct Load {
  Engine* engine = nullptr;
  Segment segment;
  std::byte* local = nullptr;
  std::uint64_t remote = 0;
  const Layout* layout = nullptr;
  const PointOptions* options = nullptr;
  std::uint64_t slots = 0;
};

// When a round ends, whichever comes first.
struct RoundLimits {
  std::uint64_t count = 0;  // intents of all threads; 0: no limit
  Duration duration{0};     // from the first submit; 0: no limit
  bool each_slot_once = false;
};

// What a thread saw, or all of them together.
struct Tally {
  Histogram latency;
  Duration submit_time{0};
  std::uint64_t descriptors = 0;
  std::uint64_t intents = 0;
  std::uint64_t bytes = 0;
  std::uint64_t retries = 0;
  std::uint64_t failed = 0;
  Status first_failure;
  std::string policy_rule;
  std::vector<RailReport> rails;
  Instant begin = kNever;  // first submit
  Instant end{};           // last outcome

  void add(const TransferReport& report);
  void merge(const Tally& other);

 private:
  void add_rails(const std::vector<RailReport>& more);
};

struct RoundResult {
  Tally tally;
  std::vector<std::uint8_t> landed;  // by slot: 1 when an intent completed there
};

// `tick(intents, bytes)` is called every `interval` until the threads are done; it
// returns true to make them stop submitting.
RoundResult run_round(const Load& load, const RoundLimits& limits,
                      const std::function<bool(std::uint64_t, std::uint64_t)>& tick);

}  // namespace spindrift::tools::bench
