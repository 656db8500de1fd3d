// An IP address and a port, as text and as what the kernel wants. Numeric only:
// a name look-up blocks for seconds, and no thread here may. Pure value type.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "spindrift/status.h"

struct sockaddr;

namespace spindrift::control {

class SocketAddress {
 public:
  SocketAddress() = default;

  // "10.0.2.1" or "fd00::1"
  static Result<SocketAddress> of(std::string_view host, std::uint16_t port);
  // "10.0.2.1:7400" or "[fd00::1]:7400"
  static Result<SocketAddress> parse(std::string_view text);
  static SocketAddress local_of(int socket);  // port 0 and no address on error
  static SocketAddress remote_of(int socket);

  bool is_v6() const { return v6_; }
  bool is_loopback() const;
  bool is_any() const;
  std::uint16_t port() const { return port_; }
  void set_port(std::uint16_t port) { port_ = port; }
  bool same_host(const SocketAddress& other) const {
    return v6_ == other.v6_ && bytes_ == other.bytes_;
  }
  // The same family and the first `prefix` bits.
  bool same_subnet(const SocketAddress& other, unsigned prefix) const;

  std::string host() const;
  std::string to_string() const;

  // Fills a sockaddr_storage and returns its length. `device` gives a link-local
  // IPv6 address its scope.
  unsigned fill(void* storage, const std::string& device) const;

 private:
  static SocketAddress from(const sockaddr* address);

  bool v6_ = false;
  std::array<std::uint8_t, 16> bytes_{};  // IPv4: the first four
  std::uint16_t port_ = 0;
};

// "IP:PORT" with the brackets that IPv6 needs.
std::string join_host_port(const std::string& host, std::uint16_t port);

}  // namespace spindrift::control
