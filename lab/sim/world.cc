#include "lab/sim/world.h"

#include <algorithm>

#include "base/check.h"

namespace spindrift::lab::sim {

namespace {
constexpr std::size_t kCyclesPerStep = 10'000;  // far more than any bound allows
}  // namespace

struct World::Node final : executor::WorkerPorts {
  Node(World& w, std::size_t i, std::uint64_t seed)
      : world(w),
        index(i),
        arena(w.options_.cells),
        worker(w.options_.executor, executor::WorkerOptions{.inbox_capacity = 1024}, seed, *this) {
    auto made = std::make_unique<rails::sim::SimDriver>(w.network_, worker.regions(),
                                                        [this] { world.wake(*this); });
    driver = made.get();
    driver->on_adopted([this](rails::InboundLaneId id, Generation generation, bool ok) {
      world.adopted(*this, id, generation, ok);
    });
    worker.add_driver(std::move(made));
  }

  void connect_lane(executor::PeerIndex peer, RailOrdinal,
                    const executor::LaneAction& action) override {
    world.connect(*this, peer, action);
  }
  void fence_peer(executor::PeerIndex peer, LaneIndex lane, Generation min_generation) override {
    world.control(index, world.other(index, peer))
        .send(control::FenceRequest{.lane_key = lane, .min_generation = min_generation});
  }
  void inbound_fenced(rails::InboundLaneId lane, Generation min_generation,
                      const rails::InboundFenceReport& report) override {
    world.control(lane.peer, index)
        .send(control::FenceReply{.lane_key = lane.lane_key,
                                  .min_generation = min_generation,
                                  .settled_end = report.settled_end,
                                  .refused = report.refused});
  }
  void health_changed(executor::PeerIndex peer, RailOrdinal rail, Operation direction,
                      const executor::HealthChange& change) override {
    (void)direction;
    world.ledger_.note(5, peer * 64 + rail, static_cast<std::uint64_t>(change.to));
  }
  void finished(executor::Job* job) override { world.ledger_.ended(*job, world.queue_.now()); }

  World& world;
  const std::size_t index;
  Arena arena;
  executor::Worker worker;
  rails::sim::SimDriver* driver = nullptr;
  Instant step_at = kNever;
};

World::World(const WorldOptions& options, std::uint64_t seed)
    : options_(options), prng_(seed), network_(queue_, seed ^ 0x6e6574, ledger_) {
  for (std::size_t i = 0; i < options_.nodes; ++i) {
    nodes_.push_back(std::make_unique<Node>(*this, i, seed + i));
    Node& node = *nodes_.back();
    ledger_.add_arena(node.arena);
    node.worker.regions().put({.key = key(i, false),
                               .base = node.arena.base(),
                               .length = node.arena.size(),
                               .rights = Rights::kRemoteReadWrite});
    node.worker.regions().put({.key = key(i, true),
                               .base = node.arena.base(),
                               .length = node.arena.size(),
                               .rights = Rights::kRemoteRead});
  }
  for (std::size_t a = 0; a < options_.nodes; ++a) {
    for (std::size_t b = 0; b < options_.nodes; ++b) {
      if (a == b) continue;
      for (std::size_t r = 0; a < b && r < options_.rails.size(); ++r) {
        network_.add_link(device(a, b, r), device(b, a, r), options_.rails[r]);
      }
      auto made = std::make_unique<SimControl>(queue_, prng_, options_.control);
      made->on_request = [this, a, b](const control::FenceRequest& request) {
        fence_inbound(a, b, request);
        // Fences are idempotent, so one may be asked for again, and the answer
        // come in the middle of the lane's next fence.
        if (!prng_.chance(options_.fence_again_per_mille)) return;
        const auto later =
            std::chrono::microseconds(static_cast<std::int64_t>(prng_.below(500'000)));
        queue_.schedule(queue_.now() + later,
                        [this, a, b, request] { fence_inbound(a, b, request); });
      };
      made->on_reply = [this, a](const control::FenceReply& reply) {
        send(*nodes_[a],
             executor::RemoteFenced{
                 reply.lane_key, reply.min_generation, {reply.settled_end, reply.refused}});
      };
      made->on_error = [this](const std::string& text) { ledger_.violation("control: " + text); };
      controls_[{a, b}] = std::move(made);
    }
  }
  for (std::size_t a = 0; a < options_.nodes; ++a) {
    for (std::size_t b = 0; b < options_.nodes; ++b) {
      if (a == b) continue;
      executor::AddPeer command;
      for (const planner::RailCandidate& rail : candidates(a, b)) {
        command.rails.push_back({rail.facts, rail.capabilities});
      }
      send(*nodes_[a], std::move(command));
    }
  }
}

World::~World() = default;

std::string World::device(std::size_t node, std::size_t peer, std::size_t rail) const {
  return "n" + std::to_string(node) + "." + std::to_string(peer) + "." + std::to_string(rail);
}

Arena& World::arena(std::size_t node) {
  return nodes_[node]->arena;
}

std::vector<planner::RailCandidate> World::candidates(std::size_t from, std::size_t to) const {
  std::vector<planner::RailCandidate> rails;
  for (std::size_t r = 0; r < options_.rails.size(); ++r) {
    planner::RailCandidate& rail = rails.emplace_back();
    rail.facts.transport = Transport::kSim;
    rail.facts.local_device = device(from, to, r);
    rail.facts.remote_device = device(to, from, r);
    rail.capabilities = nodes_[from]->driver->capabilities();
  }
  return rails;
}

rails::RegionKey World::key(std::size_t node, bool read_only) const {
  return rails::make_region_key(read_only ? 2 : 1, static_cast<std::uint32_t>(node + 1));
}

// Peers are added in the order of their index, without the node itself.
executor::PeerIndex World::peer_index(std::size_t from, std::size_t to) const {
  return static_cast<executor::PeerIndex>(to < from ? to : to - 1);
}

std::size_t World::other(std::size_t node, executor::PeerIndex peer) const {
  return peer < node ? peer : peer + 1;
}

SimControl& World::control(std::size_t from, std::size_t to) {
  return *controls_.at({from, to});
}

executor::Job& World::own(std::unique_ptr<executor::Job> job) {
  jobs_.push_back(std::move(job));
  return *jobs_.back();
}

void World::send(Node& node, executor::Command command) {
  SPINDRIFT_CHECK(node.worker.send(command));
  wake(node);
}

void World::fence_inbound(std::size_t from, std::size_t to, const control::FenceRequest& request) {
  send(*nodes_[to], executor::FenceInbound{{static_cast<std::uint32_t>(from), request.lane_key},
                                           request.min_generation});
}

void World::submit(std::size_t node, executor::Job& job) {
  const std::size_t to = other(node, job.peer);
  ledger_.started(job, nodes_[node]->arena, nodes_[to]->arena);
  send(*nodes_[node], executor::StartJob{&job, nullptr});
}

void World::cancel(std::size_t node, executor::Job& job) {
  send(*nodes_[node], executor::CancelJob{&job, Cause::kCancelled, nullptr});
}

void World::change_regions(std::size_t node, std::function<void(rails::RegionTable&)> change) {
  send(*nodes_[node], executor::ChangeRegions{std::move(change), [] {}});
}

void World::heal() {
  for (auto& [ends, control] : controls_) control->heal();
}

// A node runs when it has a reason to, a little later than at once, and now and
// then much later, as under a busy scheduler.
void World::wake(Node& node) {
  Duration delay = std::chrono::microseconds(static_cast<std::int64_t>(prng_.below(50)));
  if (options_.blackout_max.count() > 0 && prng_.chance(2)) {
    delay = Duration(static_cast<std::int64_t>(
        prng_.below(static_cast<std::uint64_t>(options_.blackout_max.count()))));
  }
  const Instant at = queue_.now() + delay;
  if (node.step_at <= at) return;
  node.step_at = at;
  queue_.schedule(at, [this, &node, at] {
    if (node.step_at == at) step(node);
  });
}

void World::step(Node& node) {
  node.step_at = kNever;
  std::size_t cycles = 0;
  while (node.worker.do_work(queue_.now()) > 0) {
    if (++cycles > kCyclesPerStep) {
      ledger_.violation("a worker spins without getting anywhere");
      return;
    }
  }
  check_bounds();
  const Instant next = node.worker.next_deadline();
  if (next == kNever || node.step_at <= next) return;
  node.step_at = next;
  queue_.schedule(next, [this, &node, next] {
    if (node.step_at == next) step(node);
  });
}

// A hello on its way to the peer; it may fail, and it may be very late.
void World::connect(Node& from, executor::PeerIndex peer, const executor::LaneAction& action) {
  Node& to = *nodes_[other(from.index, peer)];
  Duration delay = std::chrono::microseconds(static_cast<std::int64_t>(prng_.below(500)));
  if (prng_.chance(options_.connect_fail_per_mille)) {
    queue_.schedule(queue_.now() + delay, [this, &from, action] {
      send(from, executor::LaneFailed{action.lane, action.generation, Cause::kConnectFailed});
    });
    return;
  }
  if (options_.hello_late_max.count() > 0 && prng_.chance(50)) {
    delay = Duration(static_cast<std::int64_t>(
        prng_.below(static_cast<std::uint64_t>(options_.hello_late_max.count()))));
  }
  const Operation direction = from.worker.executor().lane(action.lane).direction;
  queue_.schedule(queue_.now() + delay, [this, &from, &to, action, direction] {
    executor::AdoptLane command{.transport = Transport::kSim};
    command.lane.id = {static_cast<std::uint32_t>(from.index), action.lane};
    command.lane.generation = action.generation;
    command.lane.direction = direction;
    command.lane.first_seq = action.first_seq;
    command.lane.endpoint = to.driver->responder_endpoint(*from.driver, action.lane);
    send(to, std::move(command));
  });
}

void World::adopted(Node& responder, rails::InboundLaneId id, Generation generation, bool ok) {
  Node& initiator = *nodes_[id.peer];
  const Duration delay = std::chrono::microseconds(static_cast<std::int64_t>(prng_.below(500)));
  queue_.schedule(queue_.now() + delay, [this, &initiator, &responder, id, generation, ok] {
    if (ok) {
      send(initiator,
           executor::LaneConnected{id.lane_key, generation,
                                   initiator.driver->initiator_endpoint(*responder.driver, id)});
    } else {
      send(initiator, executor::LaneFailed{id.lane_key, generation, Cause::kStaleGeneration});
    }
  });
}

std::uint64_t World::fences() const {
  std::uint64_t sum = 0;
  for (const auto& node : nodes_) {
    const executor::Executor& executor = node->worker.executor();
    for (LaneIndex i = 0; i < executor.lane_count(); ++i) sum += executor.lane(i).fences_total;
  }
  return sum;
}

// Nothing is left of what is over.
void World::check_at_rest() {
  for (const auto& node : nodes_) {
    const executor::Executor& executor = node->worker.executor();
    if (executor.running() > 0) ledger_.violation("a worker still counts transfers that ended");
    if (executor.slices_outstanding() > 0) ledger_.violation("slices are left of no transfer");
  }
  for (const auto& [ends, control] : controls_) {
    if (control->undelivered() > 0) ledger_.violation("control messages never arrived");
  }
}

// Invariant 5: what is in flight is bounded by configuration.
void World::check_bounds() {
  for (const auto& node : nodes_) {
    const executor::Executor& executor = node->worker.executor();
    if (executor.slices_outstanding() > options_.executor.slices_max) {
      ledger_.violation("more slices than slices_max");
    }
    for (LaneIndex i = 0; i < executor.lane_count(); ++i) {
      const executor::Lane& lane = executor.lane(i);
      if (lane.next - lane.head > lane.attempts.size())
        ledger_.violation("a lane's ring is overfull");
      const bool idle = lane.head == lane.next;
      if (idle != (lane.outstanding == 0)) ledger_.violation("a lane's bytes do not add up");
    }
  }
}

}  // namespace spindrift::lab::sim
