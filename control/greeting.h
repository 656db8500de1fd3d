// An accepted connection until it is known whose it is: the first eight bytes
// say whether it is a control connection, which then goes through the
// handshake, or a data lane's, whose hello is read to its last byte and no
// further. A deadline runs from accept to the end of it, however slowly bytes
// come. Control thread only; owned by the host.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "control/context.h"
#include "control/framed_stream.h"
#include "control/handshake.h"
#include "control/lane_hello.h"
#include "control/socket_address.h"
#include "control/sockets.h"

namespace spindrift::control {

class Greeting {
 public:
  class Host {
   public:
    virtual ~Host() = default;
    // The initiator has proved itself: the nonce of its session, or why it
    // cannot have one (kBusy, kProtocol).
    virtual Result<Nonce> admit(const Established& established) = 0;
    // Before the initiator can know it: from now on it may open data lanes.
    virtual void admitted(const Established& established) = 0;
    // The three ends of a greeting; the host destroys it then.
    virtual void greeted(ConnectionId id, std::shared_ptr<FramedStream> stream,
                         const Established& established) = 0;
    virtual void lane_greeted(ConnectionId id, const LaneHelloBytes& hello,
                              FileDescriptor socket) = 0;
    virtual void greeting_failed(ConnectionId id, const Status& why) = 0;
  };

  Greeting(Context& context, Host& host, std::unique_ptr<Watch> socket);
  ~Greeting();

  void start();
  Instant begun() const { return begun_; }

 private:
  void on_readable();
  Status read_some();
  void begin_control();
  void on_payload(std::string_view payload);
  void send_outgoing();
  void fail(Status why);  // by value: it may belong to the stream that goes

  Context& context_;
  Host& host_;
  const ConnectionId id_;
  const Instant begun_;
  std::unique_ptr<Watch> socket_;  // until it is known what it is
  const SocketAddress remote_;
  Timer deadline_;
  LaneHelloBytes first_bytes_{};
  std::size_t got_ = 0;
  std::shared_ptr<FramedStream> stream_;  // a control connection's
  std::optional<ResponderHandshake> handshake_;
  bool over_ = false;
};

}  // namespace spindrift::control
