#include "control/shell.h"

#include <pthread.h>

#include <utility>

#include "base/clock.h"
#include "control/codec.h"

namespace spindrift::control {
namespace {

HandshakeOptions handshake_options(const ControlOptions& options, LocalIdentity identity) {
  return {.identity = std::move(identity),
          .keys = options.keys,
          .versions = kVersions,
          .message_max = options.message_max};
}

Status shut_down_status() {
  return Status(Code::kShutDown,
                Status::Detail{.what = "control plane", .why = "the engine is being destroyed"});
}

}  // namespace

ControlPlane::Shell::Shell(std::unique_ptr<Reactor> reactor, ControlEvents& events,
                           const ControlOptions& options, LocalIdentity identity,
                           std::uint64_t jitter_seed)
    : reactor_(std::move(reactor)),
      context_{.reactor = *reactor_,
               .events = events,
               .options = options,
               .handshake = handshake_options(options, std::move(identity)),
               .jitter = Prng(jitter_seed)},
      inbound_(context_, directory_),
      lanes_(context_) {}

ControlPlane::Shell::~Shell() {
  stop();
}

// --- listening -------------------------------------------------------------------

Status ControlPlane::Shell::listen(PortRange data_ports) {
  if (Status control = listen_for_control(); !control.ok()) return control;
  for (DataEndpoint& endpoint : context_.handshake.identity.endpoints) {
    if (endpoint.transport != Transport::kTcp) continue;
    if (Status data = listen_for_data(endpoint, data_ports); !data.ok()) return data;
  }
  return watch_links();
}

Status ControlPlane::Shell::watch_links() {
  auto links = LinkWatch::start(*reactor_, [this](const std::string& device, bool up) {
    context_.events.link_changed(device, up);
  });
  if (!links) return links.status();
  links_ = std::move(*links);
  return {};
}

Status ControlPlane::Shell::listen_for_control() {
  auto address = SocketAddress::of(context_.options.bind, 0);
  if (!address) return address.status();
  auto socket = open_listener(*address, {context_.options.port_min, context_.options.port_max}, "");
  if (!socket) return socket.status();
  address_ = join_host_port(host_to_tell(*address), address->port());
  return add_listener(std::move(*socket));
}

std::string ControlPlane::Shell::host_to_tell(const SocketAddress& bound) const {
  if (!context_.options.advertise.empty()) return context_.options.advertise;
  if (!bound.is_any()) return bound.host();
  // Nobody can connect to "every address"; the first rail's is one of them.
  for (const DataEndpoint& endpoint : endpoints()) {
    const auto address = SocketAddress::of(endpoint.address, 0);
    if (address && address->is_v6() == bound.is_v6()) return endpoint.address;
  }
  return bound.is_v6() ? "::1" : "127.0.0.1";
}

Status ControlPlane::Shell::listen_for_data(DataEndpoint& endpoint, PortRange ports) {
  auto address = SocketAddress::of(endpoint.address, 0);
  if (!address) return address.status();
  auto socket = open_listener(*address, ports, endpoint.bind_device ? endpoint.device : "");
  if (!socket) return socket.status();
  endpoint.port = address->port();
  return add_listener(std::move(*socket));
}

Status ControlPlane::Shell::add_listener(FileDescriptor socket) {
  auto listener = Listener::start(*reactor_, std::move(socket), [this](FileDescriptor accepted) {
    inbound_.accepted(std::move(accepted));
  });
  if (!listener) return listener.status();
  listeners_.push_back(std::move(*listener));
  return {};
}

// --- the thread ------------------------------------------------------------------

void ControlPlane::Shell::start() {
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "spindrift-ctl");
    reactor_->run();
  });
}

bool ControlPlane::Shell::post(std::function<void()> task) {
  std::lock_guard lock(mutex_);
  if (stopped_) return false;
  reactor_->post(std::move(task));
  return true;
}

void ControlPlane::Shell::stop() {
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    // Behind everything that was posted before; nothing is after.
    reactor_->post([this] { shut_down(); });
  }
  if (thread_.joinable()) {
    thread_.join();
  } else {
    reactor_->drain();  // never started
  }
  // What the shutdown left to be destroyed when its callers had returned.
  reactor_->drain();
}

void ControlPlane::Shell::shut_down() {
  listeners_.clear();
  links_.reset();
  inbound_.shut_down();
  lanes_.forget_all();
  for (const auto& peer : peers_) peer->shut_down(shut_down_status());
  peers_.clear();
  reactor_->stop();
}

// --- peers -----------------------------------------------------------------------

PeerSlot ControlPlane::Shell::open_peer(const std::string& name,
                                        const std::vector<std::string>& addresses) {
  std::lock_guard lock(mutex_);
  const auto known = [&]() -> const PeerSlot* {
    if (const auto it = slot_by_name_.find(name); !name.empty() && it != slot_by_name_.end()) {
      return &it->second;
    }
    for (const std::string& address : addresses) {
      const auto it = slot_by_address_.find(address);
      if (it != slot_by_address_.end()) return &it->second;
    }
    return nullptr;
  }();
  const PeerSlot slot = known != nullptr ? *known : next_slot_++;
  if (!name.empty()) slot_by_name_.emplace(name, slot);
  for (const std::string& address : addresses) slot_by_address_.emplace(address, slot);
  if (!stopped_) {
    reactor_->post([this, slot, name, addresses] { open_on_thread(slot, name, addresses); });
  }
  return slot;
}

void ControlPlane::Shell::open_on_thread(PeerSlot slot, const std::string& name,
                                         const std::vector<std::string>& addresses) {
  if (slot == peers_.size()) {
    peers_.push_back(std::make_unique<OutboundPeer>(
        context_, slot, [this, slot](const Status& why) { lanes_.cancel(slot, why); }));
    if (context_.sessions >= context_.options.sessions_max) {
      peers_[slot]->refuse(Status(
          Code::kBusy, {.what = "opening peer " + name,
                        .why = std::to_string(context_.sessions) + " sessions are open already",
                        .hint = "raise control.sessions_max",
                        .peer = name}));
    } else {
      ++context_.sessions;
    }
  }
  peers_[slot]->open(name, addresses);
}

OutboundPeer* ControlPlane::Shell::find_peer(PeerSlot slot) {
  return slot < peers_.size() ? peers_[slot].get() : nullptr;
}

void ControlPlane::Shell::look_up(PeerSlot peer, const std::string& segment, Duration timeout,
                                  const LookUps::Done& done) {
  if (segment.empty() || segment.size() > kNameMax) {
    return done(Status(Code::kInvalidArgument,
                       {.what = "look-up of a segment",
                        .why = "its name has " + std::to_string(segment.size()) + " bytes, 1 to " +
                               std::to_string(kNameMax) + " are allowed"}));
  }
  const Instant deadline = after(read_monotonic_clock(), timeout);
  const bool posted = post([this, peer, segment, deadline, done] {
    OutboundPeer* target = find_peer(peer);
    if (target != nullptr) return target->look_up(segment, deadline, done);
    done(Status(Code::kInvalidArgument, {.what = "look-up of segment " + segment,
                                         .why = "no peer " + std::to_string(peer) + " was opened",
                                         .hint = "call open_peer first"}));
  });
  if (!posted) done(shut_down_status());
}

}  // namespace spindrift::control
