#include "control/lane_connector.h"

#include <poll.h>

#include <catch2/catch.hpp>
#include <string>

#include "node.h"

namespace spindrift::control {
namespace {

TEST_CASE("a lane is connected and carries bytes") {
  Node a({.name = "a", .endpoints = 2});
  Node b({.name = "b", .incarnation = 2, .endpoints = 2});
  const PeerSlot slot = a.plane->open_peer("b", {b.plane->address()});
  REQUIRE(a.events.wait_for([](auto& s) { return s.connected.size() == 1; }));
  const LaneRequest lane{.peer = slot,
                         .worker = 1,
                         .lane_key = 7,
                         .generation = 3,
                         .first_seq = 99,
                         .direction = Operation::kRead,
                         .local_endpoint = 1,
                         .remote_endpoint = 0};
  a.plane->connect_lane(lane);
  REQUIRE(a.events.wait_for([](auto& s) { return s.lanes_made.size() == 1; }));
  REQUIRE(b.events.wait_for([](auto& s) { return s.lanes_accepted.size() == 1; }));
  auto& [made, socket] = a.events.read([](auto& s) -> auto& { return s.lanes_made[0]; });
  auto& accepted = b.events.read([](auto& s) -> auto& { return s.lanes_accepted[0]; });
  CHECK(made.lane_key == 7);
  CHECK(accepted.lane_key == 7);
  CHECK(accepted.generation == 3);
  CHECK(accepted.first_seq == 99);
  CHECK(accepted.direction == Operation::kRead);
  CHECK(accepted.session == b.events.read([](auto& s) { return s.opened[0].first; }));
  CHECK(SocketAddress::local_of(socket.get()).host() == "127.0.0.2");
  CHECK(SocketAddress::remote_of(socket.get()).host() == "127.0.0.1");

  REQUIRE(::send(socket.get(), "data", 4, 0) == 4);
  pollfd ready{accepted.socket.get(), POLLIN, 0};
  REQUIRE(::poll(&ready, 1, 20'000) == 1);
  char bytes[8] = {};
  CHECK(::recv(accepted.socket.get(), bytes, sizeof bytes, 0) == 4);
  CHECK(std::string(bytes) == "data");
  // Non-blocking at both ends.
  CHECK(::recv(socket.get(), bytes, sizeof bytes, 0) == -1);
  CHECK(errno == EAGAIN);
}

TEST_CASE("rails of IPv6 and rails bound to their device carry lanes") {
  for (const bool v6 : {true, false}) {
    Recorder events[2];
    std::unique_ptr<ControlPlane> planes[2];
    for (std::uint64_t i : {0, 1}) {
      ControlOptions options = quick_options();
      LocalIdentity who = identity({.name = i == 0 ? "a" : "b", .incarnation = i + 1});
      who.endpoints[0].bind_device = true;
      if (v6) {
        options.bind = who.endpoints[0].address = "::1";
        who.endpoints[0].prefix = 128;
      }
      auto started = ControlPlane::start(options, 0, 0, who, events[i]);
      if (v6 && started.code() == Code::kIoError) return;  // a kernel without IPv6
      INFO(started.status().to_string());
      REQUIRE(started.ok());
      planes[i] = std::move(*started);
    }
    const PeerSlot slot = planes[0]->open_peer("b", {planes[1]->address()});
    REQUIRE(events[0].wait_for([](auto& s) { return s.connected.size() == 1; }));
    planes[0]->connect_lane({.peer = slot, .lane_key = 1, .generation = 1});
    REQUIRE(events[0].wait_for([](auto& s) { return s.lanes_made.size() == 1; }));
  }
}

TEST_CASE("a generation connects once") {
  Node a({.name = "a"});
  Node b({.name = "b", .incarnation = 2});
  const PeerSlot slot = a.plane->open_peer("b", {b.plane->address()});
  REQUIRE(a.events.wait_for([](auto& s) { return s.connected.size() == 1; }));
  LaneRequest lane{.peer = slot, .lane_key = 1, .generation = 5};
  a.plane->connect_lane(lane);
  REQUIRE(a.events.wait_for([](auto& s) { return s.lanes_made.size() == 1; }));
  a.plane->connect_lane(lane);  // the same token again
  REQUIRE(a.events.wait_for([](auto& s) { return s.lane_failed.size() == 1; }));
  lane.generation = 4;
  a.plane->connect_lane(lane);
  REQUIRE(a.events.wait_for([](auto& s) { return s.lane_failed.size() == 2; }));
  for (std::size_t i : {0u, 1u}) {
    CHECK(a.events.read([i](auto& s) { return s.lane_failed[i].second.code(); }) ==
          Code::kUnauthenticated);
  }
  lane.generation = 6;
  a.plane->connect_lane(lane);
  CHECK(a.events.wait_for([](auto& s) { return s.lanes_made.size() == 2; }));
  CHECK(b.events.read([](auto& s) { return s.lanes_accepted.size(); }) == 2);
}

TEST_CASE("a lane that cannot be made says why") {
  struct Case {
    LaneAnswer answer;
    Code code;
  };
  const Case cases[] = {{LaneAnswer::kBusy, Code::kBusy},
                        {LaneAnswer::kStaleGeneration, Code::kRailFailed},
                        {LaneAnswer::kUnauthorised, Code::kUnauthenticated}};
  for (const Case& c : cases) {
    Node a({.name = "a"});
    Node b({.name = "b", .incarnation = 2});
    b.events.answer = c.answer;
    const PeerSlot slot = a.plane->open_peer("b", {b.plane->address()});
    REQUIRE(a.events.wait_for([](auto& s) { return s.connected.size() == 1; }));
    a.plane->connect_lane({.peer = slot, .lane_key = 1, .generation = 1});
    REQUIRE(a.events.wait_for([](auto& s) { return s.lane_failed.size() == 1; }));
    const Status why = a.events.read([](auto& s) { return s.lane_failed[0].second; });
    CHECK(why.code() == c.code);
    CHECK(why.detail().rail == "tcp:lo>lo");
    CHECK(why.detail().peer == "b");
  }

  Node a({.name = "a"});
  const PeerSlot nobody = a.plane->open_peer("nobody", {"127.0.0.1:1"});
  a.plane->connect_lane({.peer = nobody, .lane_key = 1});
  REQUIRE(a.events.wait_for([](auto& s) { return s.lane_failed.size() == 1; }));
  CHECK(a.events.read([](auto& s) { return s.lane_failed[0].second.code(); }) ==
        Code::kPeerUnreachable);
  Node b({.name = "b", .incarnation = 2});
  const PeerSlot slot = a.plane->open_peer("b", {b.plane->address()});
  REQUIRE(a.events.wait_for([](auto& s) { return s.connected.size() == 1; }));
  a.plane->connect_lane({.peer = slot, .lane_key = 1, .local_endpoint = 9});
  REQUIRE(a.events.wait_for([](auto& s) { return s.lane_failed.size() == 2; }));
  CHECK(a.events.read([](auto& s) { return s.lane_failed[1].second.code(); }) ==
        Code::kInvalidArgument);
}

TEST_CASE("a peer that never answers a hello fails the lane in time") {
  ControlOptions options = quick_options();
  options.handshake_timeout = milliseconds(300);
  Node a({.name = "a"}, options);
  Node b({.name = "b", .incarnation = 2});
  b.events.adopt = false;
  const PeerSlot slot = a.plane->open_peer("b", {b.plane->address()});
  REQUIRE(a.events.wait_for([](auto& s) { return s.connected.size() == 1; }));
  a.plane->connect_lane({.peer = slot, .lane_key = 1, .generation = 1});
  // While it waits, the same lane is not tried twice; a newer generation wins.
  a.plane->connect_lane({.peer = slot, .lane_key = 1, .generation = 1});
  a.plane->connect_lane({.peer = slot, .lane_key = 1, .generation = 2});
  REQUIRE(a.events.wait_for([](auto& s) { return s.lane_failed.size() == 3; }));
  const auto code = [&](std::size_t i) {
    return a.events.read([i](auto& s) { return s.lane_failed[i].second.code(); });
  };
  CHECK(code(0) == Code::kAlreadyExists);
  CHECK(code(1) == Code::kCancelled);
  CHECK(code(2) == Code::kRailFailed);
}

}  // namespace
}  // namespace spindrift::control
