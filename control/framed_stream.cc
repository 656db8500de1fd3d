#include "control/framed_stream.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace spindrift::control {
namespace {

// Read at a time; other connections get their turn in between.
constexpr std::size_t kReadBytes = 64 * 1024;

}  // namespace

FramedStream::FramedStream(Reactor& reactor, std::unique_ptr<Watch> socket, ConnectionId id,
                           std::uint32_t frame_max)
    : reactor_(reactor),
      socket_(std::move(socket)),
      id_(id),
      local_(SocketAddress::local_of(socket_->fd())),
      remote_(SocketAddress::remote_of(socket_->fd())),
      reader_(frame_max) {}

void FramedStream::start(Handler handler) {
  handler_ = std::make_shared<const Handler>(std::move(handler));
  socket_->when_readable([this] { on_readable(); });
}

void FramedStream::hand_over(Handler handler, std::uint32_t frame_max) {
  handler_ = std::make_shared<const Handler>(std::move(handler));
  reader_.set_frame_max(frame_max);
}

void FramedStream::on_readable() {
  const auto self = shared_from_this();  // a handler may let go of us
  std::array<char, kReadBytes> buffer;   // NOLINT: recv fills it
  const ssize_t got = ::recv(socket_->fd(), buffer.data(), buffer.size(), 0);
  if (got == 0) {
    return fail(Status(Code::kPeerUnreachable,
                       Status::Detail{.what = "control connection with " + remote_.to_string(),
                                      .why = "closed by the peer"}));
  }
  if (got < 0 && errno != EAGAIN && errno != EINTR) {
    return fail(
        Status(Code::kPeerUnreachable, {.what = "control connection with " + remote_.to_string(),
                                        .why = "lost",
                                        .os_error = errno}));
  }
  if (got > 0 && !take({buffer.data(), static_cast<std::size_t>(got)})) return;
  if (socket_) socket_->when_readable([this] { on_readable(); });
}

// False when the stream ended meanwhile.
bool FramedStream::take(std::string_view bytes) {
  std::string frame;
  while (socket_) {
    Result<bool> whole = reader_.next(bytes, frame);
    if (!whole) {
      fail(whole.status());
      return false;
    }
    if (!*whole) return true;
    const auto handler = handler_;  // it may be replaced from within
    handler->payload(frame);
  }
  return false;
}

bool FramedStream::send(std::string_view payload) {
  std::string bytes;
  bytes.reserve(kFrameHeaderBytes + payload.size());
  append_frame(bytes, payload);
  return send_raw(bytes);
}

bool FramedStream::send_raw(std::string_view bytes) {
  if (!socket_ || unsent_.size() + bytes.size() > unsent_max_) return false;
  unsent_.append(bytes);
  flush();
  return socket_ != nullptr;
}

void FramedStream::flush() {
  if (waits_writable_) return;
  std::size_t sent = 0;
  while (sent < unsent_.size()) {
    const ssize_t n = ::send(socket_->fd(), unsent_.data() + sent, unsent_.size() - sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) {
      return fail(
          Status(Code::kPeerUnreachable, {.what = "control connection with " + remote_.to_string(),
                                          .why = "lost",
                                          .os_error = errno}));
    }
    sent += static_cast<std::size_t>(n);
  }
  unsent_.erase(0, sent);
  if (unsent_.empty()) return;
  waits_writable_ = true;
  socket_->when_writable([this] {
    waits_writable_ = false;
    flush();
  });
}

void FramedStream::fail(Status why) {
  if (!socket_) return;
  socket_.reset();
  unsent_.clear();
  reactor_.post([self = shared_from_this(), why = std::move(why)] {
    const auto handler = std::exchange(self->handler_, nullptr);
    if (handler) handler->closed(why);
  });
}

void FramedStream::close() {
  socket_.reset();
  handler_.reset();
  unsent_.clear();
}

}  // namespace spindrift::control
