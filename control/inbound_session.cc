#include "control/inbound_session.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "control/codec.h"

namespace spindrift::control {
namespace {

// Over it the oldest is closed: an initiator whose connections died unseen comes
// back with new ones. Options ask for fewer (connections_per_session).
constexpr std::size_t kConnectionsMax = 32;
// Connections that overtook the handshake; as many as one burst may bring.
constexpr std::size_t kEarlyLanesMax = 1024;

LogLimiter reply_log(2);

}  // namespace

InboundPeer::InboundPeer(Context& context, Directory& directory, InboundSession id,
                         std::string name, const Nonce& session_nonce, std::function<void()> ended)
    : context_(context),
      directory_(directory),
      id_(id),
      name_(std::move(name)),
      session_nonce_(session_nonce),
      ended_(std::move(ended)),
      live_(std::make_unique<LiveSession>(context, *this)),
      opening_(context.reactor),
      disconnected_at_(read_monotonic_clock()) {
  opening_.set(after(disconnected_at_, context.options.handshake_timeout), [this] { ended_(); });
}

InboundPeer::~InboundPeer() {
  end();
}

void InboundPeer::end() {
  LiveSession::retire(std::move(live_));
}

void InboundPeer::connected(std::shared_ptr<FramedStream> stream, const Established& established) {
  peer_message_max_ = established.message_max;
  if (live_->connections() >= kConnectionsMax) live_->drop(live_->oldest());
  if (!opened_) {
    opened_ = true;
    opening_.cancel();
    context_.events.session_opened(id_, established.peer);
    for (AcceptedLane& lane : std::exchange(early_lanes_, {})) {
      context_.events.lane_accepted(std::move(lane));
    }
  }
  live_->add(std::move(stream));
}

void InboundPeer::on_connection_lost(ConnectionId, const Status&) {
  if (!connected()) disconnected_at_ = read_monotonic_clock();
}

void InboundPeer::on_message(const SessionMessage& message) {
  send_parked();
  if (const auto* look_up = std::get_if<LookUp>(&message)) return answer(*look_up);
  if (const auto* fence = std::get_if<FenceRequest>(&message)) {
    return context_.events.fence_requested(id_, *fence);
  }
  if (std::holds_alternative<Goodbye>(message)) ended_();
  // A Ping is answered by the acknowledgement; replies nobody asked for and
  // kinds of a later version are ignored.
}

void InboundPeer::answer(const LookUp& request) {
  const std::uint32_t message_max = std::min(peer_message_max_, context_.options.message_max);
  const Status sent =
      live_->send(directory_.look_up(name_, request, regions_per_reply(message_max)), Spread::kOne);
  // The peer's look-up times out; it does not read its replies.
  if (!sent.ok()) reply_log.log(LogLevel::kWarn, "reply to " + name_ + ": " + sent.to_string());
}

void InboundPeer::answer_fence(const FenceReply& reply) {
  send_parked();
  // Kept for when the session has room: a fence must be answered.
  if (parked_.empty() && live_->send(reply, Spread::kAll).ok()) return;
  if (parked_.size() >= LaneLedger::kLanesMax && !parked_.contains(reply.lane_key)) {
    reply_log.log(LogLevel::kWarn, "session of " + name_ + " ended: it asks for fences of " +
                                       std::to_string(parked_.size()) +
                                       " lanes and reads no answers");
    return ended_();
  }
  parked_.insert_or_assign(reply.lane_key, reply);
}

void InboundPeer::send_parked() {
  while (!parked_.empty() && live_->send(parked_.begin()->second, Spread::kAll).ok()) {
    parked_.erase(parked_.begin());
  }
}

void InboundPeer::say_goodbye() {
  static_cast<void>(live_->send(Goodbye{"the node shuts down"}, Spread::kAll));
}

bool InboundPeer::let_in(const LaneHelloBytes& bytes, const LaneHello& hello,
                         FileDescriptor& socket) {
  if (!secret_ || !lane_token_right(bytes, *secret_)) return false;
  if (!opened_ && early_lanes_.size() >= kEarlyLanesMax) return false;
  if (!ledger_.use(hello.lane_key, hello.generation)) return false;
  AcceptedLane lane{.session = id_,
                    .lane_key = hello.lane_key,
                    .generation = hello.generation,
                    .first_seq = hello.first_seq,
                    .direction = hello.direction,
                    .socket = std::move(socket)};
  if (opened_) {
    context_.events.lane_accepted(std::move(lane));
  } else {
    early_lanes_.push_back(std::move(lane));
  }
  return true;
}

}  // namespace spindrift::control
