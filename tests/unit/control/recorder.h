// Test's end of ControlEvents: notes what happened and lets a test wait for it,
// bounded. Answers fences and adopts lanes by itself when asked to.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/lane_answer.h"
#include "control/control_plane.h"

namespace spindrift::control {

class Recorder : public ControlEvents {
 public:
  struct Seen {
    std::vector<std::pair<PeerSlot, RemotePeer>> connected;
    std::vector<std::pair<PeerSlot, Status>> lost;
    std::vector<std::pair<PeerSlot, Status>> gone;
    std::vector<std::pair<LaneRequest, Status>> lane_failed;
    std::vector<FenceReply> fenced;
    std::vector<std::pair<std::string, bool>> links;
    std::vector<std::pair<InboundSession, RemotePeer>> opened;
    std::vector<InboundSession> closed;
    std::vector<std::pair<InboundSession, FenceRequest>> fences;
    std::vector<std::pair<LaneRequest, FileDescriptor>> lanes_made;
    std::vector<AcceptedLane> lanes_accepted;
  };

  // Set before the plane starts.
  bool adopt = true;
  LaneAnswer answer = LaneAnswer::kAdopted;
  std::function<void(InboundSession, const FenceRequest&)> on_fence;

  template <typename Predicate>
  bool wait_for(Predicate predicate) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return predicate(seen_); });
  }
  template <typename Read>
  decltype(auto) read(Read get) {
    std::lock_guard lock(mutex_);
    return get(seen_);
  }

  void peer_connected(PeerSlot peer, const RemotePeer& remote) override {
    note([&](Seen& s) { s.connected.emplace_back(peer, remote); });
  }
  void peer_lost(PeerSlot peer, const Status& why) override {
    note([&](Seen& s) { s.lost.emplace_back(peer, why); });
  }
  void peer_gone(PeerSlot peer, const Status& why) override {
    note([&](Seen& s) { s.gone.emplace_back(peer, why); });
  }
  void lane_connected(const LaneRequest& lane, FileDescriptor socket) override {
    note([&](Seen& s) { s.lanes_made.emplace_back(lane, std::move(socket)); });
  }
  void lane_failed(const LaneRequest& lane, const Status& why) override {
    note([&](Seen& s) { s.lane_failed.emplace_back(lane, why); });
  }
  void fenced(PeerSlot, const FenceReply& reply) override {
    note([&](Seen& s) { s.fenced.push_back(reply); });
  }
  void link_changed(const std::string& device, bool up) override {
    note([&](Seen& s) { s.links.emplace_back(device, up); });
  }
  void session_opened(InboundSession session, const RemotePeer& remote) override {
    note([&](Seen& s) { s.opened.emplace_back(session, remote); });
  }
  void session_closed(InboundSession session) override {
    note([&](Seen& s) { s.closed.push_back(session); });
  }
  void lane_accepted(AcceptedLane lane) override {
    // Noted before it is answered: who sees the answer finds it here.
    const int socket = lane.socket.get();
    note([&](Seen& s) { s.lanes_accepted.push_back(std::move(lane)); });
    if (!adopt) return;
    const auto bytes = encode_lane_answer(answer);
    static_cast<void>(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  void fence_requested(InboundSession session, const FenceRequest& request) override {
    note([&](Seen& s) { s.fences.emplace_back(session, request); });
    if (on_fence) on_fence(session, request);
  }

 private:
  template <typename Change>
  void note(Change change) {
    std::lock_guard lock(mutex_);
    change(seen_);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Seen seen_;
};

}  // namespace spindrift::control
