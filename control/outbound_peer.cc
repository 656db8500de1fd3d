#include "control/outbound_peer.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace spindrift::control {
namespace {

LogLimiter refusal_log(3);

// Trying again does not help until somebody changes a configuration.
bool is_definite(Code code) {
  return code == Code::kUnauthenticated || code == Code::kVersionMismatch ||
         code == Code::kNotFound || code == Code::kInvalidArgument;
}

// What happened, without the code that the status around it says already.
std::string cause_of(const Status& error) {
  const Status::Detail& detail = error.detail();
  return detail.why.empty() ? detail.what : detail.what + ": " + detail.why;
}

}  // namespace

OutboundPeer::OutboundPeer(Context& context, PeerSlot slot,
                           std::function<void(const Status&)> restarted)
    : context_(context),
      slot_(slot),
      restarted_(std::move(restarted)),
      look_ups_(
          context,
          [this](const LookUp& request) {
            return connected() && live_->send(request, Spread::kOne).ok();
          },
          [this] { return unreachable(); }) {}

OutboundPeer::~OutboundPeer() {
  LiveSession::retire(std::move(live_));
}

void OutboundPeer::open(const std::string& name, const std::vector<std::string>& addresses) {
  if (name_.empty()) name_ = name;
  for (const std::string& text : addresses) {
    auto address = SocketAddress::parse(text);
    if (!address) {
      last_error_ = address.status();
      refusal_log.log(LogLevel::kError, last_error_.to_string());
      continue;
    }
    const bool known = std::any_of(addresses_.begin(), addresses_.end(), [&](const auto& a) {
      return a.same_host(*address) && a.port() == address->port();
    });
    if (!known) addresses_.push_back(*address);
  }
  if (refused_ || primary_ || addresses_.empty()) return;
  primary_ = std::make_unique<OutboundLink>(context_, *this);
  primary_->start();
}

void OutboundPeer::refuse(Status why) {
  refused_ = true;
  last_error_ = std::move(why);
}

void OutboundPeer::shut_down(const Status& why) {
  if (live_) static_cast<void>(live_->send(Goodbye{"the node shuts down"}, Spread::kAll));
  LiveSession::retire(std::move(live_));
  pair_links_.clear();
  primary_.reset();
  refused_ = true;
  last_error_ = why;
  look_ups_.fail_all(why);
}

void OutboundPeer::look_up(const std::string& segment, Instant deadline, LookUps::Done done) {
  const bool hopeless = refused_ || addresses_.empty() ||
                        (is_definite(last_error_.code()) && failed_in_row_ >= addresses_.size());
  if (!connected() && hopeless) {
    return done(last_error_.ok() ? Status(Code::kInvalidArgument,
                                          {.what = "look-up of segment " + segment,
                                           .why = "the peer has no address",
                                           .hint = "give peers: addresses in the node file",
                                           .peer = display_name()})
                                 : last_error_);
  }
  if (!connected() && primary_) primary_->hurry();
  look_ups_.start(segment, deadline, std::move(done));
}

Status OutboundPeer::unreachable() const {
  if (connected()) {
    return Status(Code::kDeadlineExceeded,
                  {.what = "look-up",
                   .why = "the peer is connected and did not answer in time",
                   .peer = display_name()});
  }
  if (is_definite(last_error_.code()) || last_error_.code() == Code::kBusy) return last_error_;
  return Status(Code::kPeerUnreachable,
                {.what = "no control connection",
                 .why = last_error_.ok() ? "not made in time" : cause_of(last_error_),
                 .hint = "is the peer running, and is its address right?",
                 .peer = display_name()});
}

std::string OutboundPeer::display_name() const {
  if (!name_.empty()) return name_;
  if (live_) return established_.peer.name;
  return addresses_.empty() ? "?" : addresses_.front().to_string();
}

// The other links must find the node that the first one found.
std::string OutboundPeer::expected_name(const OutboundLink& link) const {
  return &link == primary_.get() || !live_ ? name_ : established_.peer.name;
}

// --- connections -------------------------------------------------------------------

Dial::Target OutboundPeer::next_target(OutboundLink& link) {
  for (const PairLink& other : pair_links_) {
    if (other.link.get() != &link) continue;
    const DataEndpoint& local = context_.handshake.identity.endpoints[other.pair.local];
    const DataEndpoint& remote = established_.peer.endpoints[other.pair.remote];
    // choose_pairs() took only addresses that can be read.
    return {*SocketAddress::of(remote.address, remote.port), *SocketAddress::of(local.address, 0),
            local.bind_device ? local.device : ""};
  }
  return {addresses_[next_address_++ % addresses_.size()], {}, {}};
}

void OutboundPeer::link_up(OutboundLink& link, std::shared_ptr<FramedStream> stream,
                           const Established& established) {
  failed_in_row_ = 0;
  refused_in_row_ = 0;
  told_gone_ = false;
  last_error_ = {};
  const bool same_session = live_ &&
                            established_.peer.incarnation == established.peer.incarnation &&
                            established_.session_nonce == established.session_nonce;
  if (same_session && said_goodbye_) {
    // Its handshake was under way when the process said that it ends.
    stream->close();
    return link.lost();
  }
  if (!same_session) begin_session(link, established);
  established_.session_secret = established.session_secret;
  const bool first = live_->connections() == 0;
  live_->add(std::move(stream));
  if (!first || !live_) return;
  context_.events.peer_connected(slot_, established_.peer);
  resume();
}

// Another process, or one that has forgotten our session (it needed the room).
void OutboundPeer::begin_session(OutboundLink& link, const Established& established) {
  const bool restarted = live_ && established_.peer.incarnation != established.peer.incarnation;
  const bool renewed = live_ && !restarted;
  // Its connection went with the old session.
  if (primary_.get() != &link && primary_->connection() != 0) primary_->lost();
  LiveSession::retire(std::move(live_));
  established_ = established;
  said_goodbye_ = false;
  live_ = std::make_unique<LiveSession>(context_, *this);
  make_pair_links();
  for (auto& [lane, fence] : fences_) fence.sent = false;
  if (renewed) look_ups_.send_pending(true);
  if (!restarted) return;
  // The old process is gone, and with it whatever a fence was to end.
  fences_.clear();
  const Status why(Code::kPeerRestarted, {.what = "peer " + established.peer.name,
                                          .why = "a new process answers in its place",
                                          .hint = "open the segment again",
                                          .peer = established.peer.name});
  look_ups_.fail_sent(why);
  restarted_(why);
}

// Destroys the old ones, maybe the one that is calling us.
void OutboundPeer::make_pair_links() {
  pair_links_.clear();
  const bool same_host = context_.handshake.identity.host_id == established_.peer.host_id;
  const std::size_t more = context_.options.connections_per_session - 1;
  for (const EndpointPair pair : choose_pairs(context_.handshake.identity.endpoints,
                                              established_.peer.endpoints, same_host, more)) {
    pair_links_.push_back({pair, std::make_unique<OutboundLink>(context_, *this)});
  }
  for (PairLink& added : pair_links_) added.link->start();
}

void OutboundPeer::link_failed(OutboundLink& link, const Status& why) {
  if (is_definite(why.code()) || why.code() == Code::kBusy) {
    refusal_log.log(LogLevel::kWarn, why.to_string());
  }
  if (&link != primary_.get() || connected()) return;
  ++failed_in_row_;
  refused_in_row_ = why.detail().os_error == ECONNREFUSED ? refused_in_row_ + 1 : 0;
  last_error_ = why;
  if (live_ && refused_in_row_ >= addresses_.size()) gone(why);
  if (is_definite(why.code()) && failed_in_row_ >= addresses_.size()) look_ups_.fail_all(why);
}

void OutboundPeer::on_connection_lost(ConnectionId connection, const Status& why) {
  if (OutboundLink* link = find_link(connection)) link->lost();
  if (connected()) return;
  last_error_ = why;
  failed_in_row_ = 0;
  refused_in_row_ = 0;
  context_.events.peer_lost(slot_, why);
}

// Nothing of ours is placed there any more: there is nothing left to fence.
void OutboundPeer::gone(const Status& why) {
  if (told_gone_) return;
  told_gone_ = true;
  fences_.clear();
  context_.events.peer_gone(slot_, why);
}

OutboundLink* OutboundPeer::find_link(ConnectionId connection) {
  if (primary_ && primary_->connection() == connection) return primary_.get();
  for (PairLink& other : pair_links_) {
    if (other.link->connection() == connection) return other.link.get();
  }
  return nullptr;
}

// --- messages ----------------------------------------------------------------------

void OutboundPeer::resume() {
  look_ups_.send_pending(false);
  send_waiting_fences();
}

void OutboundPeer::send_fence(const FenceRequest& request) {
  fences_[request.lane_key] = {request, false};
  send_waiting_fences();
}

// The session keeps what it took until the peer has it, connected or not.
void OutboundPeer::send_waiting_fences() {
  if (!live_) return;
  for (auto& [lane, fence] : fences_) {
    if (fence.sent) continue;
    if (!live_->send(fence.request, Spread::kAll).ok()) return;
    fence.sent = true;
  }
}

void OutboundPeer::on_message(const SessionMessage& message) {
  if (const auto* reply = std::get_if<LookUpReply>(&message)) {
    look_ups_.on_reply(*reply, established_, slot_);
  } else if (const auto* fenced = std::get_if<FenceReply>(&message)) {
    on_fenced(*fenced);
  } else if (const auto* goodbye = std::get_if<Goodbye>(&message)) {
    return on_goodbye(*goodbye);
  }
  // The acknowledgement that came along may have made room.
  resume();
}

void OutboundPeer::on_fenced(const FenceReply& reply) {
  const auto it = fences_.find(reply.lane_key);
  // Nobody asked, or for less: such a claim settles nothing.
  if (it == fences_.end() || reply.min_generation > it->second.request.min_generation) return;
  if (reply.min_generation == it->second.request.min_generation) fences_.erase(it);
  context_.events.fenced(slot_, reply);
}

void OutboundPeer::on_goodbye(const Goodbye& goodbye) {
  const Status why(Code::kPeerUnreachable, {.what = "peer " + established_.peer.name,
                                            .why = "it said goodbye: " + goodbye.reason,
                                            .peer = established_.peer.name});
  said_goodbye_ = true;
  live_->close_all();
  if (primary_->connection() != 0) primary_->lost();
  for (PairLink& other : pair_links_) {
    if (other.link->connection() != 0) other.link->lost();
  }
  last_error_ = why;
  failed_in_row_ = 0;
  refused_in_row_ = 0;
  context_.events.peer_lost(slot_, why);
  gone(why);
}

}  // namespace spindrift::control
