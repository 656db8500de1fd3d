#include "control/greeting.h"

#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <utility>

#include "base/clock.h"
#include "control/mac.h"

namespace spindrift::control {

Greeting::Greeting(Context& context, Host& host, std::unique_ptr<Watch> socket)
    : context_(context),
      host_(host),
      id_(context.next_connection()),
      begun_(read_monotonic_clock()),
      socket_(std::move(socket)),
      remote_(SocketAddress::remote_of(socket_->fd())),
      deadline_(context.reactor) {}

Greeting::~Greeting() {
  if (stream_) stream_->close();
}

void Greeting::start() {
  const Instant end = after(read_monotonic_clock(), context_.options.handshake_timeout);
  deadline_.set(end, [this] {
    fail(Status(Code::kDeadlineExceeded, {.what = "greeting of " + remote_.to_string(),
                                          .why = "not finished in time",
                                          .hint = "see control.handshake_timeout"}));
  });
  socket_->when_readable([this] { on_readable(); });
}

void Greeting::on_readable() {
  if (Status read = read_some(); !read.ok()) return fail(std::move(read));
  if (got_ >= kMagicBytes) {
    const std::string_view magic = as_text(std::span(first_bytes_).first<kMagicBytes>());
    if (magic == kControlMagic) return begin_control();
    if (magic != kLaneMagic) {
      return fail(Status(Code::kProtocol, {.what = "connection from " + remote_.to_string(),
                                           .why = "begins with bytes of another protocol",
                                           .hint = "is this port meant?"}));
    }
  }
  if (got_ == kLaneHelloBytes) {
    over_ = true;
    deadline_.cancel();
    return host_.lane_greeted(id_, first_bytes_, socket_->release());
  }
  socket_->when_readable([this] { on_readable(); });
}

// Never past what belongs to the greeting: the bytes behind a lane's hello are
// the worker's to read.
Status Greeting::read_some() {
  const std::size_t goal = got_ < kMagicBytes ? kMagicBytes : kLaneHelloBytes;
  const ssize_t n = ::recv(socket_->fd(), first_bytes_.data() + got_, goal - got_, 0);
  if (n > 0) {
    got_ += static_cast<std::size_t>(n);
    return {};
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  return Status(Code::kProtocol, {.what = "connection from " + remote_.to_string(),
                                  .why = "ended before its greeting did",
                                  .os_error = n < 0 ? errno : 0});
}

void Greeting::begin_control() {
  Nonce nonce{};
  if (Status random = fill_random(nonce); !random.ok()) return fail(std::move(random));
  tune_control_socket(socket_->fd());
  handshake_.emplace(context_.handshake, nonce);
  stream_ = std::make_shared<FramedStream>(context_.reactor, std::move(socket_), id_, kGreetingMax);
  stream_->start({.payload = [this](std::string_view bytes) { on_payload(bytes); },
                  .closed = [this](const Status& why) { fail(why); }});
}

void Greeting::on_payload(std::string_view payload) {
  if (over_) return;
  Status taken = handshake_->on_message(payload);
  if (taken.ok() && handshake_->proven()) {
    stream_->set_frame_max(kHandshakeMax);
    Result<Nonce> admitted = host_.admit(handshake_->established());
    if (admitted) {
      handshake_->accept(*admitted);
      host_.admitted(handshake_->established());
    } else {
      const bool busy = admitted.code() == Code::kBusy;
      taken = handshake_->refuse(busy ? RefusalReason::kBusy : RefusalReason::kProtocol,
                                 admitted.status());
    }
  }
  send_outgoing();
  if (!taken.ok()) return fail(std::move(taken));
  if (!handshake_->done()) return;
  over_ = true;
  deadline_.cancel();
  host_.greeted(id_, std::exchange(stream_, nullptr), handshake_->established());
}

void Greeting::send_outgoing() {
  for (const std::string& payload : handshake_->take_outgoing()) stream_->send(payload);
}

void Greeting::fail(Status why) {
  if (over_) return;
  over_ = true;
  deadline_.cancel();
  if (stream_) stream_->close();
  socket_.reset();
  host_.greeting_failed(id_, why);
}

}  // namespace spindrift::control
