#include "control/lane_connector.h"

#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <vector>

#include "base/clock.h"

namespace spindrift::control {
namespace {

std::string rail_name(const DataEndpoint& local, const DataEndpoint& remote) {
  return RailFacts{
      .transport = local.transport, .local_device = local.device, .remote_device = remote.device}
      .name();
}

}  // namespace

Result<Dial::Target> LaneConnector::target_of(const LaneRequest& lane,
                                              const Established* established) const {
  if (established == nullptr) {
    return Status(Code::kPeerUnreachable,
                  Status::Detail{.what = "data connection", .why = "the peer was never connected"});
  }
  const auto& ours = context_.handshake.identity.endpoints;
  const auto& theirs = established->peer.endpoints;
  if (lane.local_endpoint >= ours.size() || lane.remote_endpoint >= theirs.size()) {
    return Status(Code::kInvalidArgument,
                  Status::Detail{.what = "data connection", .why = "no such endpoint"});
  }
  const DataEndpoint& local = ours[lane.local_endpoint];
  const DataEndpoint& remote = theirs[lane.remote_endpoint];
  const auto from = SocketAddress::of(local.address, 0);
  const auto to = SocketAddress::of(remote.address, remote.port);
  if (!from) return from.status();
  if (!to) return to.status();
  if (remote.port == 0 || from->is_v6() != to->is_v6()) {
    return Status(Code::kInvalidArgument,
                  {.what = "data connection from " + from->host() + " to " + to->to_string(),
                   .why = "the two ends do not match"});
  }
  return Dial::Target{*to, *from, local.bind_device ? local.device : ""};
}

void LaneConnector::connect(const LaneRequest& lane, const Established* established) {
  const auto target = target_of(lane, established);
  if (!target) return context_.events.lane_failed(lane, target.status());
  const LaneId id(lane.peer, lane.lane_key);
  if (const auto it = attempts_.find(id); it != attempts_.end()) {
    if (it->second->lane.generation >= lane.generation) {
      return context_.events.lane_failed(
          lane, failed(*it->second, Code::kAlreadyExists, "another attempt is going on"));
    }
    fail(id, failed(*it->second, Code::kCancelled, "a newer generation took its place"));
  }
  auto attempt = std::make_unique<Attempt>(context_.reactor);
  attempt->lane = lane;
  attempt->peer = established->peer.name;
  attempt->rail = rail_name(context_.handshake.identity.endpoints[lane.local_endpoint],
                            established->peer.endpoints[lane.remote_endpoint]);
  attempt->hello = encode_lane_hello({.direction = lane.direction,
                                      .worker = lane.worker,
                                      .initiator = context_.handshake.identity.incarnation,
                                      .responder = established->peer.incarnation,
                                      .channel = established->channel,
                                      .lane_key = lane.lane_key,
                                      .generation = lane.generation,
                                      .first_seq = lane.first_seq},
                                     established->session_secret);
  attempt->dial = std::make_unique<Dial>(
      context_.reactor, *target, context_.options.connect_timeout,
      [this, id](Result<std::unique_ptr<Watch>> socket) { on_dialed(id, std::move(socket)); });
  attempts_[id] = std::move(attempt);
}

void LaneConnector::on_dialed(LaneId id, Result<std::unique_ptr<Watch>> socket) {
  Attempt& attempt = *attempts_.at(id);
  attempt.dial.reset();
  if (!socket) {
    Status::Detail detail = socket.status().detail();
    detail.peer = attempt.peer;
    detail.rail = attempt.rail;
    return fail(id, Status(socket.code(), std::move(detail)));
  }
  attempt.socket = std::move(*socket);
  const ssize_t sent = ::send(attempt.socket->fd(), attempt.hello.data(), attempt.hello.size(),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
  // The empty buffer of a new connection holds far more than a hello.
  if (sent != static_cast<ssize_t>(attempt.hello.size())) {
    return fail(id, failed(attempt, Code::kRailFailed, "its hello could not be sent",
                           sent < 0 ? errno : 0));
  }
  attempt.timer.set(after(read_monotonic_clock(), context_.options.handshake_timeout), [this, id] {
    fail(id, failed(*attempts_.at(id), Code::kRailFailed,
                    "connected, and the peer did not answer the hello in time"));
  });
  attempt.socket->when_readable([this, id] { on_readable(id); });
}

void LaneConnector::on_readable(LaneId id) {
  Attempt& attempt = *attempts_.at(id);
  const std::size_t missing = attempt.answer.size() - attempt.answer_got;
  const ssize_t got =
      ::recv(attempt.socket->fd(), attempt.answer.data() + attempt.answer_got, missing, 0);
  if (got == 0) return fail(id, failed(attempt, Code::kRailFailed, "closed without an answer"));
  if (got < 0 && errno != EAGAIN && errno != EINTR) {
    return fail(id, failed(attempt, Code::kRailFailed, "lost before the answer", errno));
  }
  if (got > 0) attempt.answer_got += static_cast<std::size_t>(got);
  if (attempt.answer_got == attempt.answer.size()) return on_answer(id);
  attempt.socket->when_readable([this, id] { on_readable(id); });
}

void LaneConnector::on_answer(LaneId id) {
  Attempt& attempt = *attempts_.at(id);
  const auto answer = decode_lane_answer(std::span(attempt.answer));
  if (!answer) return fail(id, failed(attempt, Code::kProtocol, "an answer of another protocol"));
  switch (*answer) {
    case LaneAnswer::kAdopted: {
      const LaneRequest lane = attempt.lane;
      FileDescriptor socket = attempt.socket->release();
      attempt.socket.reset();
      attempts_.erase(id);
      return context_.events.lane_connected(lane, std::move(socket));
    }
    case LaneAnswer::kStaleGeneration:
      return fail(id, failed(attempt, Code::kRailFailed, "the peer has fenced this generation"));
    case LaneAnswer::kBusy:
      return fail(id, failed(attempt, Code::kBusy, "the peer serves as many lanes as it may"));
    case LaneAnswer::kUnauthorised:
      return fail(id, failed(attempt, Code::kUnauthenticated, "the peer did not accept the token"));
  }
}

Status LaneConnector::failed(const Attempt& attempt, Code code, std::string why,
                             int os_error) const {
  return Status(code, {.what = "data connection of lane " + std::to_string(attempt.lane.lane_key) +
                               ", generation " + std::to_string(attempt.lane.generation),
                       .why = std::move(why),
                       .peer = attempt.peer,
                       .rail = attempt.rail,
                       .os_error = os_error});
}

void LaneConnector::fail(LaneId id, Status why) {
  const auto it = attempts_.find(id);
  const LaneRequest lane = it->second->lane;
  attempts_.erase(it);
  context_.events.lane_failed(lane, why);
}

void LaneConnector::cancel(PeerSlot peer, const Status& why) {
  std::vector<LaneId> ids;
  for (const auto& [id, attempt] : attempts_) {
    if (id.first == peer) ids.push_back(id);
  }
  for (const LaneId& id : ids) fail(id, why);
}

}  // namespace spindrift::control
