#include "control/live_session.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "control/codec.h"

namespace spindrift::control {
namespace {

// A frame around the largest message: two numbers and a length.
constexpr std::uint32_t kFrameOverhead = 64;

// A few of the largest messages at least, so that a page of a look-up's reply
// always finds room in the end.
std::uint64_t unacked_bytes_max(const ControlOptions& options) {
  return std::max(SessionOptions{}.unacked_bytes_max, std::uint64_t{4} * options.message_max);
}

LogLimiter protocol_log(5);

}  // namespace

LiveSession::LiveSession(Context& context, Handler& handler)
    : context_(context),
      handler_(&handler),
      session_({.resend_after = context.options.resend_after,
                .unacked_max = context.options.unacked_max,
                .unacked_bytes_max = unacked_bytes_max(context.options)}),
      timer_(context.reactor) {}

LiveSession::~LiveSession() {
  close_all();
}

void LiveSession::retire(std::unique_ptr<LiveSession> session) {
  if (!session) return;
  session->handler_ = nullptr;
  session->close_all();
  Reactor& reactor = session->context_.reactor;
  reactor.post(
      [dead = std::shared_ptr<LiveSession>(std::move(session))]() mutable { dead.reset(); });
}

void LiveSession::add(std::shared_ptr<FramedStream> stream) {
  const ConnectionId id = stream->id();
  const std::uint32_t frame_max = context_.options.message_max + kFrameOverhead;
  stream->set_unsent_max(std::size_t{4} * frame_max);
  stream->hand_over({.payload = [this, id](std::string_view bytes) { on_payload(id, bytes); },
                     .closed = [this, id](const Status& why) { on_closed(id, why); }},
                    frame_max);
  streams_[id] = std::move(stream);
  session_.connection_up(id, read_monotonic_clock());
  pump();
}

Status LiveSession::send(const SessionMessage& message, Spread spread) {
  Status queued = session_.send(encode(message), spread, read_monotonic_clock());
  pump();
  return queued;
}

void LiveSession::drop(ConnectionId connection) {
  const auto it = streams_.find(connection);
  if (it == streams_.end()) return;
  const auto stream = std::exchange(it->second, nullptr);
  streams_.erase(it);
  stream->close();
  session_.connection_down(connection, read_monotonic_clock());
  pump();
}

void LiveSession::close_all() {
  timer_.cancel();
  for (auto& [id, stream] : std::exchange(streams_, {})) {
    stream->close();
    session_.connection_down(id, read_monotonic_clock());
  }
}

void LiveSession::on_payload(ConnectionId connection, std::string_view payload) {
  Result<SessionFrame> frame = decode_frame(payload);
  const Status taken =
      frame ? session_.on_frame(connection, *frame, read_monotonic_clock()) : frame.status();
  if (!taken.ok()) {
    protocol_log.log(LogLevel::kWarn, "control connection closed: " + taken.to_string());
    const auto it = streams_.find(connection);
    if (it == streams_.end()) return;
    const auto stream = it->second;  // it calls us right now
    stream->close();
    return on_closed(connection, taken);
  }
  pump();
}

void LiveSession::on_closed(ConnectionId connection, const Status& why) {
  if (streams_.erase(connection) == 0) return;
  session_.connection_down(connection, read_monotonic_clock());
  pump();
  if (handler_ != nullptr) handler_->on_connection_lost(connection, why);
}

// Handlers send from within on_message: their pump() is this loop's next round.
void LiveSession::pump() {
  if (pumping_) return;
  pumping_ = true;
  while (handler_ != nullptr) {
    send_outgoing();
    auto delivered = session_.take_delivered();
    if (delivered.empty()) break;
    for (const std::string& bytes : delivered) {
      if (handler_ == nullptr) break;
      LiveCounters::add(context_.counters.messages_received);
      const Result<SessionMessage> message = decode_message(bytes);
      if (message) {
        handler_->on_message(*message);
      } else {
        protocol_log.log(LogLevel::kWarn,
                         "control message ignored: " + message.status().to_string());
      }
    }
  }
  pumping_ = false;
  if (handler_ == nullptr) return;
  timer_.set(session_.next_deadline(), [this] {
    session_.advance(read_monotonic_clock());
    pump();
  });
}

void LiveSession::send_outgoing() {
  for (const Session::Outgoing& out : session_.take_outgoing()) {
    const auto it = streams_.find(out.connection);
    if (it == streams_.end()) continue;
    // What does not fit is lost to this connection; the session's timer sees to it.
    if (it->second->send(encode(out.frame)) && out.frame.seq != 0) {
      LiveCounters::add(context_.counters.messages_sent);
    }
  }
  const std::uint64_t resent = session_.resent();
  LiveCounters::add(context_.counters.messages_resent, resent - resent_seen_);
  resent_seen_ = resent;
}

}  // namespace spindrift::control
