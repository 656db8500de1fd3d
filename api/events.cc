// What the control plane tells, on its thread, and whom it concerns.
#include <algorithm>

#include "api/core.h"
#include "api/worker_seat.h"
#include "base/log.h"

namespace spindrift {

void Engine::Core::peer_connected(control::PeerSlot slot, const control::RemotePeer& remote) {
  await_started();
  api::Peer& to = peer(slot);
  const bool same_host = !remote.host_id.empty() && remote.host_id == host_id_;
  std::vector<api::PeerRail> rails = api::pair_endpoints(control_->endpoints(), remote.endpoints);
  const executor::PeerIndex old_index = to.index();
  const bool known = to.first_lane() != kNoLane;
  const api::Peer::Change change = to.connected(
      remote, std::move(rails), seats_[to.worker()]->tcp_capabilities, same_host, ++last_epoch_);
  if (change == api::Peer::Change::kSame) {
    if (known) send(to.worker(), executor::PeerBack{old_index});
    return;
  }
  if (known) {
    // The process that had the old incarnation is gone, and all that it could
    // still have placed with it.
    send(to.worker(), executor::PeerGone{old_index, Cause::kPeerRestarted, to.view().epoch});
  }
  if (change == api::Peer::Change::kNewRails) add_to_worker(to);
}

void Engine::Core::add_to_worker(api::Peer& to) {
  WorkerSeat& seat = *seats_[to.worker()];
  executor::AddPeer command;
  for (const api::PeerRail& rail : to.rails()) {
    command.rails.push_back({rail.facts, seat.tcp_capabilities});
  }
  const std::size_t lanes = 2 * command.rails.size();
  std::unique_lock lock(seat.mutex);
  if (seat.next_lane + lanes > config_.executor.lanes_max) {
    to.refused(Status(Code::kBusy,
                      {.what = "peer " + to.view().name + " cannot be used",
                       .why = "its worker has " + std::to_string(seat.next_lane) + " lanes already",
                       .hint = "raise executor.lanes_max or workers.count"}));
    return;
  }
  const auto index = static_cast<executor::PeerIndex>(seat.by_index.size());
  const LaneIndex first = seat.next_lane;
  {
    std::lock_guard peers_lock(peers_mutex_);
    seat.by_index.push_back(peers_[to.slot()]);
  }
  seat.next_lane += static_cast<LaneIndex>(lanes);
  // Not under the lock, which the worker takes as well. Peers still arrive in the
  // order of their numbers: only the control thread comes here.
  lock.unlock();
  command.epoch = to.view().epoch;
  send(to.worker(), std::move(command));
  to.set_index(index, first);
}

void Engine::Core::peer_lost(control::PeerSlot slot, const Status& why) {
  await_started();
  peer(slot).lost(why);
  log_line(LogLevel::kInfo, "peer lost: " + why.to_string());
}

void Engine::Core::peer_gone(control::PeerSlot slot, const Status& why) {
  await_started();
  api::Peer& to = peer(slot);
  to.lost(why);
  if (to.first_lane() == kNoLane) return;
  const api::PeerView view = to.view();
  send(to.worker(), executor::PeerGone{view.index, Cause::kPeerGone, view.epoch});
}

void Engine::Core::lane_connected(const control::LaneRequest& lane, FileDescriptor socket) {
  peer(lane.peer).lane_result(lane_of_key(lane.lane_key), "");
  executor::LaneConnected command{.lane = lane_of_key(lane.lane_key),
                                  .generation = lane.generation};
  command.endpoint.socket = std::move(socket);
  send(lane.worker, std::move(command));
}

void Engine::Core::lane_failed(const control::LaneRequest& lane, const Status& why) {
  api::Peer& to = peer(lane.peer);
  to.lane_result(lane_of_key(lane.lane_key),
                 why.detail().why.empty() ? why.to_string() : why.detail().why);
  static LogLimiter limiter(5);
  limiter.log(LogLevel::kInfo, "lane to peer " + to.view().name + " failed: " + why.to_string());
  send(lane.worker, executor::LaneFailed{.lane = lane_of_key(lane.lane_key),
                                         .generation = lane.generation,
                                         .cause = Cause::kConnectFailed});
}

void Engine::Core::fenced(control::PeerSlot, const control::FenceReply& reply) {
  const std::uint32_t worker = worker_of_key(reply.lane_key);
  if (worker >= seats_.size()) return;  // a peer's invention
  send(worker,
       executor::RemoteFenced{
           lane_of_key(reply.lane_key), reply.min_generation, {reply.settled_end, reply.refused}});
}

void Engine::Core::link_changed(const std::string& device, bool up) {
  await_started();
  // Hosts have many links, and those of containers come and go.
  const std::vector<control::DataEndpoint>& own = control_->endpoints();
  const bool ours = std::any_of(own.begin(), own.end(),
                                [&](const auto& endpoint) { return endpoint.device == device; });
  if (!ours) return;
  static LogLimiter limiter(5);
  limiter.log(LogLevel::kInfo, "link " + device + (up ? " is up" : " is down"));
  for (std::uint32_t i = 0; i < seats_.size(); ++i) send(i, executor::LinkChanged{device, up});
}

// --- as responder -----------------------------------------------------------------

// By the node's name, not by its session: what a session that is dropped, and the
// one after it, ask for goes through the same inbox, in order.
std::uint32_t Engine::Core::placing_worker(std::uint32_t name) const {
  return name % static_cast<std::uint32_t>(seats_.size());
}

void Engine::Core::session_opened(control::InboundSession session,
                                  const control::RemotePeer& remote) {
  await_started();
  std::lock_guard lock(peers_mutex_);
  session_names_[session] = names_.number(remote.name);
}

void Engine::Core::session_closed(control::InboundSession session) {
  await_started();
  std::lock_guard lock(peers_mutex_);
  const auto name = session_names_.find(session);
  if (name == session_names_.end()) return;
  send(placing_worker(name->second), executor::DropInbound{session});
  session_names_.erase(name);
}

void Engine::Core::lane_accepted(control::AcceptedLane lane) {
  await_started();
  if (!config_.tcp.enabled) return;  // its socket closes
  executor::AdoptLane command{.transport = Transport::kTcp};
  // Held until the command is sent, so that end_inbound() comes after it.
  std::lock_guard lock(peers_mutex_);
  const auto name = session_names_.find(lane.session);
  if (name == session_names_.end() || shutting_down_.load()) return;
  command.lane.rights_peer = name->second;
  command.lane.id = {lane.session, lane.lane_key};
  command.lane.generation = lane.generation;
  command.lane.direction = lane.direction;
  command.lane.first_seq = lane.first_seq;
  command.lane.endpoint.socket = std::move(lane.socket);
  send(placing_worker(name->second), std::move(command));
}

void Engine::Core::fence_requested(control::InboundSession session,
                                   const control::FenceRequest& request) {
  await_started();
  std::lock_guard lock(peers_mutex_);
  const auto name = session_names_.find(session);
  if (name == session_names_.end()) return;  // the engine stops, and says goodbye soon
  send(placing_worker(name->second),
       executor::FenceInbound{{session, request.lane_key}, request.min_generation});
}

}  // namespace spindrift
