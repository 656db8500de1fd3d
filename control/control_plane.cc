#include "control/control_plane.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "control/codec.h"
#include "control/mac.h"
#include "control/shell.h"

namespace spindrift::control {
namespace {

Status invalid(std::string what, std::string why, std::string hint) {
  return Status(Code::kInvalidArgument,
                {.what = std::move(what), .why = std::move(why), .hint = std::move(hint)});
}

// Strangers reach anything but loopback: without a key it must be asked for in
// so many words.
Status check_exposure(const ControlOptions& options, const std::string& host) {
  const auto address = SocketAddress::of(host, 0);
  if (!address) return address.status();
  if (address->is_loopback() || options.insecure || !options.keys.empty()) return {};
  return invalid("listening on " + host,
                 "other machines reach this address and there is no cluster key",
                 "set control.key, or control.insecure: true to let anybody in");
}

Status check_bounds(const ControlOptions& options) {
  struct Bound {
    const char* name;
    std::uint64_t value;
    std::uint64_t min;
    std::uint64_t max;
  };
  const auto ns = [](Duration d) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(to_ns(d), 0));
  };
  constexpr std::uint64_t kHour = 3'600'000'000'000;
  const Bound bounds[] = {
      {"message_max", options.message_max, kHandshakeMax, 64 * kMiB},
      {"unacked_max", options.unacked_max, 16, 1'000'000},
      {"sessions_max", options.sessions_max, 1, 1'000'000},
      {"half_open_max", options.half_open_max, 1, 1'000'000},
      {"connections_per_session", options.connections_per_session, 1, 16},
      {"keys", options.keys.size(), 0, kKeyIdsMax},
      {"handshake_timeout (ns)", ns(options.handshake_timeout), 1'000'000, kHour},
      {"connect_timeout (ns)", ns(options.connect_timeout), 1'000'000, kHour},
      {"resend_after (ns)", ns(options.resend_after), 1'000'000, kHour},
      {"reconnect_min (ns)", ns(options.reconnect_min), 1'000'000, kHour},
      {"reconnect_max (ns)", ns(options.reconnect_max), ns(options.reconnect_min), kHour},
  };
  for (const Bound& b : bounds) {
    if (b.value >= b.min && b.value <= b.max) continue;
    return invalid(std::string("control.") + b.name,
                   std::to_string(b.value) + " is not from " + std::to_string(b.min) + " to " +
                       std::to_string(b.max),
                   "choose a value in between");
  }
  for (const std::string& key : options.keys) {
    if (key.empty()) return invalid("control.key", "a key is empty", "remove it or write it");
  }
  return {};
}

Status check(const ControlOptions& options, const LocalIdentity& identity) {
  if (Status bounds = check_bounds(options); !bounds.ok()) return bounds;
  if (identity.name.empty() || identity.name.size() > kNameMax ||
      std::any_of(identity.name.begin(), identity.name.end(),
                  [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    return invalid("node name", "it is empty, too long or has control characters",
                   "choose a name of 1 to " + std::to_string(kNameMax) + " bytes");
  }
  if (!identity.incarnation || identity.endpoints.size() > kEndpointsMax ||
      identity.host_id.size() > kHostIdMax) {
    return invalid("identity of the node",
                   "no incarnation, a host id too long, or more than " +
                       std::to_string(kEndpointsMax) + " data endpoints",
                   "exclude some interfaces");
  }
  if (Status bind = check_exposure(options, options.bind); !bind.ok()) return bind;
  for (const DataEndpoint& endpoint : identity.endpoints) {
    if (endpoint.transport != Transport::kTcp) continue;
    if (Status data = check_exposure(options, endpoint.address); !data.ok()) return data;
  }
  return {};
}

}  // namespace

ControlPlane::ControlPlane(std::unique_ptr<Shell> shell) : shell_(std::move(shell)) {}
ControlPlane::~ControlPlane() {
  stop();
}
void ControlPlane::stop() {
  shell_->stop();
}

Result<std::unique_ptr<ControlPlane>> ControlPlane::start(const ControlOptions& options,
                                                          std::uint16_t data_port_min,
                                                          std::uint16_t data_port_max,
                                                          LocalIdentity identity,
                                                          ControlEvents& events) {
  if (Status good = check(options, identity); !good.ok()) return good;
  auto reactor = Reactor::make();
  if (!reactor) return reactor.status();
  std::array<std::uint8_t, 8> seed_bytes{};
  if (Status random = fill_random(seed_bytes); !random.ok()) return random;
  std::uint64_t seed = 0;
  std::memcpy(&seed, seed_bytes.data(), sizeof seed);
  auto shell =
      std::make_unique<Shell>(std::move(*reactor), events, options, std::move(identity), seed);
  if (Status bound = shell->listen({data_port_min, data_port_max}); !bound.ok()) return bound;
  shell->start();
  return std::unique_ptr<ControlPlane>(new ControlPlane(std::move(shell)));
}

const std::string& ControlPlane::address() const {
  return shell_->address();
}
const std::vector<DataEndpoint>& ControlPlane::endpoints() const {
  return shell_->endpoints();
}

PeerSlot ControlPlane::open_peer(const std::string& name,
                                 const std::vector<std::string>& addresses) {
  return shell_->open_peer(name, addresses);
}

void ControlPlane::look_up(PeerSlot peer, const std::string& segment, Duration timeout,
                           std::function<void(Result<Segment::Data>)> done) {
  shell_->look_up(peer, segment, timeout, done);
}

// The tasks posted below wait in a queue that their callers bound: one per
// region call, and per lane one connect, one fence and one answer at a time.

void ControlPlane::publish(PublishedRegion region) {
  shell_->post(
      [shell = shell_.get(), region = std::move(region)] { shell->directory().publish(region); });
}

void ControlPlane::withdraw(std::uint32_t key) {
  shell_->post([shell = shell_.get(), key] { shell->directory().withdraw(key); });
}

void ControlPlane::revoke(const std::string& peer, const std::string& segment) {
  shell_->post([shell = shell_.get(), peer, segment] { shell->directory().revoke(peer, segment); });
}

void ControlPlane::connect_lane(const LaneRequest& lane) {
  shell_->post([shell = shell_.get(), lane] {
    OutboundPeer* peer = shell->find_peer(lane.peer);
    shell->lanes().connect(lane, peer == nullptr ? nullptr : peer->established());
  });
}

void ControlPlane::send_fence(PeerSlot peer, const FenceRequest& request) {
  shell_->post([shell = shell_.get(), peer, request] {
    if (OutboundPeer* target = shell->find_peer(peer)) target->send_fence(request);
  });
}

void ControlPlane::answer_fence(InboundSession session, const FenceReply& reply) {
  shell_->post(
      [shell = shell_.get(), session, reply] { shell->inbound().answer_fence(session, reply); });
}

ControlCounters ControlPlane::counters() const {
  const LiveCounters& live = shell_->context().counters;
  const auto read = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  return {.handshakes_ok = read(live.handshakes_ok),
          .handshakes_refused = read(live.handshakes_refused),
          .connections_accepted = read(live.connections_accepted),
          .messages_sent = read(live.messages_sent),
          .messages_resent = read(live.messages_resent),
          .messages_received = read(live.messages_received)};
}

}  // namespace spindrift::control
