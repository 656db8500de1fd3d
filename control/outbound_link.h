// One control connection that an engine keeps to a peer: dials, shakes hands,
// and, when it is lost or refused, tries again with growing, jittered pauses for
// as long as it lives. Control thread only; owned by the peer that it serves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "control/context.h"
#include "control/dial.h"
#include "control/framed_stream.h"
#include "control/handshake.h"

namespace spindrift::control {

class OutboundLink {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual Dial::Target next_target(OutboundLink& link) = 0;
    virtual std::string expected_name(
        const OutboundLink& link) const = 0;  // empty: whoever answers
    virtual Channel channel() const = 0;
    // May destroy the link.
    virtual void link_up(OutboundLink& link, std::shared_ptr<FramedStream> stream,
                         const Established& established) = 0;
    virtual void link_failed(OutboundLink& link, const Status& why) = 0;
  };

  OutboundLink(Context& context, Owner& owner);
  ~OutboundLink();

  void start();
  // The stream that it made has ended.
  void lost();
  // Somebody waits for this peer: ends a pause that lasted reconnect_min already.
  void hurry();
  ConnectionId connection() const { return connection_; }  // 0: not up

 private:
  void dial();
  void on_dialed(Result<std::unique_ptr<Watch>> socket);
  void on_payload(std::string_view payload);
  void send_outgoing();
  void fail(Status why);  // by value: it may belong to the stream that goes
  void pause();

  Context& context_;
  Owner& owner_;
  std::unique_ptr<Dial> dial_;
  std::shared_ptr<FramedStream> stream_;  // while shaking hands
  std::optional<InitiatorHandshake> handshake_;
  Timer timer_;  // of the handshake, or of the pause
  ConnectionId connection_ = 0;
  std::uint32_t failures_ = 0;  // in a row
  bool pausing_ = false;
  Instant paused_at_;
  Instant up_at_;
};

}  // namespace spindrift::control
