// Runs the simulator over a range of seeds and stops at the first violation.
//
//   sim_seeds [--seeds N] [--first SEED] [--threads N] [--repeat]
//
// --repeat runs every seed twice and compares the trace hashes. The last line
// carries a hash over all seeds, which is the same for every compiler. Exit
// status: 0 all held, 1 a violation (its seed is printed), 2 wrong usage.
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lab/sim/simulation.h"

namespace {

using spindrift::lab::sim::run_simulation;
using spindrift::lab::sim::SimulationResult;

struct Arguments {
  std::uint64_t seeds = 2000;
  std::uint64_t first = 1;
  std::uint64_t threads = 2;
  bool repeat = false;
};

bool parse(int argc, char** argv, Arguments& out) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--repeat") {
      out.repeat = true;
      continue;
    }
    std::uint64_t* value = name == "--seeds"     ? &out.seeds
                           : name == "--first"   ? &out.first
                           : name == "--threads" ? &out.threads
                                                 : nullptr;
    if (value == nullptr || ++i == argc) return false;
    const char* end = argv[i] + std::strlen(argv[i]);
    const auto parsed = std::from_chars(argv[i], end, *value);
    if (parsed.ec != std::errc() || parsed.ptr != end) return false;
  }
  return out.threads >= 1 && out.threads <= 64;
}

struct Totals {
  std::mutex mutex;
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> stop{false};
  std::uint64_t hash = 0;  // order-independent: seeds end in any order
  std::uint64_t completed = 0, failed = 0, slices = 0, retries = 0, fences = 0;
  bool violated = false;
};

void report(const SimulationResult& result, std::uint64_t seed, Totals& totals) {
  std::lock_guard lock(totals.mutex);
  totals.violated = true;
  totals.stop = true;
  std::printf("seed %llu: violation\n", static_cast<unsigned long long>(seed));
  for (const std::string& text : result.violations) std::printf("  %s\n", text.c_str());
  std::printf("replay: sim_seeds --first %llu --seeds 1\n", static_cast<unsigned long long>(seed));
}

void work(const Arguments& arguments, Totals& totals) {
  while (!totals.stop) {
    const std::uint64_t i = totals.next++;
    if (i >= arguments.seeds) return;
    const std::uint64_t seed = arguments.first + i;
    SimulationResult result = run_simulation({.seed = seed});
    if (arguments.repeat && run_simulation({.seed = seed}).trace_hash != result.trace_hash) {
      result.violations.push_back("a second run with the same seed went differently");
    }
    if (!result.violations.empty()) {
      report(result, seed, totals);
      return;
    }
    std::lock_guard lock(totals.mutex);
    totals.hash += result.trace_hash * (2 * seed + 1);
    totals.completed += result.completed;
    totals.failed += result.failed;
    totals.slices += result.slices;
    totals.retries += result.retries;
    totals.fences += result.fences;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr, "usage: sim_seeds [--seeds N] [--first SEED] [--threads N] [--repeat]\n");
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  Totals totals;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < arguments.threads; ++i) {
    threads.emplace_back([&] { work(arguments, totals); });
  }
  for (std::thread& thread : threads) thread.join();
  if (totals.violated) return 1;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf(
      "%llu seeds held in %.1f s: %llu transfers completed, %llu failed as they should, %llu "
      "slices, %llu retries, %llu fences, hash %016llx\n",
      static_cast<unsigned long long>(arguments.seeds), seconds,
      static_cast<unsigned long long>(totals.completed),
      static_cast<unsigned long long>(totals.failed),
      static_cast<unsigned long long>(totals.slices),
      static_cast<unsigned long long>(totals.retries),
      static_cast<unsigned long long>(totals.fences), static_cast<unsigned long long>(totals.hash));
  return 0;
}
