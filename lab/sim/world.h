// Simulated nodes and what joins them: each node is a real Worker over a
// SimDriver, joined by links for data and by SimControl for fences.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "executor/worker.h"
#include "lab/sim/ledger.h"
#include "lab/sim/sim_control.h"
#include "planner/planner.h"
#include "rails/sim/event_queue.h"
#include "rails/sim/sim_driver.h"

namespace spindrift::lab::sim {

struct WorldOptions {
  std::uint32_t nodes = 2;
  std::vector<rails::sim::LinkOptions> rails;  // between each two nodes
  ControlFaults control;
  std::uint32_t connect_fail_per_mille = 0;
  std::uint32_t fence_again_per_mille = 0;  // a FENCE is handled a second time, later
  Duration hello_late_max{0};               // now and then a hello waits this long on its way
  Duration blackout_max{0};                 // now and then a node does not run for this long
  std::size_t cells = 64;                   // memory of a node
  executor::ExecutorOptions executor;
};

class World {
 public:
  World(const WorldOptions& options, std::uint64_t seed);
  ~World();

  rails::sim::EventQueue& queue() { return queue_; }
  Ledger& ledger() { return ledger_; }
  Prng& prng() { return prng_; }
  std::size_t nodes() const { return nodes_.size(); }
  Arena& arena(std::size_t node);
  // Rails from one node to another as its planner sees them.
  std::vector<planner::RailCandidate> candidates(std::size_t from, std::size_t to) const;
  rails::RegionKey key(std::size_t node, bool read_only) const;

  // The world owns jobs until its end, so that late attempts can be told from
  // those of their successors.
  executor::Job& own(std::unique_ptr<executor::Job> job);
  void submit(std::size_t node, executor::Job& job);
  void cancel(std::size_t node, executor::Job& job);
  void change_regions(std::size_t node, std::function<void(rails::RegionTable&)> change);
  void heal();

  executor::PeerIndex peer_index(std::size_t from, std::size_t to) const;
  const std::vector<std::unique_ptr<executor::Job>>& jobs() const { return jobs_; }
  std::uint64_t fences() const;
  void check_bounds();
  // Once all transfers have ended.
  void check_at_rest();

 private:
  struct Node;

  SimControl& control(std::size_t from, std::size_t to);
  void wake(Node& node);
  void step(Node& node);
  void connect(Node& from, executor::PeerIndex peer, const executor::LaneAction& action);
  void adopted(Node& responder, rails::InboundLaneId id, Generation generation, bool ok);
  void send(Node& node, executor::Command command);
  void fence_inbound(std::size_t from, std::size_t to, const control::FenceRequest& request);
  std::size_t other(std::size_t node, executor::PeerIndex peer) const;
  std::string device(std::size_t node, std::size_t peer, std::size_t rail) const;

  const WorldOptions options_;
  Prng prng_;
  rails::sim::EventQueue queue_;
  Ledger ledger_;
  rails::sim::SimNetwork network_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<SimControl>> controls_;
  std::vector<std::unique_ptr<executor::Job>> jobs_;
};

}  // namespace spindrift::lab::sim
