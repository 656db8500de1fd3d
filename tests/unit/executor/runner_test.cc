#include "executor/runner.h"

#include <future>

#include <catch2/catch.hpp>

namespace spindrift::executor {
namespace {

struct NoPorts final : WorkerPorts {
  void connect_lane(PeerIndex, RailOrdinal, const LaneAction&) override {}
  void fence_peer(PeerIndex, LaneIndex, Generation) override {}
  void inbound_fenced(rails::InboundLaneId, Generation, const rails::InboundFenceReport&) override {
  }
  void finished(Job*) override {}
};

// Returns once the worker's thread has handled a command that was sent to it.
void round_trip(Worker& worker) {
  std::promise<void> handled;
  Command command = ChangeRegions{[](rails::RegionTable&) {}, [&] { handled.set_value(); }};
  REQUIRE(worker.send(command));
  handled.get_future().get();
}

TEST_CASE("A command wakes a worker that sleeps, and stopping ends its thread") {
  for (const Duration spin : {Duration(0), Duration(std::chrono::microseconds(50))}) {
    NoPorts ports;
    Worker worker({.lanes_max = 2, .transfers_max = 2, .slices_max = 2}, {.inbox_capacity = 8}, 1,
                  ports);
    REQUIRE(worker.open().ok());
    Runner runner(worker, spin, -1);
    REQUIRE(runner.start().ok());
    for (int i = 0; i < 100; ++i) round_trip(worker);
    runner.stop();
    runner.stop();
  }
}

TEST_CASE("A runner that was never started, or that is destroyed at once, ends quietly") {
  NoPorts ports;
  Worker worker({.lanes_max = 2, .transfers_max = 2, .slices_max = 2}, {}, 1, ports);
  REQUIRE(worker.open().ok());
  { Runner runner(worker, Duration(0), -1); }
  Runner runner(worker, Duration(0), -1);
  REQUIRE(runner.start().ok());
}

}  // namespace
}  // namespace spindrift::executor
