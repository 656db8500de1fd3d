// A control plane on loopback and the recorder of its events, for tests.
#pragma once

#include <poll.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "control/control_plane.h"
#include "control/socket_address.h"
#include "recorder.h"

namespace spindrift::control {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct NodeSpec {
  std::string name = "node";
  std::uint64_t incarnation = 1;
  int endpoints = 1;
  std::uint16_t port = 0;       // control; 0: any
  std::uint16_t data_port = 0;  // 0: any
};

inline ControlOptions quick_options() {
  ControlOptions options;
  options.reconnect_min = milliseconds(10);
  options.reconnect_max = milliseconds(100);
  return options;
}

inline LocalIdentity identity(const NodeSpec& spec) {
  LocalIdentity id;
  id.name = spec.name;
  id.incarnation = {spec.incarnation, 42};
  id.host_id = "one-host";
  for (int i = 0; i < spec.endpoints; ++i) {
    id.endpoints.push_back({.device = "lo",
                            .address = "127.0.0." + std::to_string(i + 1),
                            .prefix = 8,
                            .bind_device = false});
  }
  return id;
}

struct Node {
  explicit Node(const NodeSpec& spec, ControlOptions options = quick_options()) {
    set_log_level(LogLevel::kOff);
    options.port_min = options.port_max = spec.port;
    auto started =
        ControlPlane::start(options, spec.data_port, spec.data_port, identity(spec), events);
    INFO(started.status().to_string());
    REQUIRE(started.ok());
    plane = std::move(*started);
  }
  std::uint16_t port() const { return SocketAddress::parse(plane->address())->port(); }

  Recorder events;  // outlives the plane
  std::unique_ptr<ControlPlane> plane;
};

inline PublishedRegion region(std::uint32_t key, const std::string& segment = "kv") {
  return {.segment = segment,
          .key = key,
          .address = key * 0x10000,
          .length = 0x1000,
          .rights = Rights::kRemoteReadWrite};
}

inline Result<Segment::Data> look_up(ControlPlane& plane, PeerSlot peer, const std::string& segment,
                                     Duration timeout = seconds(20)) {
  std::promise<Result<Segment::Data>> answer;
  plane.look_up(peer, segment, timeout,
                [&](Result<Segment::Data> result) { answer.set_value(std::move(result)); });
  return answer.get_future().get();
}

template <typename Condition>
bool eventually(Condition condition) {
  // Counters have no event to wait for; a bounded poll, not a sleep for luck.
  for (int i = 0; i < 20'000; ++i) {
    if (condition()) return true;
    ::poll(nullptr, 0, 1);
  }
  return false;
}

}  // namespace spindrift::control
