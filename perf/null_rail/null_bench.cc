#include "null_bench.h"

#include <numeric>

#include "base/check.h"
#include "base/clock.h"
#include "counters.h"

namespace spindrift::perf {

namespace {

constexpr std::uint64_t kSliceBytes = 64 * kKiB;
constexpr std::uint64_t kPage = 4 * kKiB;
constexpr std::uint64_t kWarmUpSlices = 20'000;
constexpr Duration kCycle = std::chrono::nanoseconds(25'600);

executor::ExecutorOptions executor_options() {
  return {};
}

std::shared_ptr<const planner::Plan> make_plan(std::uint32_t rails) {
  auto plan = std::make_shared<planner::Plan>();
  plan->tiers.emplace_back(rails);
  std::iota(plan->tiers[0].begin(), plan->tiers[0].end(), RailOrdinal{0});
  plan->slice_min = kSliceBytes;
  plan->slice_max = kSliceBytes;
  plan->attempts_max = 8;
  return plan;
}

double ns_since(Instant begin) {
  return static_cast<double>(to_ns(read_monotonic_clock() - begin));
}

}  // namespace

NullBench::NullBench(std::uint32_t rails)
    : plan_(make_plan(rails)), worker_(executor_options(), {}, 1, *this) {
  worker_.add_driver(
      std::make_unique<NullDriver>(std::size_t{rails} * executor_options().attempts_per_lane));
  executor::AddPeer peer;
  peer.rails.resize(rails);
  for (executor::Executor::RailSpec& rail : peer.rails) {
    rail.facts.transport = Transport::kSim;
    rail.capabilities = NullDriver(1).capabilities();
  }
  send(std::move(peer));
}

void NullBench::send(executor::Command command) {
  SPINDRIFT_CHECK(worker_.send(command));
}

void NullBench::cycle() {
  now_ += kCycle;
  (void)worker_.do_work(now_);
  for (const executor::LaneAction& lane : opened_) {
    send(executor::LaneConnected{lane.lane, lane.generation, {}});
  }
  opened_.clear();
}

// Cycles until that many bytes have landed.
void NullBench::move(const executor::Job& job, std::uint64_t landed) {
  while (job.landed < landed) cycle();
}

std::unique_ptr<executor::Job> NullBench::make_job(std::uint32_t descriptors,
                                                   std::uint64_t length) {
  auto job = std::make_unique<executor::Job>();
  job->id = TransferId{next_id_++};
  job->plan = plan_;
  job->submitted = now_;
  job->deadline = now_ + std::chrono::hours(1);
  job->descriptors.reserve(descriptors);
  for (std::uint32_t i = 0; i < descriptors; ++i) {
    // Every other page, so that no two are neighbours.
    const std::uint64_t at = 2 * std::uint64_t{i} * length;
    job->descriptors.push_back({.local = reinterpret_cast<std::byte*>(at),
                                .remote = at,
                                .length = length,
                                .local_key = 1,
                                .remote_key = 2});
  }
  job->bytes = descriptors * length;
  return job;
}

NullBench::SliceCost NullBench::measure_slices(std::uint64_t slices) {
  const auto job = make_job(1, (kWarmUpSlices + 2 * slices) * kSliceBytes);
  send(executor::StartJob{job.get(), nullptr});
  move(*job, kWarmUpSlices * kSliceBytes);

  const std::uint64_t before = job->landed;
  const Counts counts = counts_so_far();
  const Instant begin = read_monotonic_clock();
  move(*job, before + slices * kSliceBytes);
  const double ns = ns_since(begin);
  const Counts after = counts_so_far();

  SliceCost cost;
  cost.slices = (job->landed - before) / kSliceBytes;
  const auto per_slice = [&cost](auto value) {
    return static_cast<double>(value) / static_cast<double>(cost.slices);
  };
  cost.ns = per_slice(ns);
  cost.allocations = per_slice(after.allocations - counts.allocations);
  cost.locks = per_slice(after.locks - counts.locks);
  const std::uint64_t finished = finished_;
  send(executor::CancelJob{job.get(), Cause::kCancelled, nullptr});
  while (finished_ == finished) cycle();
  return cost;
}

NullBench::DescriptorCost NullBench::measure_descriptors(std::uint32_t descriptors) {
  const std::uint64_t finished = finished_;
  const auto job = make_job(descriptors, kPage);
  Instant begin = read_monotonic_clock();
  send(executor::StartJob{job.get(), nullptr});
  cycle();  // takes the command, and binds the first slices
  DescriptorCost cost;
  cost.start_ns = ns_since(begin) / descriptors;
  begin = read_monotonic_clock();
  while (finished_ == finished) cycle();
  cost.move_ns = ns_since(begin) / descriptors;
  return cost;
}

double null_rail_ns(std::uint64_t attempts) {
  constexpr std::size_t kBatch = 256;
  NullDriver driver(kBatch);
  const std::vector<Attempt> batch(kBatch);
  BoundedVector<RailEvent> events(kBatch);
  std::uint64_t count = 0;
  const Instant begin = read_monotonic_clock();
  while (count < attempts) {
    (void)driver.post(0, batch);
    count += driver.poll(begin, events);
    events.clear();
  }
  return ns_since(begin) / static_cast<double>(count);
}

}  // namespace spindrift::perf
