// The responder's half: what peers opened to this engine. Greets connections,
// keeps a session for each (initiator incarnation, channel), answers look-ups,
// passes fences on, and lets each data lane in once. Control thread only.
//
// A session stays when its connections are gone, because its initiator may come
// back to it. It ends when the initiator says goodbye, when a new incarnation of
// the same node answers our challenge, or, the longest disconnected first, when
// room is needed for another (sessions_max).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/file_descriptor.h"
#include "control/context.h"
#include "control/directory.h"
#include "control/greeting.h"
#include "control/inbound_session.h"

namespace spindrift::control {

class Inbound : public Greeting::Host {
 public:
  Inbound(Context& context, Directory& directory);
  ~Inbound() override;

  void accepted(FileDescriptor socket);
  void answer_fence(InboundSession session, const FenceReply& reply);
  // Says goodbye and closes everything, without events.
  void shut_down();

 private:
  using SessionKey = std::pair<Incarnation, Channel>;  // of the initiator

  Result<Nonce> admit(const Established& established) override;
  void admitted(const Established& established) override;
  void greeted(ConnectionId id, std::shared_ptr<FramedStream> stream,
               const Established& established) override;
  void lane_greeted(ConnectionId id, const LaneHelloBytes& hello, FileDescriptor socket) override;
  void greeting_failed(ConnectionId id, const Status& why) override;

  Status let_lane_in(const LaneHelloBytes& bytes, FileDescriptor& socket);
  void close_older_incarnations(const RemotePeer& peer);
  Status make_room();
  bool make_room_to_greet();
  void close(SessionKey key);
  void forget_greeting(ConnectionId id);

  Context& context_;
  Directory& directory_;
  std::map<ConnectionId, std::unique_ptr<Greeting>> greetings_;
  std::map<SessionKey, std::unique_ptr<InboundPeer>> sessions_;
  std::map<InboundSession, SessionKey> by_id_;
  InboundSession last_id_ = 0;
};

}  // namespace spindrift::control
