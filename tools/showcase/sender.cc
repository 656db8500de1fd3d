#include "tools/showcase/sender.h"

#include <cstdio>

#include "base/clock.h"
#include "base/format.h"
#include "config/load.h"
#include "planner/candidates.h"
#include "planner/planner.h"
#include "planner/text_table.h"
#include "tools/bench/point.h"
#include "tools/bench/session.h"
#include "tools/child_process.h"
#include "tools/commands.h"
#include "tools/showcase/board.h"
#include "tools/showcase/network.h"
#include "tools/signals.h"

namespace spindrift::tools::showcase {
namespace {

constexpr char kPolicy[] = R"(schema: spindrift/policy/1
name: demo
rules:
  - name: use-all-links
    match: { size_min: 1MiB }
    slice: { min: 64KiB, max: 16MiB }
    spray: least_completion
    attempts_max: 8
)";

// The links that the demo made, as a topology file would describe them.
std::string topology_text(const std::vector<std::uint32_t>& rates_mbit) {
  std::string text = "schema: spindrift/topology/1\nname: demo\nnodes:\n";
  for (const std::size_t end : {0U, 1U}) {
    text += std::string("  - name: ") + (end == 0 ? "prefill" : "decode") + "\n    nics:\n";
    for (std::size_t i = 0; i < rates_mbit.size(); ++i) {
      text += "      - { name: rail" + std::to_string(i) + ", addresses: [" + rail_address(i, end) +
              "/24], rate: " + std::to_string(rates_mbit[i]) + "Mbit }\n";
    }
  }
  return text;
}

// `spindrift plan` in short.
Status show_plan(const SenderOptions& options, const policies::PolicySet& policy) {
  const auto topology = config::load_topology_text(topology_text(options.rates_mbit), "demo");
  if (!topology.ok()) return topology.status();
  const auto candidates = planner::candidates_between(topology.value, "prefill", "decode");
  if (!candidates.ok()) return candidates.status();
  const planner::PlanRequest request{.bytes = kDemoIntentBytes, .peer = "decode"};
  const planner::Explanation plan = planner::explain(policy, request, candidates->rails);
  if (!plan.status.ok()) return plan.status;
  std::printf("The plan for a write of %s: rule %s, %s over these links together in about %s\n",
              format_bytes(kDemoIntentBytes).c_str(), plan.plan.rule.c_str(),
              format_rate(plan.predicted_rate).c_str(),
              format_duration(plan.predicted_time).c_str());
  std::vector<std::vector<std::string>> rows;
  for (const planner::RailVerdict& rail : plan.rails) {
    rows.push_back({rail.rail, "tier " + std::to_string(rail.tier),
                    format_rate(rail.predicted_rate), format_bytes_short(rail.predicted_bytes)});
  }
  std::printf("%s\n", planner::format_table(rows, {false, false, true, true}).c_str());
  return {};
}

bench::PointOptions point_options(const SenderOptions& options) {
  return {.operation = Operation::kWrite,
          .layout = {.bytes = kDemoIntentBytes},
          .depth = kDemoDepth,
          .duration = options.duration,
          .warmup = std::chrono::milliseconds(500),
          .verify = true,
          .seed = static_cast<std::uint64_t>(to_ns(read_monotonic_clock()))};
}

// What came out; true when everything was right.
bool sum_up(const bench::PointResult& result, const Board& board) {
  const double mbit = static_cast<double>(result.goodput()) * 8 / 1e6;
  std::printf("\nMoved %llu intents of %s, %s in %s of timed writing: %.0f Mbit/s",
              static_cast<unsigned long long>(result.intents),
              format_bytes(kDemoIntentBytes).c_str(), format_bytes_short(result.bytes).c_str(),
              format_duration(result.timed).c_str(), mbit);
  if (board.ideal_mbit() > 0) {
    std::printf(
        ", %.1f %% of the %.0f Mbit/s\nthat the links can carry of a transfer's own bytes "
        "(their rates less frame, IP and TCP headers)",
        100 * mbit / board.ideal_mbit(), board.ideal_mbit());
  }
  std::printf("\n");
  for (const RailReport& rail : result.rails) {
    std::printf("  %-20s %9s  %5.1f %%  %llu slices, %llu failed\n", rail.rail.c_str(),
                format_bytes_short(rail.bytes).c_str(),
                result.bytes == 0
                    ? 0.0
                    : 100.0 * static_cast<double>(rail.bytes) / static_cast<double>(result.bytes),
                static_cast<unsigned long long>(rail.attempts),
                static_cast<unsigned long long>(rail.failures));
  }
  const bool right = result.failed_intents == 0 && result.verify_failures == 0 &&
                     result.verified_bytes > 0 && result.verified_bytes == result.bytes;
  if (right) {
    std::printf("Verified: %s read back and compared, every byte is right.\n",
                format_bytes_short(result.verified_bytes).c_str());
  } else {
    std::printf(
        "NOT VERIFIED: %llu of %llu bytes compared, %llu of them wrong, %llu intents "
        "failed. %s\n",
        static_cast<unsigned long long>(result.verified_bytes),
        static_cast<unsigned long long>(result.bytes),
        static_cast<unsigned long long>(result.verify_failures),
        static_cast<unsigned long long>(result.failed_intents),
        result.first_failure.ok() ? "" : result.first_failure.to_string().c_str());
  }
  return right;
}

}  // namespace

int send_and_show(const SenderOptions& options) {
  EndSignals signals;
  const auto policy = config::load_policy_text(kPolicy, "demo policy");
  const Result<TextFile> policy_file = text_as_file(kPolicy);
  if (!policy.ok() || !policy_file.ok()) {
    return fail(policy.ok() ? policy_file.status() : policy.status());
  }
  std::printf("The policy:\n%s\n", kPolicy);
  if (!options.rates_mbit.empty()) {
    if (Status status = show_plan(options, policy.value); !status.ok()) return fail(status);
  }
  std::fflush(stdout);

  bench::BenchOptions ends;
  ends.peer = options.peer;
  ends.segment = kDemoSegment;
  ends.config = options.config;
  ends.policy = policy_file->path;
  ends.verify = true;
  ends.depth = kDemoDepth;
  auto session = bench::Session::start(ends, kDemoMemory);
  if (!session.ok()) return fail(session.status());

  Board board(options.rates_mbit, read_monotonic_clock());
  const Instant end = read_monotonic_clock() + options.duration;
  bool asked_to_end = false;
  bool moving = false;  // however short the time, something is moved and verified
  bool moved = false;
  bench::PointOptions point = point_options(options);
  point.observe = [&](const bench::Progress& progress) {
    moving = moving || progress.phase == bench::Phase::kTimed;
    moved = moved || progress.bytes > 0;
    board.update((*session)->engine().rails(), bench::to_string(progress.phase),
                 read_monotonic_clock());
  };
  point.stop = [&] {
    asked_to_end = asked_to_end || signals.wait_for(Duration(0)).has_value();
    // Laying out the memory may take longer than a short run; something is to be
    // shown all the same.
    return asked_to_end || (moved && read_monotonic_clock() >= end);
  };
  const Result<bench::PointResult> result = bench::run_point(**session, point);
  if (!result.ok()) return fail(result.status());
  return sum_up(*result, board) ? kDone : kFailed;
}

}  // namespace spindrift::tools::showcase
