#include "api/worker_seat.h"

#include "base/check.h"
#include "base/log.h"
#include "rails/tcp/tcp_driver.h"

namespace spindrift {

Status Engine::Core::WorkerSeat::add_drivers(const config::NodeConfig& config) {
  if (!config.tcp.enabled) return {};
  auto tcp = std::make_unique<rails::tcp::TcpDriver>(config.tcp, &worker.regions());
  if (Status status = tcp->ready(); !status.ok()) return status;
  tcp_capabilities = tcp->capabilities();
  worker.add_driver(std::move(tcp));
  return {};
}

std::shared_ptr<api::Peer> Engine::Core::WorkerSeat::peer_at(executor::PeerIndex peer) {
  std::lock_guard lock(mutex);
  SPINDRIFT_CHECK(peer < by_index.size());
  return by_index[peer];
}

void Engine::Core::WorkerSeat::connect_lane(executor::PeerIndex peer, RailOrdinal ordinal,
                                            const executor::LaneAction& lane) {
  const std::shared_ptr<api::Peer> to = peer_at(peer);
  const api::PeerRail rail = to->rail(ordinal);
  core.control_->connect_lane({.peer = to->slot(),
                               .worker = index,
                               .lane_key = lane_key_of(index, lane.lane),
                               .generation = lane.generation,
                               .first_seq = lane.first_seq,
                               .direction = worker.executor().lane(lane.lane).direction,
                               .local_endpoint = rail.local_endpoint,
                               .remote_endpoint = rail.remote_endpoint});
}

void Engine::Core::WorkerSeat::fence_peer(executor::PeerIndex peer, LaneIndex lane,
                                          Generation min_generation) {
  core.control_->send_fence(peer_at(peer)->slot(), {.lane_key = lane_key_of(index, lane),
                                                    .min_generation = min_generation});
}

void Engine::Core::WorkerSeat::inbound_fenced(rails::InboundLaneId lane, Generation min_generation,
                                              const rails::InboundFenceReport& report) {
  core.control_->answer_fence(lane.peer, {.lane_key = lane.lane_key,
                                          .min_generation = min_generation,
                                          .settled_end = report.settled_end,
                                          .refused = report.refused});
}

// One line per change of mind; what a storm of them swallows, the next one counts.
void Engine::Core::WorkerSeat::health_changed(executor::PeerIndex peer, RailOrdinal ordinal,
                                              Operation direction,
                                              const executor::HealthChange& change) {
  static LogLimiter limiter(20);
  const bool bad = change.to == health::HealthState::kQuarantined &&
                   change.from != health::HealthState::kProbing;
  const LogLevel level = bad ? LogLevel::kWarn : LogLevel::kInfo;
  if (!log_enabled(level)) return;
  const std::shared_ptr<api::Peer> to = peer_at(peer);
  std::string text = "rail " + to->rail(ordinal).name + " to peer " + to->view().name +
                     (direction == Operation::kWrite ? ", writes: " : ", reads: ") +
                     health::to_string(change.from) + " -> " + health::to_string(change.to);
  if (change.cause != Cause::kNone) text += std::string(": ") + to_string(change.cause);
  if (bad && change.level > 1) {
    text += "; failed " + std::to_string(change.level) + " times of late";
  }
  limiter.log(level, std::move(text));
}

}  // namespace spindrift
