// A control connection: frames in and out of one socket. Owned through a
// shared_ptr by whoever it serves; used on the control thread only.
//
// Bounds: a frame in is at most frame_max bytes; what the socket does not take
// yet is kept up to `unsent_max` bytes, and send() drops the frame over that:
// the session sends it again, on another connection if there is one.
// Errors: the end of the stream, for whatever reason, is told once by `closed`,
// never from within send(); nothing is told after close().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "control/codec.h"
#include "control/reactor.h"
#include "control/session.h"
#include "control/socket_address.h"

namespace spindrift::control {

class FramedStream : public std::enable_shared_from_this<FramedStream> {
 public:
  struct Handler {
    std::function<void(std::string_view payload)> payload;
    std::function<void(const Status& why)> closed;
  };

  FramedStream(Reactor& reactor, std::unique_ptr<Watch> socket, ConnectionId id,
               std::uint32_t frame_max);

  void start(Handler handler);
  // Of the frames from now on; may be called from within the old handler.
  void hand_over(Handler handler, std::uint32_t frame_max);
  void set_frame_max(std::uint32_t frame_max) { reader_.set_frame_max(frame_max); }
  void set_unsent_max(std::size_t unsent_max) { unsent_max_ = unsent_max; }

  bool send(std::string_view payload);
  bool send_raw(std::string_view bytes);  // before the first frame
  void close();

  ConnectionId id() const { return id_; }
  const SocketAddress& local() const { return local_; }
  const SocketAddress& remote() const { return remote_; }

 private:
  void on_readable();
  bool take(std::string_view bytes);
  void flush();
  void fail(Status why);

  Reactor& reactor_;
  std::unique_ptr<Watch> socket_;  // null: closed
  const ConnectionId id_;
  const SocketAddress local_;
  const SocketAddress remote_;
  FrameReader reader_;
  std::shared_ptr<const Handler> handler_;
  std::string unsent_;
  std::size_t unsent_max_ = kHandshakeMax + 1024;
  bool waits_writable_ = false;
};

}  // namespace spindrift::control
