#include "control/outbound_link.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "control/codec.h"
#include "control/mac.h"
#include "control/sockets.h"

namespace spindrift::control {
namespace {

// A connection that did not last this long counts as a failure: a peer that
// accepts and closes must not be asked twenty times a second.
constexpr Duration kStableAfter = std::chrono::seconds(1);

}  // namespace

OutboundLink::OutboundLink(Context& context, Owner& owner)
    : context_(context), owner_(owner), timer_(context.reactor) {}

OutboundLink::~OutboundLink() {
  if (stream_) stream_->close();
}

void OutboundLink::start() {
  dial();
}

void OutboundLink::dial() {
  pausing_ = false;
  dial_ = std::make_unique<Dial>(
      context_.reactor, owner_.next_target(*this), context_.options.connect_timeout,
      [this](Result<std::unique_ptr<Watch>> socket) { on_dialed(std::move(socket)); });
}

void OutboundLink::on_dialed(Result<std::unique_ptr<Watch>> socket) {
  dial_.reset();
  if (!socket) return fail(socket.status());
  Nonce nonce{};
  if (const Status random = fill_random(nonce); !random.ok()) return fail(random);
  tune_control_socket((*socket)->fd());
  handshake_.emplace(context_.handshake, owner_.expected_name(*this), owner_.channel(), nonce);
  stream_ = std::make_shared<FramedStream>(context_.reactor, std::move(*socket),
                                           context_.next_connection(), kHandshakeMax);
  timer_.set(after(read_monotonic_clock(), context_.options.handshake_timeout), [this] {
    fail(Status(Code::kPeerUnreachable,
                {.what = "control handshake with " + stream_->remote().to_string(),
                 .why = "the other side connected and then said nothing in time",
                 .hint = "is it a spindrift port? see control.handshake_timeout"}));
  });
  stream_->start({.payload = [this](std::string_view bytes) { on_payload(bytes); },
                  .closed = [this](const Status& why) { fail(why); }});
  stream_->send_raw(kControlMagic);
  send_outgoing();
}

void OutboundLink::send_outgoing() {
  for (const std::string& payload : handshake_->take_outgoing()) stream_->send(payload);
}

void OutboundLink::on_payload(std::string_view payload) {
  if (!handshake_) return;
  const Status taken = handshake_->on_message(payload);
  send_outgoing();
  if (!taken.ok()) return fail(taken);
  if (!handshake_->done()) return;
  timer_.cancel();
  LiveCounters::add(context_.counters.handshakes_ok);
  connection_ = stream_->id();
  up_at_ = read_monotonic_clock();
  const Established established = handshake_->established();
  handshake_.reset();
  owner_.link_up(*this, std::exchange(stream_, nullptr), established);
}

void OutboundLink::fail(Status why) {
  // Refused or failed after it had begun to talk; a mere failure to connect is
  // no handshake.
  if (handshake_) LiveCounters::add(context_.counters.handshakes_refused);
  handshake_.reset();
  if (const auto stream = std::exchange(stream_, nullptr)) stream->close();
  pause();
  owner_.link_failed(*this, why);
}

void OutboundLink::lost() {
  connection_ = 0;
  if (read_monotonic_clock() - up_at_ >= kStableAfter) failures_ = 0;
  pause();
}

void OutboundLink::pause() {
  const auto shift = std::min<std::uint32_t>(failures_, 20);
  ++failures_;
  const auto longest = to_ns(context_.options.reconnect_max);
  const auto base = std::min<std::int64_t>(to_ns(context_.options.reconnect_min), longest);
  const std::int64_t full = base > longest >> shift ? longest : base << shift;
  // Between half and all of it, so that a thousand peers do not come back at once.
  const auto half = static_cast<std::uint64_t>(full / 2);
  const Duration delay(full / 2 + static_cast<std::int64_t>(context_.jitter.below(half + 1)));
  pausing_ = true;
  paused_at_ = read_monotonic_clock();
  timer_.set(after(paused_at_, delay), [this] { dial(); });
}

void OutboundLink::hurry() {
  if (!pausing_) return;
  const Instant soon = after(paused_at_, context_.options.reconnect_min);
  timer_.set(std::max(soon, read_monotonic_clock()), [this] { dial(); });
}

}  // namespace spindrift::control
