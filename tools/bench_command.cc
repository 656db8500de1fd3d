// spindrift bench: how fast, how evenly, and whether every byte was right.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/format.h"
#include "tools/bench/report.h"
#include "tools/bench/session.h"
#include "tools/commands.h"
#include "tools/quantity_options.h"
#include "tools/terminal.h"

namespace spindrift::tools {
namespace {

using bench::BenchOptions;
using bench::PointOptions;

constexpr char kAbout[] =
    R"(Measure transfers to and from a peer, and verify them

Submits intents of one size after another, several in flight, and reports goodput,
latencies and what each rail carried. With --loopback it starts the peer itself.)";

constexpr char kFooter[] =
    R"(What is measured. Goodput is confirmed bytes over timed time, from the first submit
to the last outcome. Latency is from submit() to the moment at which the caller
could see the outcome; `submit` is the time within submit() per descriptor. All
memory is touched before anything is timed, and every intent uses fresh addresses,
walking through both memories, so that no figure is one of the caches
(--reuse-addresses turns that off).

--size is of a whole intent, and its descriptors divide it: --size 256MiB
--descriptors 65536 are 65,536 pieces of 4 KiB. They lie one after another, or with
--scatter in random order at each end with gaps between them.

--verify lays out a pattern that depends on seed, round, intent and position, moves
it, and compares every byte and the bytes around each descriptor, a write by reading
it back. All that is outside the timed part.

Without --config a built-in node file is used; a peer on another machine then needs
--key-file (or --insecure), as its own node file has it.

Examples:
  spindrift bench --loopback
  spindrift bench --loopback --op both --sizes 4KiB:64MiB --verify
  spindrift bench --loopback --rails 4 --size 256MiB --descriptors 65536 --scatter
  spindrift bench --peer 10.0.0.2:7400 --segment kv --key-file cluster.key \
                  --size 64MiB --depth 4 --duration 10s --json

Exit status: 0 every intent completed and, with --verify, every byte was right;
1 not so, or it could not start; 2 the command line is wrong.)";

PointOptions point_options(const BenchOptions& options, Operation operation, std::uint64_t size) {
  return {.operation = operation,
          .layout = {.bytes = size,
                     .descriptors = options.descriptors,
                     .scatter = options.scatter,
                     .unaligned = options.unaligned,
                     .seed = options.seed},
          .depth = options.depth,
          .threads = options.threads,
          .count = options.count,
          .duration = options.duration,
          .warmup = options.warmup,
          .budget = options.budget,
          .verify = options.verify,
          .reuse_addresses = options.reuse_addresses,
          .integrity = options.checksum ? Integrity::kCrc32c : Integrity::kPolicy,
          .klass = options.klass,
          .seed = options.seed};
}

std::uint64_t memory_for(const BenchOptions& options) {
  if (options.memory > 0) return options.memory;
  std::uint64_t most = 0;
  for (const std::uint64_t size : options.sizes) {
    const PointOptions point = point_options(options, Operation::kWrite, size);
    most = std::max(most, bench::memory_need(point).useful);
  }
  return most;
}

// Draws a point's progress.
void show(ProgressLine& line, const PointOptions& point, const bench::Progress& progress) {
  const double fraction =
      point.count > 0 ? static_cast<double>(progress.intents) / static_cast<double>(point.count)
                      : static_cast<double>(progress.timed.count()) /
                            static_cast<double>(std::max<std::int64_t>(1, point.duration.count()));
  const std::string what = std::string(point.operation == Operation::kWrite ? "write " : "read ") +
                           format_bytes_short(point.layout.bytes);
  line.show(
      what, fraction,
      bench::to_string(progress.phase) +
          (progress.bytes == 0 ? std::string()
                               : ", " + format_rate(Rate::of(progress.bytes, progress.timed))),
      read_monotonic_clock());
}

Duration cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + Duration(used.tv_nsec);
}

// What staying connected costs this end while nothing moves.
void stay_idle(const BenchOptions& options) {
  const Duration before = cpu_time();
  std::this_thread::sleep_for(options.idle);
  const Duration used = cpu_time() - before;
  if (options.json) {
    std::printf("{\"schema\":\"spindrift/bench-idle/1\",\"idle_ns\":%lld,\"cpu_ns\":%lld}\n",
                static_cast<long long>(options.idle.count()), static_cast<long long>(used.count()));
  } else {
    std::printf("idle for %s: %s of CPU time at this end\n", format_duration(options.idle).c_str(),
                format_duration(used).c_str());
  }
}

int measure(const BenchOptions& options) {
  const std::uint64_t memory = memory_for(options);
  auto session = bench::Session::start(options, memory);
  if (!session.ok()) return fail(session.status());
  bench::Session& ends = **session;
  if (!options.json) std::fputs(bench::table_head().c_str(), stdout);
  std::fflush(stdout);
  ProgressLine line(!options.json || is_terminal(stderr));
  bool all_good = true;
  std::uint64_t seed = options.seed;
  for (const std::uint64_t size : options.sizes) {
    for (const Operation operation : options.operations) {
      PointOptions point = point_options(options, operation, size);
      point.seed = seed++;  // what the point before left behind is wrong for this one
      point.observe = [&](const bench::Progress& progress) { show(line, point, progress); };
      const Result<bench::PointResult> result = bench::run_point(ends, point);
      line.clear();
      if (!result.ok()) return fail(result.status());
      const bench::PointRecord record{options, point, *result, ends.length(),
                                      ends.target().segment.peer()};
      std::fputs((options.json ? bench::to_json(record) + "\n" : bench::to_row(record)).c_str(),
                 stdout);
      std::fflush(stdout);
      all_good = all_good && result->failed_intents == 0 && result->verify_failures == 0;
    }
  }
  if (options.idle.count() > 0) stay_idle(options);
  return all_good ? kDone : kFailed;
}

int run_bench(const BenchOptions& options) {
  if (options.loopback == !options.peer.empty()) {
    return wrong_usage("say either --loopback or --peer");
  }
  if (options.loopback && !options.config.empty()) {
    return wrong_usage("--loopback makes its own node files; leave --config out");
  }
  if (!options.loopback && (options.rails > 0 || options.workers > 0)) {
    return wrong_usage("--rails and --workers are of --loopback; a node file says them for --peer");
  }
  const bool is_address = options.peer.find(':') != std::string::npos;
  if (!options.loopback && options.config.empty() && !is_address) {
    return wrong_usage("--peer " + options.peer +
                       ": a name is looked up in a node file, see --config; else say IP:PORT");
  }
  if (!options.spray.empty() && !options.policy.empty()) {
    return wrong_usage("--spray makes a policy; leave --policy out");
  }
  for (const std::uint64_t size : options.sizes) {
    if (size > kGiB * 1024) return wrong_usage("a size is at most 1 TiB");
  }
  return measure(options);
}

void add_ends(CLI::App& command, BenchOptions& options) {
  command.add_flag("--loopback", options.loopback, "With an agent of its own on this machine")
      ->group("Between whom");
  command.add_option("--peer", options.peer, "With this peer: a name of the config, or IP:PORT")
      ->group("Between whom");
  command.add_option("--segment", options.segment, "The peer's memory; default: bench")
      ->group("Between whom");
  command.add_option("--config", options.config, "Node file of this end")
      ->type_name("FILE")
      ->group("Between whom");
  command.add_option("--key-file", options.key_file, "Cluster key, without --config")
      ->type_name("FILE")
      ->group("Between whom");
  command.add_flag("--insecure", options.insecure, "No key at all, without --config")
      ->group("Between whom");
  command.add_option("--rails", options.rails, "Loopback addresses to use; default: 1")
      ->check(CLI::Range(1, 64))
      ->group("Between whom");
  command.add_option("--workers", options.workers, "Threads at each end of --loopback; default: 1")
      ->check(CLI::Range(1, 64))
      ->group("Between whom");
}

void add_contents(CLI::App& command, BenchOptions& options) {
  const char* group = "What moves";
  command
      .add_option_function<std::string>(
          "--op",
          [&options](const std::string& value) {
            options.operations.clear();
            if (value != "read") options.operations.push_back(Operation::kWrite);
            if (value != "write") options.operations.push_back(Operation::kRead);
          },
          "write (default), read or both")
      ->check(CLI::IsMember({"write", "read", "both"}))
      ->type_name("OP")
      ->group(group);
  CLI::Option* sizes =
      add_sizes(command, {"--sizes", "A doubling sweep 4KiB:64MiB, or a list 1B,3B,1MiB"},
                options.sizes)
          ->group(group);
  add_sizes(command, {"--size", "Bytes of an intent; default: 64MiB"}, options.sizes)
      ->type_name("SIZE")
      ->excludes(sizes)
      ->group(group);
  command.add_option("--descriptors", options.descriptors, "Pieces of an intent; default: 1")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24))
      ->type_name("N")
      ->group(group);
  command.add_flag("--scatter", options.scatter, "In random order, with gaps")->group(group);
  command.add_flag("--unaligned", options.unaligned, "Beginning at odd addresses")->group(group);
  command.add_flag("--reuse-addresses", options.reuse_addresses, "The same memory each time")
      ->group(group);
  add_size(command, {"--memory", "At each end; default: enough to walk through"}, options.memory)
      ->group(group);
  command.add_option("--class", options.klass, "Policy class of the intents")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--policy", options.policy, "Policy instead of the config's")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--spray", options.spray, "A policy of one rule with this strategy")
      ->check(CLI::IsMember({"least_completion", "round_robin", "weighted", "single"}))
      ->type_name("STRATEGY")
      ->group(group);
  command.add_flag("--checksum", options.checksum, "CRC32C per slice, end to end")->group(group);
}

void add_amounts(CLI::App& command, BenchOptions& options) {
  const char* group = "How much";
  command.add_option("--depth", options.depth, "Intents in flight per thread; default: 1")
      ->check(CLI::Range(1, 65536))
      ->type_name("N")
      ->group(group);
  command.add_option("--threads", options.threads, "Threads that submit; default: 1")
      ->check(CLI::Range(1, 256))
      ->type_name("N")
      ->group(group);
  CLI::Option* count = command.add_option("--count", options.count, "Intents per point")
                           ->check(CLI::PositiveNumber)
                           ->type_name("N")
                           ->group(group);
  add_duration(command, {"--duration", "Timed time per point; default: 3s"}, options.duration)
      ->excludes(count)
      ->group(group);
  add_duration(command, {"--warmup", "Before each point; default: 500ms"}, options.warmup)
      ->group(group);
  add_duration(command, {"--budget", "Time budget of an intent; default: the config's"},
               options.budget)
      ->group(group);
  add_duration(command, {"--idle", "Stay connected and idle at the end, and say what that cost"},
               options.idle)
      ->group(group);
  command.add_flag("--verify", options.verify, "Compare every byte, outside the timed part")
      ->group(group);
  command.add_option("--seed", options.seed, "Of patterns and placement; default: 1")
      ->type_name("N")
      ->group(group);
  command.add_flag("--json", options.json, "One JSON object per point, with all inputs")
      ->group(group);
}

}  // namespace

void add_bench_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("bench", kAbout);
  command->footer(kFooter);
  const auto options = std::make_shared<BenchOptions>();
  add_ends(*command, *options);
  add_contents(*command, *options);
  add_amounts(*command, *options);
  command->callback([&run, options] { run = [options] { return run_bench(*options); }; });
}

}  // namespace spindrift::tools
