// The one thread of the control plane and what runs on it. See control_plane.h
// for what it is; this is its wiring.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "control/context.h"
#include "control/control_plane.h"
#include "control/directory.h"
#include "control/inbound.h"
#include "control/lane_connector.h"
#include "control/link_watch.h"
#include "control/listener.h"
#include "control/outbound_peer.h"
#include "control/sockets.h"

namespace spindrift::control {

class ControlPlane::Shell {
 public:
  Shell(std::unique_ptr<Reactor> reactor, ControlEvents& events, const ControlOptions& options,
        LocalIdentity identity, std::uint64_t jitter_seed);
  ~Shell();

  Status listen(PortRange data_ports);  // before start()
  void start();
  void stop();  // idempotent, any thread but the control thread

  // Runs `task` on the control thread; false after stop().
  bool post(std::function<void()> task);

  PeerSlot open_peer(const std::string& name, const std::vector<std::string>& addresses);
  void look_up(PeerSlot peer, const std::string& segment, Duration timeout,
               const LookUps::Done& done);

  // Control thread only.
  OutboundPeer* find_peer(PeerSlot slot);
  Directory& directory() { return directory_; }
  Inbound& inbound() { return inbound_; }
  LaneConnector& lanes() { return lanes_; }
  Context& context() { return context_; }

  // Constant once listen() has returned.
  const std::string& address() const { return address_; }
  const std::vector<DataEndpoint>& endpoints() const {
    return context_.handshake.identity.endpoints;
  }

 private:
  Status listen_for_control();
  Status listen_for_data(DataEndpoint& endpoint, PortRange ports);
  Status watch_links();
  Status add_listener(FileDescriptor socket);
  std::string host_to_tell(const SocketAddress& bound) const;
  void open_on_thread(PeerSlot slot, const std::string& name,
                      const std::vector<std::string>& addresses);
  void shut_down();

  std::unique_ptr<Reactor> reactor_;
  Context context_;
  std::string address_;

  // Control thread only.
  Directory directory_;
  Inbound inbound_;
  LaneConnector lanes_;
  std::vector<std::unique_ptr<OutboundPeer>> peers_;  // by slot
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::unique_ptr<LinkWatch> links_;

  // Any thread, under the mutex.
  std::mutex mutex_;
  bool stopped_ = false;
  std::map<std::string, PeerSlot> slot_by_name_;
  std::map<std::string, PeerSlot> slot_by_address_;
  PeerSlot next_slot_ = 0;

  std::thread thread_;
};

}  // namespace spindrift::control
