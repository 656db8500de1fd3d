// What the parts of the control thread share. Built by the shell, which outlives
// them all. Control thread only, but for the counters.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/prng.h"
#include "control/control_plane.h"
#include "control/handshake.h"
#include "control/reactor.h"
#include "control/session.h"

namespace spindrift::control {

// Written by the control thread, read by any.
struct LiveCounters {
  std::atomic<std::uint64_t> handshakes_ok{0};
  std::atomic<std::uint64_t> handshakes_refused{0};
  std::atomic<std::uint64_t> connections_accepted{0};
  std::atomic<std::uint64_t> messages_sent{0};
  std::atomic<std::uint64_t> messages_resent{0};
  std::atomic<std::uint64_t> messages_received{0};

  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t n = 1) {
    counter.fetch_add(n, std::memory_order_relaxed);
  }
};

struct Context {
  Reactor& reactor;
  ControlEvents& events;
  ControlOptions options;
  HandshakeOptions handshake;  // the identity carries the listeners' ports
  LiveCounters counters;
  Prng jitter;  // of back-off
  ConnectionId last_connection = 0;
  // Peers opened by this engine and sessions opened to it, for sessions_max.
  std::size_t sessions = 0;

  ConnectionId next_connection() { return ++last_connection; }
};

}  // namespace spindrift::control
