// Settings of the control plane. docs/CONFIG.md lists the YAML names.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"

namespace spindrift::control {

struct ControlOptions {
  std::string bind = "127.0.0.1";  // anything else needs a key or insecure: true
  std::uint16_t port_min = 0;      // 0-0: any free port; the actual one is published
  std::uint16_t port_max = 0;
  std::string advertise;  // host peers are told; empty: the bound address
  // Cluster keys, newest first; two may be valid during a rotation. A peer that
  // knows any of them is accepted; the first is used when connecting.
  std::vector<std::string> keys;
  bool insecure = false;  // no authentication at all, said in so many words

  Duration handshake_timeout = std::chrono::seconds(2);  // whole, from accept
  Duration connect_timeout = std::chrono::seconds(2);
  Duration resend_after = std::chrono::milliseconds(100);  // unacknowledged messages
  Duration reconnect_min = std::chrono::milliseconds(50);
  Duration reconnect_max = std::chrono::seconds(5);
  std::uint32_t message_max = 1024 * 1024;    // bytes of one message
  std::uint32_t unacked_max = 1024;           // messages waiting per session
  std::uint32_t sessions_max = 4096;          // inbound and outbound together
  std::uint32_t half_open_max = 256;          // accepted, handshake not finished
  std::uint32_t connections_per_session = 4;  // over different rails
};

}  // namespace spindrift::control
