#include "lab/sim/simulation.h"

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "lab/sim/world.h"

namespace spindrift::lab::sim {

namespace {

constexpr auto kWorldEnds = std::chrono::minutes(10);  // virtual; far beyond any budget
constexpr std::size_t kStepsMax = 5'000'000;

Duration up_to(Prng& prng, Duration max) {
  return Duration(
      static_cast<std::int64_t>(prng.below(static_cast<std::uint64_t>(max.count()) + 1)));
}

// Everything about a run is drawn from the seed, here and in draw_*().
WorldOptions draw_world(Prng& prng) {
  WorldOptions world;
  world.nodes = static_cast<std::uint32_t>(prng.between(2, 3));
  const std::uint64_t rails = prng.between(1, 5);
  const bool calm = prng.chance(200);  // a fifth of the worlds have no faults
  for (std::uint64_t i = 0; i < rails; ++i) {
    rails::sim::LinkOptions& rail = world.rails.emplace_back();
    rail.rate.bytes_per_s = prng.between(1, 100) * 500'000;
    rail.latency = std::chrono::microseconds(static_cast<std::int64_t>(prng.between(5, 3000)));
    rail.jitter = up_to(prng, std::chrono::milliseconds(2));
    rail.part = prng.between(1, 64) * kKiB / 4;
    if (calm) continue;
    rail.fail_per_mille = static_cast<std::uint32_t>(prng.below(40));
    rail.break_per_mille = static_cast<std::uint32_t>(prng.below(30));
    rail.late_max = up_to(prng, std::chrono::milliseconds(400));
  }
  if (!calm) {
    world.control.lose_per_mille = static_cast<std::uint32_t>(prng.below(200));
    world.control.duplicate_per_mille = static_cast<std::uint32_t>(prng.below(100));
    world.control.cut_per_mille = static_cast<std::uint32_t>(prng.below(20));
    world.control.delay_max = up_to(prng, std::chrono::milliseconds(20));
    world.connect_fail_per_mille = static_cast<std::uint32_t>(prng.below(150));
    world.fence_again_per_mille = static_cast<std::uint32_t>(prng.below(300));
    world.hello_late_max = up_to(prng, std::chrono::milliseconds(300));
    world.blackout_max = up_to(prng, std::chrono::milliseconds(40));
  }
  world.executor.initial_rate.bytes_per_s = prng.between(1, 50) * 1'000'000;
  world.executor.attempts_per_lane = static_cast<std::uint32_t>(prng.between(2, 32));
  world.executor.slices_max = static_cast<std::uint32_t>(prng.between(4, 512));
  world.executor.posts_per_cycle = static_cast<std::uint32_t>(prng.between(1, 64));
  world.executor.window_max = prng.between(1, 64) * kKiB;
  world.executor.lanes_max = 64;
  world.executor.transfers_max = 64;
  return world;
}

policies::PolicySet draw_policy(Prng& prng) {
  policies::Rule rule;
  rule.name = "drawn";
  rule.directives.spray = static_cast<policies::Spray>(prng.below(4));
  rule.directives.slice_min = prng.between(1, 16) * 128;
  rule.directives.slice_max = rule.directives.slice_min * prng.between(1, 16);
  rule.directives.attempts_max = static_cast<std::uint32_t>(prng.between(4, 64));
  if (prng.chance(300)) {
    // The first rail in a tier of its own.
    rule.directives.prefer.push_back({.local_device = "*.0"});
  }
  if (rule.directives.spray == policies::Spray::kWeighted) {
    rule.directives.weights.push_back({{.local_device = "*.1"}, 3});
  }
  return {.name = "drawn", .rules = {rule}};
}

class Run {
 public:
  Run(const SimulationOptions& options)
      : options_(options), prng_(options.seed ^ 0x5eed), world_(draw_world(prng_), options.seed) {}

  SimulationResult run();

 private:
  void plan_load();
  void submit_one();
  std::vector<ResolvedDescriptor> draw_ranges(std::size_t from, std::size_t to, std::uint64_t id);
  void draw_surprises(std::size_t from, std::size_t to, executor::Job& job);

  const SimulationOptions options_;
  Prng prng_;
  World world_;
  std::uint64_t next_id_ = 1;
  std::uint64_t next_token_ = 1;
};

void Run::plan_load() {
  Instant at = world_.queue().now();
  const Duration pace = up_to(prng_, std::chrono::milliseconds(30));
  for (std::uint32_t i = 0; i < options_.intents; ++i) {
    at += up_to(prng_, pace);
    world_.queue().schedule(at, [this] { submit_one(); });
  }
}

// Matching pieces of the cells that both ends can spare, unaligned, with
// margins that nothing may touch.
std::vector<ResolvedDescriptor> Run::draw_ranges(std::size_t from, std::size_t to,
                                                 std::uint64_t id) {
  const std::size_t wanted = prng_.between(1, 12);
  std::vector<std::size_t> local = world_.arena(from).take(wanted, id, prng_);
  const std::vector<std::size_t> remote = world_.arena(to).take(local.size(), id, prng_);
  local.resize(remote.size());
  const bool tiny = prng_.chance(250);
  std::vector<ResolvedDescriptor> ranges;
  for (std::size_t i = 0; i < local.size(); ++i) {
    std::size_t at = prng_.below(64);
    const std::size_t skew = prng_.below(64);
    while (at < kCellBytes - 128) {
      const std::size_t length =
          std::min(tiny ? prng_.between(1, 300) : prng_.between(1, 4000), kCellBytes - 64 - at);
      ResolvedDescriptor& range = ranges.emplace_back();
      range.local = world_.arena(from).base() + local[i] * kCellBytes + at;
      range.remote = reinterpret_cast<std::uint64_t>(world_.arena(to).base() +
                                                     remote[i] * kCellBytes + at + skew);
      if (at + skew + length > kCellBytes) range.remote -= skew;
      range.length = length;
      range.remote_key = world_.key(to, false);
      at += length + 64 + prng_.below(64);  // beyond the skew, so that ranges never meet
      if (!tiny && prng_.chance(500)) break;
    }
  }
  return ranges;
}

void Run::submit_one() {
  const std::size_t from = prng_.below(world_.nodes());
  std::size_t to = prng_.below(world_.nodes() - 1);
  if (to >= from) ++to;
  auto made = std::make_unique<executor::Job>();
  made->id = TransferId{next_id_++};
  made->peer = world_.peer_index(from, to);
  made->operation = prng_.chance(500) ? Operation::kWrite : Operation::kRead;
  if (!prng_.chance(20)) made->descriptors = draw_ranges(from, to, made->id.value);
  for (const ResolvedDescriptor& range : made->descriptors) made->bytes += range.length;

  planner::PlanRequest request;
  request.operation = made->operation;
  request.bytes = made->bytes;
  Result<planner::Plan> plan =
      planner::make_plan(draw_policy(prng_), request, world_.candidates(from, to));
  if (!plan.ok()) {
    world_.ledger().violation("no plan: " + plan.status().to_string());
    return;
  }
  made->plan = std::make_shared<planner::Plan>(std::move(*plan));
  made->submitted = world_.queue().now();
  made->deadline = made->submitted + (prng_.chance(80) ? up_to(prng_, std::chrono::milliseconds(60))
                                                       : Duration(std::chrono::seconds(60)));
  executor::Job& job = world_.own(std::move(made));
  draw_surprises(from, to, job);
  world_.submit(from, job);
}

// Now and then a transfer has a flaw, or its owners change their mind.
void Run::draw_surprises(std::size_t from, std::size_t to, executor::Job& job) {
  if (!job.descriptors.empty() && prng_.chance(30)) {
    ResolvedDescriptor& range = job.descriptors[prng_.below(job.descriptors.size())];
    switch (prng_.below(3)) {
      case 0:
        range.remote_key ^= 1u << 20;
        break;  // never registered
      case 1:
        range.remote_key = world_.key(to, true);
        break;  // read-only
      default:
        range.remote = ~std::uint64_t{0} - 1;
        break;  // wraps around
    }
  }
  if (prng_.chance(50)) {
    const Instant at = world_.queue().now() + up_to(prng_, std::chrono::milliseconds(20));
    world_.queue().schedule(at, [this, from, &job] { world_.cancel(from, job); });
  }
  if (!job.descriptors.empty() && prng_.chance(20)) {
    const std::uint64_t token = next_token_++;
    const auto* base = world_.arena(to).base() + prng_.below(world_.arena(to).size() / 2);
    const Instant at = world_.queue().now() + up_to(prng_, std::chrono::milliseconds(5));
    world_.queue().schedule(at, [this, to, token, base] {
      world_.change_regions(
          to, [token, base](rails::RegionTable& table) { table.quiesce(token, base, kCellBytes); });
    });
    world_.queue().schedule(at + std::chrono::milliseconds(5), [this, to, token] {
      world_.change_regions(to, [token](rails::RegionTable& table) { table.resume(token); });
    });
  }
}

SimulationResult Run::run() {
  plan_load();
  std::size_t steps = 0;
  const Instant begin = world_.queue().now();
  while (world_.ledger().violations().empty() && world_.queue().step()) {
    if (++steps > kStepsMax || world_.queue().now() - begin > kWorldEnds) {
      world_.ledger().violation("the world did not come to rest");
    }
  }
  if (world_.ledger().violations().empty()) {
    world_.ledger().check_nothing_running();
    world_.check_at_rest();
  }

  SimulationResult result;
  result.violations = world_.ledger().violations();
  result.trace_hash = world_.ledger().trace_hash();
  result.fences = world_.fences();
  for (const auto& job : world_.jobs()) {
    ++(job->outcome == Cause::kNone ? result.completed : result.failed);
    result.slices += job->slices;
    result.retries += job->retries;
  }
  return result;
}

}  // namespace

SimulationResult run_simulation(const SimulationOptions& options) {
  return Run(options).run();
}

}  // namespace spindrift::lab::sim
