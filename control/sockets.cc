#include "control/sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace spindrift::control {
namespace {

// Of connections that wait to be accepted; the kernel caps it by somaxconn.
constexpr int kBacklog = 512;

// A silent path is given up after about 8 s. Sooner would cost connections of
// peers that are merely stopped for a moment; a fence does not wait for it,
// since it goes out on all connections.
constexpr int kKeepIdleSeconds = 5;
constexpr int kKeepIntervalSeconds = 1;
constexpr int kKeepCount = 3;
constexpr int kUserTimeoutMs = 8000;

void set_option(int socket, int level, int option, int value) {
  // Best effort: the connection works without.
  (void)::setsockopt(socket, level, option, &value, sizeof value);
}

Status failed(std::string what, std::string why, int error) {
  const Code code = error == EADDRINUSE ? Code::kAddressInUse : Code::kIoError;
  return Status(code, {.what = std::move(what), .why = std::move(why), .os_error = error});
}

Result<FileDescriptor> open_socket(const SocketAddress& address) {
  FileDescriptor fd(::socket(address.is_v6() ? AF_INET6 : AF_INET,
                             SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd) return fd;
  return Status(
      Code::kIoError,
      {.what = "socket", .hint = "raise the limit of open files (ulimit -n)", .os_error = errno});
}

Status bind_device(int socket, const std::string& device) {
  if (device.empty()) return {};
  if (::setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, device.c_str(),
                   static_cast<socklen_t>(device.size())) == 0) {
    return {};
  }
  return failed("binding a socket to interface " + device, "the kernel refused", errno);
}

int bind_address(int socket, const SocketAddress& address, const std::string& device) {
  sockaddr_storage storage{};
  const unsigned length = address.fill(&storage, device);
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&storage), length) == 0 ? 0 : errno;
}

// Returns an errno; `out` is open when it is 0.
int try_listen(const SocketAddress& address, const std::string& device, FileDescriptor& out,
               Status& why) {
  auto fd = open_socket(address);
  if (!fd) {
    why = fd.status();
    return EMFILE;
  }
  // A port in TIME_WAIT of the previous run is free; one that somebody listens
  // on still is not.
  set_option(fd->get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.is_v6()) set_option(fd->get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  why = bind_device(fd->get(), device);
  if (!why.ok()) return EINVAL;
  int error = bind_address(fd->get(), address, device);
  if (error == 0 && ::listen(fd->get(), kBacklog) != 0) error = errno;
  if (error == 0) out = std::move(*fd);
  return error;
}

}  // namespace

Result<FileDescriptor> open_listener(SocketAddress& address, PortRange ports,
                                     const std::string& device) {
  if (ports.min > ports.max || (ports.min == 0 && ports.max != 0)) {
    return Status(Code::kInvalidArgument,
                  {.what = "listening on " + address.host(),
                   .why = "ports " + std::to_string(ports.min) + " to " +
                          std::to_string(ports.max) + " are no range",
                   .hint = "write the lower port first; 0 alone means any free port"});
  }
  FileDescriptor fd;
  int error = 0;
  for (std::uint32_t port = ports.min; port <= ports.max; ++port) {
    address.set_port(static_cast<std::uint16_t>(port));
    Status why;
    error = try_listen(address, device, fd, why);
    if (!why.ok()) return why;
    if (error == 0) {
      address.set_port(SocketAddress::local_of(fd.get()).port());
      return fd;
    }
    if (error != EADDRINUSE) break;
  }
  if (error != EADDRINUSE) return failed("listening on " + address.to_string(), "", error);
  const bool many = ports.min != ports.max;
  return Status(Code::kAddressInUse,
                {.what = "listening on " + join_host_port(address.host(), ports.min) +
                         (many ? " to port " + std::to_string(ports.max) : ""),
                 .why = many ? "every port of the range is taken" : "another program has the port",
                 .hint = "stop that program, or choose other ports; 0 takes any free one",
                 .os_error = error});
}

Result<FileDescriptor> start_connect(const SocketAddress& remote, const SocketAddress* local,
                                     const std::string& device) {
  auto fd = open_socket(remote);
  if (!fd) return fd;
  if (Status bound = bind_device(fd->get(), device); !bound.ok()) return bound;
  if (local != nullptr) {
    // The port is chosen at connect, so that many connections can share one.
    set_option(fd->get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    if (const int error = bind_address(fd->get(), *local, device); error != 0) {
      return failed("leaving from address " + local->host(), "the kernel refused", error);
    }
  }
  sockaddr_storage storage{};
  const unsigned length = remote.fill(&storage, device);
  if (::connect(fd->get(), reinterpret_cast<const sockaddr*>(&storage), length) == 0 ||
      errno == EINPROGRESS) {
    return fd;
  }
  return Status(Code::kPeerUnreachable, {.what = "connecting to " + remote.to_string(),
                                         .why = "the kernel refused",
                                         .os_error = errno});
}

int connect_outcome(int socket) {
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

void tune_control_socket(int socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdleSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kKeepIntervalSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kKeepCount);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
}

}  // namespace spindrift::control
