// One worker of an engine with its thread, and the switchboard for what it asks
// of the others (executor/worker.h, WorkerPorts). Internal to the core.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "api/core.h"

namespace spindrift {

// The initiator's name for a lane on the wire: its worker and its place there.
inline constexpr unsigned kLaneKeyLaneBits = 24;
constexpr std::uint32_t lane_key_of(std::uint32_t worker, LaneIndex lane) {
  return worker << kLaneKeyLaneBits | lane;
}
constexpr std::uint32_t worker_of_key(std::uint32_t key) {
  return key >> kLaneKeyLaneBits;
}
constexpr LaneIndex lane_of_key(std::uint32_t key) {
  return key & ((1u << kLaneKeyLaneBits) - 1);
}

struct Engine::Core::WorkerSeat final : executor::WorkerPorts {
  WorkerSeat(Core& c, std::uint32_t i, std::uint64_t seed)
      : core(c), index(i), worker(c.config_.executor, c.config_.workers, seed, *this) {}

  void connect_lane(executor::PeerIndex peer, RailOrdinal rail,
                    const executor::LaneAction& lane) override;
  void fence_peer(executor::PeerIndex peer, LaneIndex lane, Generation min_generation) override;
  void inbound_fenced(rails::InboundLaneId lane, Generation min_generation,
                      const rails::InboundFenceReport& report) override;
  void finished(executor::Job* job) override { core.finished(job); }
  void health_changed(executor::PeerIndex peer, RailOrdinal rail, Operation direction,
                      const executor::HealthChange& change) override;

  Status add_drivers(const config::NodeConfig& config);
  std::shared_ptr<api::Peer> peer_at(executor::PeerIndex peer);

  Core& core;
  const std::uint32_t index;
  executor::Worker worker;
  std::unique_ptr<executor::Runner> runner;
  RailCapabilities tcp_capabilities;

  std::mutex mutex;
  std::vector<std::shared_ptr<api::Peer>> by_index;  // the peers that have this home
  LaneIndex next_lane = 0;

  std::uint32_t places_taken = 0;  // under running_mutex_
};

}  // namespace spindrift
