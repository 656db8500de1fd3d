// A peer that this engine opened: the session as its initiator, the connections
// that carry it, and what waits for the peer's answer. Control thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/connection_pairs.h"
#include "control/context.h"
#include "control/live_session.h"
#include "control/look_ups.h"
#include "control/outbound_link.h"

namespace spindrift::control {

class OutboundPeer : public LiveSession::Handler, public OutboundLink::Owner {
 public:
  // `restarted` is called when another incarnation answered, before the event.
  OutboundPeer(Context& context, PeerSlot slot, std::function<void(const Status&)> restarted);
  ~OutboundPeer() override;

  // Adds addresses, and the name if there was none, and begins to connect.
  void open(const std::string& name, const std::vector<std::string>& addresses);
  void look_up(const std::string& segment, Instant deadline, LookUps::Done done);
  void send_fence(const FenceRequest& request);
  void refuse(Status why);  // never connects; look-ups fail with it
  void shut_down(const Status& why);

  // Null: never connected.
  const Established* established() const { return live_ ? &established_ : nullptr; }
  bool connected() const { return live_ && live_->connections() > 0; }

 private:
  struct PairLink {
    EndpointPair pair;
    std::unique_ptr<OutboundLink> link;
  };

  void on_message(const SessionMessage& message) override;
  void on_connection_lost(ConnectionId connection, const Status& why) override;

  Dial::Target next_target(OutboundLink& link) override;
  std::string expected_name(const OutboundLink& link) const override;
  Channel channel() const override { return slot_; }
  void link_up(OutboundLink& link, std::shared_ptr<FramedStream> stream,
               const Established& established) override;
  void link_failed(OutboundLink& link, const Status& why) override;

  void begin_session(OutboundLink& link, const Established& established);
  void make_pair_links();
  void resume();
  void on_fenced(const FenceReply& reply);
  void send_waiting_fences();
  void on_goodbye(const Goodbye& goodbye);
  void gone(const Status& why);
  OutboundLink* find_link(ConnectionId connection);
  std::string display_name() const;
  Status unreachable() const;

  Context& context_;
  const PeerSlot slot_;
  std::function<void(const Status&)> restarted_;

  std::string name_;  // as configured; may be empty
  std::vector<SocketAddress> addresses_;
  std::size_t next_address_ = 0;
  std::size_t failed_in_row_ = 0;
  std::size_t refused_in_row_ = 0;  // of them, by the kernel: nobody listens there
  bool told_gone_ = false;          // since the last connection
  Status last_error_;
  bool refused_ = false;

  std::unique_ptr<OutboundLink> primary_;  // over the configured addresses
  std::vector<PairLink> pair_links_;

  std::unique_ptr<LiveSession> live_;
  Established established_;
  bool said_goodbye_ = false;  // this incarnation of the peer
  LookUps look_ups_;
  // Unanswered, by lane; the caller has one at a time for each of its lanes.
  struct Fence {
    FenceRequest request;
    bool sent = false;
  };
  std::map<std::uint32_t, Fence> fences_;
};

}  // namespace spindrift::control
