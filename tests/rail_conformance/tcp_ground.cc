#include "tcp_ground.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "base/clock.h"

namespace spindrift::conformance {
namespace {

void set_non_blocking(int fd) {
  SPINDRIFT_CHECK(::fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
}

}  // namespace

SocketPair connected_sockets() {
  const FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  SPINDRIFT_CHECK(::bind(listener.get(), any, size) == 0);
  SPINDRIFT_CHECK(::listen(listener.get(), 1) == 0);
  SPINDRIFT_CHECK(::getsockname(listener.get(), any, &size) == 0);
  SocketPair pair;
  pair.left.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  SPINDRIFT_CHECK(::connect(pair.left.get(), any, size) == 0);
  pair.right.reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  SPINDRIFT_CHECK(pair.right);
  set_non_blocking(pair.left.get());
  set_non_blocking(pair.right.get());
  return pair;
}

bool Pump::run() {
  if (ended_) return false;
  if (sent_ == have_) {
    const ssize_t got = ::recv(from_, buffer_.data(), buffer_.size(), 0);
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) {
      ended_ = true;
      return true;
    }
    have_ = static_cast<std::size_t>(got);
    sent_ = 0;
    damage(have_);
  }
  const ssize_t put = ::send(to_, buffer_.data() + sent_, have_ - sent_, MSG_NOSIGNAL);
  if (put < 0 && errno == EAGAIN) return false;
  if (put < 0) ended_ = true;
  if (put > 0) sent_ += static_cast<std::size_t>(put);
  if (sent_ == have_ && fault_ && fault_->kind == LinkFault::Kind::kCut &&
      position_ == fault_->at_byte) {
    ended_ = true;
  }
  return true;
}

void Pump::damage(std::size_t& bytes) {
  const std::uint64_t begin = position_;
  // Before 0 the position is "negative": those bytes are the answer.
  const auto offset = static_cast<std::int64_t>(fault_ ? fault_->at_byte - begin : 0);
  const bool here = fault_ && offset >= 0 && offset < static_cast<std::int64_t>(bytes);
  if (here && fault_->kind == LinkFault::Kind::kFlip) buffer_[offset] ^= 0x10;
  if (here && fault_->kind == LinkFault::Kind::kCut) bytes = static_cast<std::size_t>(offset);
  position_ += bytes;
}

TcpGround::TcpGround(const rails::tcp::TcpOptions& options)
    : initiator_(options, &initiator_regions_), responder_(options, &responder_regions_) {
  SPINDRIFT_CHECK(initiator_.ready().ok());
  SPINDRIFT_CHECK(responder_.ready().ok());
}

Instant TcpGround::now() {
  return read_monotonic_clock();
}

bool TcpGround::pump() {
  bool moved = false;
  for (auto& relay : relays_) {
    moved = relay->to_responder.run() || moved;
    moved = relay->to_initiator.run() || moved;
  }
  return std::erase_if(relays_,
                       [](const auto& relay) {
                         return relay->to_responder.ended() || relay->to_initiator.ended();
                       }) > 0 ||
         moved;
}

bool TcpGround::wait(Duration most) {
  if (pump()) return true;
  std::vector<pollfd> fds = {{initiator_.wait_fd(), POLLIN, 0}, {responder_.wait_fd(), POLLIN, 0}};
  for (auto& relay : relays_) {
    for (Pump* pump : {&relay->to_responder, &relay->to_initiator}) {
      fds.push_back(pump->blocked() ? pollfd{pump->to(), POLLOUT, 0}
                                    : pollfd{pump->from(), POLLIN, 0});
    }
  }
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(most).count();
  const bool ready = ::poll(fds.data(), fds.size(), static_cast<int>(ms)) > 0;
  pump();
  return ready;
}

Ground::Ends TcpGround::link(LaneIndex, rails::InboundLaneId) {
  SocketPair first = connected_sockets();
  Ends ends;
  ends.initiator.socket = std::move(first.left);
  if (!fault_) {
    ends.responder.socket = std::move(first.right);
    return ends;
  }
  SocketPair second = connected_sockets();
  const int near = first.right.get();
  const int far = second.left.get();
  relays_.push_back(
      std::make_unique<Relay>(Relay{std::move(first.right), std::move(second.left),
                                    Pump(near, far, 0), Pump(far, near, kLaneAnswerBytes)}));
  (fault_->towards_responder ? relays_.back()->to_responder : relays_.back()->to_initiator)
      .arm(*fault_);
  fault_.reset();
  ends.responder.socket = std::move(second.right);
  return ends;
}

std::optional<LaneAnswer> TcpGround::answer(rails::LaneEndpoint& initiator_end) {
  std::array<std::uint8_t, kLaneAnswerBytes> bytes{};
  std::size_t have = 0;
  while (have < bytes.size()) {
    pump();
    pollfd ready{initiator_end.socket.get(), POLLIN, 0};
    const bool woke = ::poll(&ready, 1, relays_.empty() ? 5000 : 1) > 0;
    if (!woke && relays_.empty()) return {};
    const ssize_t got =
        ::recv(initiator_end.socket.get(), bytes.data() + have, bytes.size() - have, 0);
    if (got < 0 && errno == EAGAIN) continue;
    if (got <= 0) return {};
    have += static_cast<std::size_t>(got);
  }
  return decode_lane_answer(bytes);
}

bool TcpGround::inject(const LinkFault& fault) {
  fault_ = fault;
  return true;
}

}  // namespace spindrift::conformance
