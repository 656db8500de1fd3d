// A real Worker over null rails, and what is measured of it. Single-threaded:
// the caller's thread is the worker's. Time is virtual, a tenth of a microsecond
// per attempt of a full cycle, so that every run takes the same decisions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "executor/worker.h"
#include "null_driver.h"

namespace spindrift::perf {

class NullBench final : public executor::WorkerPorts {
 public:
  explicit NullBench(std::uint32_t rails);

  // Moves `slices` slices of 64 KiB of one transfer, after warming up with as
  // many as it takes for windows and rates to settle.
  struct SliceCost {
    double ns = 0;  // per slice
    double allocations = 0;
    double locks = 0;
    std::uint64_t slices = 0;
  };
  SliceCost measure_slices(std::uint64_t slices);

  // Starts a transfer of that many descriptors of 4 KiB, then moves it.
  // Nanoseconds per descriptor.
  struct DescriptorCost {
    double start_ns = 0;  // what the executor does before the first slice is posted
    double move_ns = 0;
  };
  DescriptorCost measure_descriptors(std::uint32_t descriptors);

  // WorkerPorts
  void connect_lane(executor::PeerIndex, RailOrdinal, const executor::LaneAction& lane) override {
    opened_.push_back(lane);
  }
  void fence_peer(executor::PeerIndex, LaneIndex, Generation) override {}
  void inbound_fenced(rails::InboundLaneId, Generation, const rails::InboundFenceReport&) override {
  }
  void finished(executor::Job*) override { ++finished_; }

 private:
  void send(executor::Command command);
  void cycle();
  void move(const executor::Job& job, std::uint64_t landed);
  std::unique_ptr<executor::Job> make_job(std::uint32_t descriptors, std::uint64_t length);

  std::shared_ptr<const planner::Plan> plan_;
  executor::Worker worker_;
  std::vector<executor::LaneAction> opened_;
  Instant now_{std::chrono::seconds(1)};
  std::uint64_t next_id_ = 1;
  std::uint64_t finished_ = 0;
};

// What the null rail itself costs per attempt: posted and polled.
double null_rail_ns(std::uint64_t attempts);

}  // namespace spindrift::perf
