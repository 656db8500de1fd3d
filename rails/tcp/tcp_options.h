// Settings of the TCP backend. docs/CONFIG.md lists the YAML names.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/units.h"

namespace spindrift::rails::tcp {

struct TcpOptions {
  bool enabled = true;
  // Shell patterns over interface names. `include` empty: every interface that
  // discovery does not exclude by itself (loopback, virtual bridges, down).
  // A named interface is used even if discovery would have excluded it.
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  // Rails over addresses of the loopback interface, one per address, for hosts
  // without a network. Empty: none unless the engine is bound to loopback.
  std::vector<std::string> loopback_addresses;
  bool ipv4 = true;
  bool ipv6 = true;
  // Ports that data listeners may take; 0-0: any free one.
  std::uint16_t port_min = 0;
  std::uint16_t port_max = 0;

  Duration connect_timeout = std::chrono::seconds(2);
  std::string congestion = "cubic";  // asked for; what was got is reported
  // TCP_NOTSENT_LOWAT: at most about one slice hides in the socket.
  std::uint64_t notsent_lowat = 256 * kKiB;
  // A receiver confirms placement at least this often within a slice.
  std::uint64_t ack_every = 256 * kKiB;
  std::uint32_t inbound_lanes_max = 4096;  // per worker
  std::uint32_t inbound_reads_max = 1024;  // queued per inbound lane
};

}  // namespace spindrift::rails::tcp
