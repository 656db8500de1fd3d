#include "control/socket_address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace spindrift::control {
namespace {

Status bad_address(std::string_view text, std::string why) {
  return Status(Code::kInvalidArgument,
                {.what = "address \"" + std::string(text.substr(0, 100)) + "\"",
                 .why = std::move(why),
                 .hint = "write IP:PORT, for example 10.0.0.2:7400 or [fd00::2]:7400"});
}

}  // namespace

Result<SocketAddress> SocketAddress::of(std::string_view host, std::uint16_t port) {
  SocketAddress address;
  address.port_ = port;
  const std::string text(host);
  if (::inet_pton(AF_INET, text.c_str(), address.bytes_.data()) == 1) return address;
  address.v6_ = true;
  if (::inet_pton(AF_INET6, text.c_str(), address.bytes_.data()) == 1) return address;
  return bad_address(host, "not a numeric IP address");
}

Result<SocketAddress> SocketAddress::parse(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_address(text, "no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0) {
    return bad_address(text, "the port is not a number from 1 to 65535");
  }
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string_view::npos) {
    return bad_address(text, "an IPv6 address needs brackets");
  }
  auto address = of(host, port);
  if (!address) return bad_address(text, "not a numeric IP address");
  return address;
}

SocketAddress SocketAddress::from(const sockaddr* address) {
  SocketAddress to;
  if (address->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof in);
    std::memcpy(to.bytes_.data(), &in.sin_addr, 4);
    to.port_ = ntohs(in.sin_port);
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, address, sizeof in);
    to.v6_ = true;
    std::memcpy(to.bytes_.data(), &in.sin6_addr, 16);
    to.port_ = ntohs(in.sin6_port);
  }
  return to;
}

SocketAddress SocketAddress::local_of(int socket) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (::getsockname(socket, address, &length) != 0) return {};
  return from(address);
}

SocketAddress SocketAddress::remote_of(int socket) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (::getpeername(socket, address, &length) != 0) return {};
  return from(address);
}

bool SocketAddress::is_loopback() const {
  if (!v6_) return bytes_[0] == 127;
  return std::all_of(bytes_.begin(), bytes_.end() - 1, [](auto b) { return b == 0; }) &&
         bytes_[15] == 1;
}

bool SocketAddress::is_any() const {
  return std::all_of(bytes_.begin(), bytes_.end(), [](auto b) { return b == 0; });
}

bool SocketAddress::same_subnet(const SocketAddress& other, unsigned prefix) const {
  if (v6_ != other.v6_ || prefix > (v6_ ? 128u : 32u)) return false;
  for (unsigned bit = 0; bit < prefix; bit += 8) {
    const unsigned left = std::min(prefix - bit, 8u);
    const auto mask = static_cast<std::uint8_t>(0xff << (8 - left));
    if (((bytes_[bit / 8] ^ other.bytes_[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

std::string SocketAddress::host() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (::inet_ntop(v6_ ? AF_INET6 : AF_INET, bytes_.data(), text, sizeof text) == nullptr) return {};
  return text;
}

std::string SocketAddress::to_string() const {
  return join_host_port(host(), port_);
}

unsigned SocketAddress::fill(void* storage, const std::string& device) const {
  if (!v6_) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port_);
    std::memcpy(&in.sin_addr, bytes_.data(), 4);
    std::memcpy(storage, &in, sizeof in);
    return sizeof in;
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port_);
  std::memcpy(&in.sin6_addr, bytes_.data(), 16);
  const bool link_local = bytes_[0] == 0xfe && (bytes_[1] & 0xc0) == 0x80;
  if (link_local && !device.empty()) in.sin6_scope_id = ::if_nametoindex(device.c_str());
  std::memcpy(storage, &in, sizeof in);
  return sizeof in;
}

std::string join_host_port(const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace spindrift::control
