#include "control/inbound.h"

#include <sys/socket.h>

#include <utility>

#include "base/clock.h"
#include "base/lane_answer.h"
#include "base/log.h"
#include "control/codec.h"
#include "control/mac.h"

namespace spindrift::control {
namespace {

LogLimiter stranger_log(3);
LogLimiter half_open_log(1);
LogLimiter restart_log(5);

Status refused(const std::string& name, std::string why, std::string hint) {
  return Status(
      Code::kBusy,
      {.what = "session of " + name, .why = std::move(why), .hint = std::move(hint), .peer = name});
}

}  // namespace

Inbound::Inbound(Context& context, Directory& directory)
    : context_(context), directory_(directory) {}

Inbound::~Inbound() = default;

void Inbound::accepted(FileDescriptor socket) {
  LiveCounters::add(context_.counters.connections_accepted);
  if (!make_room_to_greet()) return;
  auto watch = context_.reactor.watch(std::move(socket));
  if (!watch) return stranger_log.log(LogLevel::kError, watch.status().to_string());
  auto greeting = std::make_unique<Greeting>(context_, *this, std::move(*watch));
  Greeting& started = *greeting;
  greetings_.emplace(context_.last_connection, std::move(greeting));
  started.start();
}

// Over the bound the one that has dawdled longest makes room, so that silent
// strangers do not keep everybody else out; but none that came just now.
bool Inbound::make_room_to_greet() {
  if (greetings_.size() < context_.options.half_open_max) return true;
  LiveCounters::add(context_.counters.handshakes_refused);
  half_open_log.log(LogLevel::kWarn,
                    "connection closed: " + std::to_string(greetings_.size()) +
                        " others are in the middle of their greeting (control.half_open_max)");
  const auto oldest = greetings_.begin();  // ids grow
  const Duration young = context_.options.handshake_timeout / 8;
  if (read_monotonic_clock() - oldest->second->begun() < young) return false;
  forget_greeting(oldest->first);
  return true;
}

// From within the greeting's own calls, so it dies a little later.
void Inbound::forget_greeting(ConnectionId id) {
  const auto it = greetings_.find(id);
  if (it == greetings_.end()) return;
  context_.reactor.post(
      [dead = std::shared_ptr<Greeting>(std::move(it->second))]() mutable { dead.reset(); });
  greetings_.erase(it);
}

void Inbound::greeting_failed(ConnectionId id, const Status& why) {
  LiveCounters::add(context_.counters.handshakes_refused);
  stranger_log.log(LogLevel::kWarn, why.to_string());
  forget_greeting(id);
}

Result<Nonce> Inbound::admit(const Established& established) {
  const RemotePeer& peer = established.peer;
  close_older_incarnations(peer);
  const SessionKey key(peer.incarnation, established.channel);
  if (const auto it = sessions_.find(key); it != sessions_.end()) {
    if (it->second->name() == peer.name) return it->second->session_nonce();
    return Status(Code::kProtocol, {.what = "session of " + peer.name,
                                    .why = "the incarnation is that of another node",
                                    .peer = peer.name});
  }
  if (Status room = make_room(); !room.ok()) {
    return refused(peer.name, room.detail().why, room.detail().hint);
  }
  Nonce nonce{};
  if (Status random = fill_random(nonce); !random.ok()) return random;
  const InboundSession id = ++last_id_;
  by_id_[id] = key;
  sessions_[key] = std::make_unique<InboundPeer>(context_, directory_, id, peer.name, nonce,
                                                 [this, key] { close(key); });
  ++context_.sessions;
  return nonce;
}

void Inbound::admitted(const Established& established) {
  const auto it = sessions_.find({established.peer.incarnation, established.channel});
  if (it != sessions_.end()) it->second->set_secret(established.session_secret);
}

// Both answered a fresh challenge of ours; the later answer is of the process
// that lives.
void Inbound::close_older_incarnations(const RemotePeer& peer) {
  std::vector<SessionKey> older;
  bool alive = false;
  for (const auto& [key, session] : sessions_) {
    if (session->name() != peer.name || key.first == peer.incarnation) continue;
    older.push_back(key);
    alive = alive || session->connected();
  }
  if (older.empty()) return;
  restart_log.log(
      LogLevel::kWarn,
      "peer " + peer.name + " is a new process; the sessions of the old one are closed" +
          (alive ? ". The old one was still connected: do two nodes have one name?" : ""));
  for (const SessionKey& key : older) close(key);
}

Status Inbound::make_room() {
  if (context_.sessions < context_.options.sessions_max) return {};
  const SessionKey* longest = nullptr;
  Instant since = kNever;
  for (const auto& [key, session] : sessions_) {
    if (session->connected() || session->disconnected_at() >= since) continue;
    // One whose handshake is going on right now would only come back.
    if (read_monotonic_clock() - session->disconnected_at() < context_.options.handshake_timeout) {
      continue;
    }
    since = session->disconnected_at();
    longest = &key;
  }
  if (longest != nullptr) {
    close(SessionKey(*longest));
    return {};
  }
  return Status(Code::kBusy,
                {.what = "sessions",
                 .why = "all " + std::to_string(context_.sessions) + " sessions are in use",
                 .hint = "raise control.sessions_max"});
}

void Inbound::close(SessionKey key) {
  const auto it = sessions_.find(key);
  if (it == sessions_.end()) return;
  const InboundSession id = it->second->id();
  const bool announced = it->second->opened();
  it->second->end();
  // Possibly from within one of its own calls.
  context_.reactor.post(
      [dead = std::shared_ptr<InboundPeer>(std::move(it->second))]() mutable { dead.reset(); });
  sessions_.erase(it);
  by_id_.erase(id);
  --context_.sessions;
  if (announced) context_.events.session_closed(id);
}

void Inbound::greeted(ConnectionId id, std::shared_ptr<FramedStream> stream,
                      const Established& established) {
  forget_greeting(id);
  const auto it = sessions_.find({established.peer.incarnation, established.channel});
  // Closed between admission and the end of the handshake; it comes again.
  if (it == sessions_.end() || it->second->session_nonce() != established.session_nonce) {
    return stream->close();
  }
  LiveCounters::add(context_.counters.handshakes_ok);
  it->second->connected(std::move(stream), established);
}

void Inbound::lane_greeted(ConnectionId id, const LaneHelloBytes& hello, FileDescriptor socket) {
  forget_greeting(id);
  const std::string from = SocketAddress::remote_of(socket.get()).to_string();
  const Status in = let_lane_in(hello, socket);
  if (in.ok()) return;
  LiveCounters::add(context_.counters.handshakes_refused);
  stranger_log.log(LogLevel::kWarn, "data connection from " + from + ": " + in.to_string());
  const auto answer = encode_lane_answer(LaneAnswer::kUnauthorised);
  // Eight bytes fit the empty buffer of a new connection.
  (void)::send(socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

Status Inbound::let_lane_in(const LaneHelloBytes& bytes, FileDescriptor& socket) {
  const auto no = [](const char* why) {
    return Status(Code::kUnauthenticated, Status::Detail{.what = "lane hello", .why = why});
  };
  const auto hello = decode_lane_hello(bytes);
  if (!hello) return no("not of a layout that this version knows");
  if (hello->responder != context_.handshake.identity.incarnation) {
    return no("meant for another process");
  }
  const auto it = sessions_.find({hello->initiator, hello->channel});
  if (it == sessions_.end()) return no("of no session");
  if (it->second->let_in(bytes, *hello, socket)) return {};
  return no("the token is wrong or was used before");
}

void Inbound::answer_fence(InboundSession session, const FenceReply& reply) {
  const auto id = by_id_.find(session);
  if (id == by_id_.end()) return;  // ended meanwhile: nobody waits for it
  sessions_.at(id->second)->answer_fence(reply);
}

void Inbound::shut_down() {
  greetings_.clear();
  for (auto& [key, session] : sessions_) session->say_goodbye();
  by_id_.clear();
  sessions_.clear();
}

}  // namespace spindrift::control
