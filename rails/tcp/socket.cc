#include "rails/tcp/socket.h"

#include <fcntl.h>
#include <linux/tcp.h>  // newer than netinet/tcp.h, which hides tcpi_min_rtt
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#ifndef TCP_RTO_MIN_US
#define TCP_RTO_MIN_US 45  // Linux 6.15; Debian 12's headers lack it
#endif

namespace spindrift::rails::tcp {
namespace {

// With it a lost packet costs tens of milliseconds instead of hundreds.
constexpr int kRtoMinUs = 5000;
// A silent host is given up after half a minute. Not by TCP_USER_TIMEOUT: that
// also ends a connection whose peer is merely paused with a closed window.
constexpr int kKeepIdleSeconds = 15;
constexpr int kKeepIntervalSeconds = 5;
constexpr int kKeepCount = 3;
constexpr std::size_t kCongestionNameBytes = 16;  // TCP_CA_NAME_MAX

void set_option(int fd, int option, int value) {
  // A kernel that lacks the option goes on without it; read_socket_info() tells.
  (void)::setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value);
}

Cause cause_of(int error) {
  switch (error) {
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
      return Cause::kLinkDown;
    default:
      return Cause::kConnectionReset;
  }
}

Moved outcome(ssize_t result, bool receiving) {
  if (result > 0) return {static_cast<std::size_t>(result), false, Cause::kNone};
  if (result == 0) {
    return receiving ? Moved{0, false, Cause::kConnectionClosed} : Moved{0, true, Cause::kNone};
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ENOMEM) {
    return {0, true, Cause::kNone};
  }
  return {0, false, cause_of(errno)};
}

msghdr message_of(const iovec* pieces, std::size_t count) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces);
  message.msg_iovlen = count;
  return message;
}

}  // namespace

void apply_socket_options(int fd, const TcpOptions& options) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0) (void)::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  set_option(fd, TCP_NODELAY, 1);
  constexpr std::uint64_t kIntMax = std::numeric_limits<int>::max();
  const std::uint64_t lowat = options.notsent_lowat < kIntMax ? options.notsent_lowat : kIntMax;
  if (lowat > 0) set_option(fd, TCP_NOTSENT_LOWAT, static_cast<int>(lowat));
  set_option(fd, TCP_RTO_MIN_US, kRtoMinUs);
  // A host that vanished says nothing: who only receives would wait for ever.
  const int on = 1;
  (void)::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  set_option(fd, TCP_KEEPIDLE, kKeepIdleSeconds);
  set_option(fd, TCP_KEEPINTVL, kKeepIntervalSeconds);
  set_option(fd, TCP_KEEPCNT, kKeepCount);
  if (!options.congestion.empty()) {
    (void)::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, options.congestion.data(),
                       static_cast<socklen_t>(options.congestion.size()));
  }
}

LaneSocketInfo read_socket_info(int fd, const TcpOptions& options) {
  LaneSocketInfo info;
  std::array<char, kCongestionNameBytes> name{};
  socklen_t size = name.size();
  if (::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) == 0) {
    info.congestion.assign(name.data(), ::strnlen(name.data(), name.size()));
  }
  info.congestion_as_asked = options.congestion.empty() || info.congestion == options.congestion;
  int rto_min = 0;
  size = sizeof rto_min;
  // The kernel rounds up to its tick, so compare with the default of 200 ms.
  info.small_rto_min =
      ::getsockopt(fd, IPPROTO_TCP, TCP_RTO_MIN_US, &rto_min, &size) == 0 && rto_min < 200'000;
  info.min_round_trip_ns = read_min_round_trip_ns(fd);
  return info;
}

std::uint64_t read_min_round_trip_ns(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  if (size < offsetof(tcp_info, tcpi_min_rtt) + sizeof info.tcpi_min_rtt) return 0;
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  return info.tcpi_min_rtt == kNone ? 0 : std::uint64_t{info.tcpi_min_rtt} * 1000;
}

void reset_and_close(FileDescriptor& socket, int epoll) {
  if (!socket) return;
  if (epoll >= 0) (void)::epoll_ctl(epoll, EPOLL_CTL_DEL, socket.get(), nullptr);
  const linger now{1, 0};
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  const sockaddr nowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
  (void)::connect(socket.get(), &nowhere, sizeof nowhere);
  socket.reset();
}

Moved send_some(int fd, const iovec* pieces, std::size_t count) {
  const msghdr message = message_of(pieces, count);
  ssize_t result = 0;
  do {
    result = ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (result < 0 && errno == EINTR);
  return outcome(result, false);
}

Moved receive_some(int fd, const iovec* pieces, std::size_t count) {
  msghdr message = message_of(pieces, count);
  ssize_t result = 0;
  do {
    result = ::recvmsg(fd, &message, MSG_DONTWAIT);
  } while (result < 0 && errno == EINTR);
  return outcome(result, true);
}

}  // namespace spindrift::rails::tcp
