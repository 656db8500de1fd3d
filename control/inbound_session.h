// One session that a peer opened to this engine. Control thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "control/context.h"
#include "control/directory.h"
#include "control/lane_hello.h"
#include "control/live_session.h"

namespace spindrift::control {

class InboundPeer : public LiveSession::Handler {
 public:
  // `ended` is called when the session is over (the initiator says goodbye, never
  // finishes its handshake, or floods us), from within the session: see
  // LiveSession::retire.
  InboundPeer(Context& context, Directory& directory, InboundSession id, std::string name,
              const Nonce& session_nonce, std::function<void()> ended);
  ~InboundPeer() override;

  void connected(std::shared_ptr<FramedStream> stream, const Established& established);
  void set_secret(const Digest& secret) { secret_ = secret; }
  // Closes everything; no event comes after.
  void end();
  void answer_fence(const FenceReply& reply);
  void say_goodbye();
  // True when the token is right and new. The lane is handed on, as soon as the
  // session has been announced.
  bool let_in(const LaneHelloBytes& bytes, const LaneHello& hello, FileDescriptor& socket);

  InboundSession id() const { return id_; }
  const std::string& name() const { return name_; }
  const Nonce& session_nonce() const { return session_nonce_; }
  bool opened() const { return opened_; }
  bool connected() const { return live_->connections() > 0; }
  // When the last connection went; for eviction.
  Instant disconnected_at() const { return disconnected_at_; }

 private:
  void on_message(const SessionMessage& message) override;
  void on_connection_lost(ConnectionId connection, const Status& why) override;
  void answer(const LookUp& request);
  void send_parked();

  Context& context_;
  Directory& directory_;
  const InboundSession id_;
  const std::string name_;
  const Nonce session_nonce_;
  std::function<void()> ended_;
  std::unique_ptr<LiveSession> live_;
  std::optional<Digest> secret_;
  std::uint32_t peer_message_max_ = 0;
  bool opened_ = false;
  Timer opening_;  // admitted, but the handshake was never finished
  Instant disconnected_at_;
  LaneLedger ledger_;
  // Lanes whose connection overtook the end of the handshake on another one.
  std::vector<AcceptedLane> early_lanes_;
  // Replies that found the session full, the last for each lane: they go out
  // before anything else when it has room. As many as the ledger knows lanes.
  std::map<std::uint32_t, FenceReply> parked_;
};

}  // namespace spindrift::control
