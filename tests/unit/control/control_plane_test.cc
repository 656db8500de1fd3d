#include "control/control_plane.h"

#include <poll.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/prng.h"
#include "control/codec.h"
#include "control/handshake.h"
#include "control/lane_hello.h"
#include "control/socket_address.h"
#include "raw_client.h"
#include "recorder.h"
#include "relay.h"

namespace spindrift::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct NodeSpec {
  std::string name = "node";
  std::uint64_t incarnation = 1;
  int endpoints = 1;
  std::uint16_t port = 0;       // control; 0: any
  std::uint16_t data_port = 0;  // 0: any
};

ControlOptions quick_options() {
  ControlOptions options;
  options.reconnect_min = milliseconds(10);
  options.reconnect_max = milliseconds(100);
  return options;
}

LocalIdentity identity(const NodeSpec& spec) {
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

PublishedRegion region(std::uint32_t key, const std::string& segment = "kv") {
  return {.segment = segment,
          .key = key,
          .address = key * 0x10000,
          .length = 0x1000,
          .rights = Rights::kRemoteReadWrite};
}

Result<Segment::Data> look_up(ControlPlane& plane, PeerSlot peer, const std::string& segment,
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

TEST_CASE("two nodes connect, and each learns who the other is") {
  Node a({.name = "a", .incarnation = 11});
  Node b({.name = "b", .incarnation = 22, .endpoints = 2});
  const PeerSlot slot = a.plane->open_peer("b", {b.plane->address()});
  REQUIRE(a.events.wait_for([](auto& s) { return s.connected.size() == 1; }));
  REQUIRE(b.events.wait_for([](auto& s) { return s.opened.size() == 1; }));
  const auto remote = a.events.read([](auto& s) { return s.connected[0]; });
  CHECK(remote.first == slot);
  CHECK(remote.second.name == "b");
  CHECK(remote.second.incarnation == Incarnation{22, 42});
  CHECK(remote.second.host_id == "one-host");
  REQUIRE(remote.second.endpoints.size() == 2);
  CHECK(remote.second.endpoints[1].port == b.plane->endpoints()[1].port);
  CHECK(remote.second.endpoints[1].port != 0);
  CHECK(b.events.read([](auto& s) { return s.opened[0].second.name; }) == "a");
  CHECK(a.plane->counters().handshakes_ok >= 1);
}

TEST_CASE("opening a peer is idempotent per name and per address") {
  Node a({.name = "a"});
  const PeerSlot slot = a.plane->open_peer("b", {"127.0.0.1:1"});
  CHECK(a.plane->open_peer("b", {"127.0.0.1:2"}) == slot);
  CHECK(a.plane->open_peer("", {"127.0.0.1:2"}) == slot);
  CHECK(a.plane->open_peer("c", {"127.0.0.1:3"}) == slot + 1);
}

TEST_CASE("a segment is looked up, and a missing one lists what there is") {
  Node a({.name = "a"});
  Node b({.name = "b", .incarnation = 2});
  b.plane->publish(region(2));
  b.plane->publish(region(1));
  const PeerSlot slot = a.plane->open_peer("", {b.plane->address()});
  const auto found = look_up(*a.plane, slot, "kv");
  REQUIRE(found.ok());
  CHECK(found->peer == "b");
  CHECK(found->name == "kv");
  CHECK(found->peer_slot == slot);
  CHECK(found->incarnation == Incarnation{2, 42});
  REQUIRE(found->regions.size() == 2);
  CHECK(found->regions[0].key == 1);
  CHECK(found->regions[1].address == 0x20000);

  const auto missing = look_up(*a.plane, slot, "vk");
  CHECK(missing.code() == Code::kNotFound);
  CHECK(missing.status().to_string().find("it has: kv") != std::string::npos);
  b.plane->revoke("a", "kv");
  CHECK(look_up(*a.plane, slot, "kv").code() == Code::kNotFound);
}

TEST_CASE("a segment of many regions comes whole, in pages") {
  ControlOptions options = quick_options();
  options.message_max = kHandshakeMax;  // the least there is
  Node a({.name = "a"}, options);
  Node b({.name = "b", .incarnation = 2}, options);
  constexpr std::uint32_t kRegions = 10'000;
  for (std::uint32_t key = 1; key <= kRegions; ++key) b.plane->publish(region(key));
  const auto found = look_up(*a.plane, a.plane->open_peer("b", {b.plane->address()}), "kv");
  INFO(found.status().to_string());
  REQUIRE(found.ok());
  CHECK(found->regions.size() == kRegions);
}

TEST_CASE("what cannot be looked up says why") {
  Node a({.name = "a"});
  CHECK(look_up(*a.plane, 5, "kv").code() == Code::kInvalidArgument);
  const PeerSlot nobody = a.plane->open_peer("nobody", {"127.0.0.1:1"});
  CHECK(look_up(*a.plane, nobody, "").code() == Code::kInvalidArgument);
  CHECK(look_up(*a.plane, nobody, std::string(256, 's')).code() == Code::kInvalidArgument);
  const auto unreachable = look_up(*a.plane, nobody, "kv", milliseconds(50));
  CHECK(unreachable.code() == Code::kPeerUnreachable);
  CHECK(unreachable.status().to_string().find("127.0.0.1:1") != std::string::npos);
  const PeerSlot named = a.plane->open_peer("host", {"decode-0:7400"});
  CHECK(look_up(*a.plane, named, "kv").code() == Code::kInvalidArgument);
  const PeerSlot bare = a.plane->open_peer("no-address", {});
  CHECK(look_up(*a.plane, bare, "kv").code() == Code::kInvalidArgument);
}

TEST_CASE("a fence goes to the peer and its answer comes back, lists and all") {
  Node a({.name = "a"});
  Node b({.name = "b", .incarnation = 2});
  b.events.on_fence = [&](InboundSession session, const FenceRequest& request) {
    b.plane->answer_fence(session, {.lane_key = request.lane_key,
                                    .min_generation = request.min_generation,
                                    .settled_end = 10,
                                    .refused = {3, 4}});
  };
  const PeerSlot slot = a.plane->open_peer("b", {b.plane->address()});
  REQUIRE(a.events.wait_for([](auto& s) { return s.connected.size() == 1; }));
  for (std::uint32_t lane = 0; lane < 200; ++lane) {
    a.plane->send_fence(slot, {.lane_key = lane, .min_generation = 2});
  }
  REQUIRE(a.events.wait_for([](auto& s) { return s.fenced.size() == 200; }));
  const auto reply = a.events.read([](auto& s) { return s.fenced[199]; });
  CHECK(reply.lane_key == 199);
  CHECK(reply.settled_end == 10);
  CHECK(reply.refused == std::vector<AttemptSeq>{3, 4});
  CHECK(b.events.read([](auto& s) { return s.fences.size(); }) == 200);
}

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

TEST_CASE("a restarted peer is noticed, and what belonged to the old one ends") {
  Node a({.name = "a"});
  auto old_b = std::make_unique<Node>(NodeSpec{.name = "b", .incarnation = 2});
  old_b->plane->publish(region(1));
  const std::uint16_t port = old_b->port();
  const PeerSlot slot = a.plane->open_peer("b", {old_b->plane->address()});
  REQUIRE(look_up(*a.plane, slot, "kv").ok());
  a.plane->send_fence(slot, {.lane_key = 1, .min_generation = 1});
  REQUIRE(old_b->events.wait_for([](auto& s) { return s.fences.size() == 1; }));
  old_b.reset();  // the fence was never answered
  REQUIRE(a.events.wait_for([](auto& s) { return !s.lost.empty(); }));

  Node new_b({.name = "b", .incarnation = 3, .port = port});
  new_b.plane->publish(region(7));
  REQUIRE(a.events.wait_for([](auto& s) {
    return s.connected.back().second.incarnation == Incarnation{3, 42};
  }));
  const auto again = look_up(*a.plane, slot, "kv");
  REQUIRE(again.ok());
  CHECK(again->incarnation == Incarnation{3, 42});
  CHECK(again->regions[0].key == 7);
  // The new process is never asked for the old one's fence.
  CHECK(new_b.events.read([](auto& s) { return s.fences.empty(); }));
  CHECK(a.events.read([](auto& s) { return s.fenced.empty(); }));
}

TEST_CASE("a look-up that the old process had seen fails as restarted") {
  // The first "b" is a hand-made responder that takes the look-up and dies.
  FileDescriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&any), sizeof any) == 0);
  REQUIRE(::listen(listener.get(), 8) == 0);
  const std::uint16_t port = SocketAddress::local_of(listener.get()).port();

  Node a({.name = "a"});
  const PeerSlot slot = a.plane->open_peer("b", {"127.0.0.1:" + std::to_string(port)});
  std::promise<Result<Segment::Data>> answer;
  a.plane->look_up(slot, "kv", seconds(20),
                   [&](Result<Segment::Data> r) { answer.set_value(std::move(r)); });

  {
    FileDescriptor socket(::accept(listener.get(), nullptr, nullptr));
    HandshakeOptions options;
    options.identity = identity({.name = "b", .incarnation = 2, .endpoints = 0});
    options.message_max = 1 << 20;
    ResponderHandshake handshake(options, Nonce{});
    FrameReader reader(1 << 20);
    std::string magic(8, 0);
    REQUIRE(::recv(socket.get(), magic.data(), 8, MSG_WAITALL) == 8);
    bool asked = false;
    while (!asked) {
      char buffer[4096];
      const ssize_t n = ::recv(socket.get(), buffer, sizeof buffer, 0);
      REQUIRE(n > 0);
      std::string_view bytes(buffer, static_cast<std::size_t>(n));
      std::string frame;
      while (*reader.next(bytes, frame)) {
        if (handshake.done()) {
          asked = true;
          break;
        }
        REQUIRE(handshake.on_message(frame).ok());
        if (handshake.proven()) handshake.accept(Nonce{});
        std::string out;
        for (const auto& payload : handshake.take_outgoing()) append_frame(out, payload);
        REQUIRE(::send(socket.get(), out.data(), out.size(), 0) ==
                static_cast<ssize_t>(out.size()));
      }
    }
  }
  listener.reset();
  Node b({.name = "b", .incarnation = 3, .port = port});
  CHECK(answer.get_future().get().code() == Code::kPeerRestarted);
}

TEST_CASE("a new process of the initiator closes the old one's session") {
  Node b({.name = "b", .incarnation = 2});
  Node old_a({.name = "a", .incarnation = 10});
  old_a.plane->open_peer("b", {b.plane->address()});
  REQUIRE(b.events.wait_for([](auto& s) { return s.opened.size() == 1; }));
  ControlOptions slow = quick_options();
  Node new_a({.name = "a", .incarnation = 11}, slow);
  new_a.plane->open_peer("b", {b.plane->address()});
  REQUIRE(b.events.wait_for([](auto& s) { return !s.closed.empty() && s.opened.size() >= 2; }));
  CHECK(b.events.read([](auto& s) { return s.closed[0] == s.opened[0].first; }));
  CHECK(b.events.read([](auto& s) { return s.opened[1].second.incarnation; }) ==
        Incarnation{11, 42});
}

TEST_CASE("goodbye ends a session for good") {
  Node b({.name = "b", .incarnation = 2});
  {
    Node a({.name = "a"});
    a.plane->open_peer("b", {b.plane->address()});
    REQUIRE(b.events.wait_for([](auto& s) { return s.opened.size() == 1; }));
    REQUIRE(a.events.wait_for([](auto& s) { return s.connected.size() == 1; }));
  }
  CHECK(b.events.wait_for([](auto& s) { return s.closed.size() == 1; }));
}

TEST_CASE("one node under two addresses has two sessions that do not mix") {
  Node a({.name = "a"});
  Node b({.name = "b", .incarnation = 2, .endpoints = 2});
  b.plane->publish(region(1));
  b.events.on_fence = [&](InboundSession session, const FenceRequest& request) {
    // Tells the two apart by what it answers.
    b.plane->answer_fence(session, {request.lane_key, request.min_generation, session, {}});
  };
  const std::string second = "127.0.0.2:" + std::to_string(b.plane->endpoints()[1].port);
  const PeerSlot one = a.plane->open_peer("", {b.plane->address()});
  const PeerSlot two = a.plane->open_peer("", {second});
  REQUIRE(one != two);
  CHECK(look_up(*a.plane, one, "kv").ok());
  CHECK(look_up(*a.plane, two, "kv").ok());
  a.plane->send_fence(one, {1, 1});
  a.plane->send_fence(two, {1, 1});
  REQUIRE(a.events.wait_for([](auto& s) { return s.fenced.size() == 2; }));
  CHECK(a.events.read([](auto& s) { return s.fenced[0].settled_end != s.fenced[1].settled_end; }));
}

void answer_fences(Node& node) {
  node.events.on_fence = [&node](InboundSession session, const FenceRequest& request) {
    node.plane->answer_fence(session, {request.lane_key, request.min_generation, 1, {}});
  };
}

TEST_CASE("a session runs over several rails and survives the loss of one") {
  Node a({.name = "a", .endpoints = 3});
  Node b({.name = "b", .incarnation = 2, .endpoints = 3});
  answer_fences(b);
  b.plane->publish(region(1));
  Relay relay(b.plane->address());
  REQUIRE(relay.ready());
  const PeerSlot slot = a.plane->open_peer("b", {relay.address()});
  // One over the configured address and one for each pair of rails.
  REQUIRE(eventually([&] { return b.plane->counters().handshakes_ok == 4; }));
  relay.cut();
  for (std::uint32_t lane = 0; lane < 20; ++lane) {
    a.plane->send_fence(slot, {lane, 1});
    CHECK(look_up(*a.plane, slot, "kv").ok());
  }
  CHECK(a.events.wait_for([](auto& s) { return s.fenced.size() == 20; }));
  // The lost connection comes back by itself, and nobody noticed.
  relay.mend();
  CHECK(eventually([&] { return b.plane->counters().handshakes_ok >= 5; }));
  CHECK(a.events.read([](auto& s) { return s.lost.empty() && s.connected.size() == 1; }));
  CHECK(b.events.read([](auto& s) { return s.opened.size() == 1 && s.closed.empty(); }));
}

TEST_CASE("what is said while the link is down is said when it is back, once") {
  ControlOptions options = quick_options();
  options.connections_per_session = 1;
  Node a({.name = "a"}, options);
  Node b({.name = "b", .incarnation = 2});
  answer_fences(b);
  Relay relay(b.plane->address());
  const PeerSlot slot = a.plane->open_peer("b", {relay.address()});
  REQUIRE(a.events.wait_for([](auto& s) { return s.connected.size() == 1; }));
  for (std::size_t round = 1; round <= 5; ++round) {
    relay.cut();
    REQUIRE(a.events.wait_for([&](auto& s) { return s.lost.size() == round; }));
    for (std::uint32_t lane = 0; lane < 10; ++lane) {
      a.plane->send_fence(slot, {lane, static_cast<Generation>(round)});
    }
    relay.mend();
    REQUIRE(a.events.wait_for([&](auto& s) { return s.fenced.size() == 10 * round; }));
  }
  // The same session throughout, and each fence asked once.
  CHECK(b.events.read([](auto& s) { return s.opened.size(); }) == 1);
  CHECK(b.events.read([](auto& s) { return s.fences.size(); }) == 50);
}

TEST_CASE("the true reason of a refusal reaches the look-up at once") {
  struct Case {
    const char* what;
    std::vector<std::string> initiator;
    std::vector<std::string> responder;
    const char* text;
  };
  const Case cases[] = {
      {"wrong key", {"k1"}, {"k2"}, "no cluster key in common"},
      {"no key", {}, {"k"}, "set control.keys on this node"},
      {"the peer has none", {"k"}, {}, "has no cluster key"},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    ControlOptions with_initiator = quick_options();
    with_initiator.keys = c.initiator;
    ControlOptions with_responder = quick_options();
    with_responder.keys = c.responder;
    Node a({.name = "a"}, with_initiator);
    Node b({.name = "b", .incarnation = 2}, with_responder);
    const PeerSlot slot = a.plane->open_peer("b", {b.plane->address()});
    const auto result = look_up(*a.plane, slot, "kv");
    CHECK(result.code() == Code::kUnauthenticated);
    CHECK(result.status().to_string().find(c.text) != std::string::npos);
    // And the second time without any wait.
    CHECK(look_up(*a.plane, slot, "kv", milliseconds(5)).code() == Code::kUnauthenticated);
    CHECK(b.plane->counters().handshakes_refused >= 1);
    CHECK(b.events.read([](auto& s) { return s.opened.empty(); }));
  }
}

TEST_CASE("keys in rotation connect") {
  ControlOptions ahead = quick_options();
  ahead.keys = {"new", "old"};
  ControlOptions behind = quick_options();
  behind.keys = {"old"};
  Node a({.name = "a"}, ahead);
  Node b({.name = "b", .incarnation = 2}, behind);
  b.plane->publish(region(1));
  CHECK(look_up(*a.plane, a.plane->open_peer("b", {b.plane->address()}), "kv").ok());
}

TEST_CASE("another node at the address is named") {
  Node a({.name = "a"});
  Node b({.name = "b", .incarnation = 2});
  const PeerSlot slot = a.plane->open_peer("decode-0", {b.plane->address()});
  const auto result = look_up(*a.plane, slot, "kv");
  CHECK(result.code() == Code::kNotFound);
  CHECK(result.status().to_string().find("node b answers where decode-0") != std::string::npos);
}

TEST_CASE("a port in use is named, and a range takes the next one") {
  Node a({.name = "a"});
  Recorder events;
  ControlOptions options = quick_options();
  options.port_min = options.port_max = a.port();
  const auto taken =
      ControlPlane::start(options, 0, 0, identity({.name = "b", .incarnation = 2}), events);
  CHECK(taken.code() == Code::kAddressInUse);
  CHECK(taken.status().to_string().find("127.0.0.1:" + std::to_string(a.port())) !=
        std::string::npos);

  const std::uint16_t data_port = a.plane->endpoints()[0].port;
  const auto data_taken = ControlPlane::start(quick_options(), data_port, data_port,
                                              identity({.name = "b", .incarnation = 2}), events);
  CHECK(data_taken.code() == Code::kAddressInUse);
  CHECK(data_taken.status().to_string().find(":" + std::to_string(data_port)) !=
        std::string::npos);

  if (a.port() < 65535) {
    options.port_max = 65535;
    const auto next =
        ControlPlane::start(options, 0, 0, identity({.name = "b", .incarnation = 2}), events);
    REQUIRE(next.ok());
    CHECK(SocketAddress::parse((*next)->address())->port() > a.port());
  }
}

TEST_CASE("bad settings are refused before anything starts") {
  struct Case {
    const char* text;
    std::function<void(ControlOptions&, LocalIdentity&)> change;
  };
  const Case cases[] = {
      {"no cluster key", [](auto& o, auto&) { o.bind = "0.0.0.0"; }},
      {"no cluster key", [](auto&, auto& i) { i.endpoints[0].address = "192.0.2.1"; }},
      {"numeric IP", [](auto& o, auto&) { o.bind = "localhost"; }},
      {"no range", [](auto& o, auto&) { o.port_min = 9, o.port_max = 8; }},
      {"key is empty", [](auto& o, auto&) { o.keys = {""}; }},
      {"message_max", [](auto& o, auto&) { o.message_max = 10; }},
      {"connections_per_session", [](auto& o, auto&) { o.connections_per_session = 0; }},
      {"reconnect_max", [](auto& o, auto&) { o.reconnect_max = milliseconds(1); }},
      {"node name", [](auto&, auto& i) { i.name = ""; }},
      {"node name", [](auto&, auto& i) { i.name = "a\nb"; }},
      {"incarnation", [](auto&, auto& i) { i.incarnation = {}; }},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    Recorder events;
    ControlOptions options = quick_options();
    LocalIdentity who = identity({.name = "a"});
    c.change(options, who);
    const auto started = ControlPlane::start(options, 0, 0, who, events);
    CHECK(started.code() == Code::kInvalidArgument);
    CHECK(started.status().to_string().find(c.text) != std::string::npos);
  }
}

TEST_CASE("anything but loopback is served with a key or when said so") {
  for (const bool keyed : {true, false}) {
    Recorder events;
    ControlOptions options = quick_options();
    options.bind = "0.0.0.0";
    if (keyed) options.keys = {"k"};
    options.insecure = !keyed;
    auto plane = ControlPlane::start(options, 0, 0, identity({.name = "a"}), events);
    REQUIRE(plane.ok());
    CHECK((*plane)->address().starts_with("127.0.0.1:"));  // what others can reach
  }
  Recorder events;
  ControlOptions options = quick_options();
  options.advertise = "198.51.100.7";
  auto plane = ControlPlane::start(options, 0, 0, identity({.name = "a"}), events);
  REQUIRE(plane.ok());
  CHECK((*plane)->address().starts_with("198.51.100.7:"));
}

std::vector<std::string> both_ports(const Node& node) {
  return {node.plane->address(),
          "127.0.0.1:" + std::to_string(node.plane->endpoints()[0].port)};
}

TEST_CASE("random bytes on any port are closed and counted, and service goes on") {
  Node b({.name = "b", .incarnation = 2});
  b.plane->publish(region(1));
  Prng prng(3);
  std::uint64_t expected = 0;
  for (const std::string& address : both_ports(b)) {
    for (int i = 0; i < 20; ++i) {
      std::string bytes;
      if (i % 4 == 1) bytes = kControlMagic;
      if (i % 4 == 2) bytes = kLaneMagic;
      if (i % 4 == 3) bytes = std::string(kControlMagic) + std::string("\x08\x00\x00\x00", 4);
      for (int k = 0; k < 200; ++k) bytes.push_back(static_cast<char>(prng.next() | 1));
      RawClient client(address);
      REQUIRE(client.connected());
      client.send(bytes);
      INFO("round " << i);
      CHECK(client.closed_by_peer());
      ++expected;
    }
  }
  CHECK(eventually([&] { return b.plane->counters().handshakes_refused == expected; }));
  Node a({.name = "a"});
  CHECK(look_up(*a.plane, a.plane->open_peer("b", {b.plane->address()}), "kv").ok());
}

TEST_CASE("a data connection with a forged token is told so") {
  Node b({.name = "b", .incarnation = 2});
  Node a({.name = "a"});
  a.plane->open_peer("b", {b.plane->address()});
  REQUIRE(b.events.wait_for([](auto& s) { return s.opened.size() == 1; }));
  const LaneHello good{.initiator = {1, 42}, .responder = {2, 42}, .lane_key = 1, .generation = 1};
  LaneHello stranger = good;
  stranger.initiator = {77, 42};
  LaneHello elsewhere = good;
  elsewhere.responder = {99, 42};
  Digest guess{};
  for (const LaneHello& hello : {good, stranger, elsewhere}) {
    for (const std::string& address : both_ports(b)) {
      const auto bytes = encode_lane_hello(hello, guess);
      RawClient client(address);
      REQUIRE(client.send({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
      bool closed = false;
      const std::string answer = client.read_to_end(closed);
      const auto expected = encode_lane_answer(LaneAnswer::kUnauthorised);
      CHECK(answer == std::string(expected.begin(), expected.end()));
      CHECK(closed);
    }
  }
  CHECK(b.events.read([](auto& s) { return s.lanes_accepted.empty(); }));
}

TEST_CASE("half a greeting and then silence is closed at the deadline") {
  ControlOptions options = quick_options();
  options.handshake_timeout = milliseconds(150);
  Node b({.name = "b", .incarnation = 2}, options);
  HandshakeOptions stranger;
  stranger.identity = identity({.name = "a"});
  stranger.message_max = 1 << 20;
  InitiatorHandshake handshake(stranger, "", 0, Nonce{});
  std::string hello(kControlMagic);
  append_frame(hello, handshake.take_outgoing().at(0));
  std::string hello_frame = hello;
  const std::string beginnings[] = {
      "",
      "SPIN",
      std::string(kControlMagic),
      hello.substr(0, hello.size() / 2),
      hello,  // never proves itself
      std::string(kLaneMagic) + std::string(50, 'x'),
  };
  for (const std::string& address : both_ports(b)) {
    for (const std::string& beginning : beginnings) {
      INFO(beginning.size() << " bytes on " << address);
      RawClient client(address);
      REQUIRE(client.connected());
      if (!beginning.empty()) REQUIRE(client.send(beginning));
      CHECK(client.closed_by_peer());
    }
  }
}

TEST_CASE("a byte now and then does not stretch the deadline") {
  ControlOptions options = quick_options();
  options.handshake_timeout = milliseconds(200);
  Node b({.name = "b", .incarnation = 2}, options);
  RawClient client(b.plane->address());
  const std::string hello = std::string(kControlMagic) + std::string("\x00\x0f\x00\x00", 4) +
                            std::string(3840, 'x');
  const auto begun = std::chrono::steady_clock::now();
  bool closed = false;
  for (std::size_t i = 0; i < hello.size() && !closed; ++i) {
    if (!client.send(hello.substr(i, 1))) break;
    pollfd ready{client.fd(), POLLIN, 0};
    if (::poll(&ready, 1, 10) == 1) closed = true;  // EOF or a refusal
  }
  CHECK(closed);
  CHECK(std::chrono::steady_clock::now() - begun < seconds(10));
}

TEST_CASE("no more than half_open_max strangers are listened to at a time") {
  ControlOptions options = quick_options();
  options.half_open_max = 4;
  options.handshake_timeout = seconds(60);
  Node b({.name = "b", .incarnation = 2}, options);
  b.plane->publish(region(1));
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(std::make_unique<RawClient>(b.plane->address()));
  REQUIRE(eventually([&] { return b.plane->counters().connections_accepted == 4; }));
  RawClient fifth(b.plane->address());
  CHECK(fifth.closed_by_peer());
  CHECK(b.plane->counters().handshakes_refused == 1);
  silent.clear();
  Node a({.name = "a"});
  CHECK(look_up(*a.plane, a.plane->open_peer("b", {b.plane->address()}), "kv").ok());
}

TEST_CASE("sessions are bounded, with a reason that reaches the one too many") {
  ControlOptions options = quick_options();
  options.sessions_max = 1;
  Node b({.name = "b", .incarnation = 2}, options);
  b.plane->publish(region(1));
  Node first({.name = "first", .incarnation = 10});
  REQUIRE(look_up(*first.plane, first.plane->open_peer("b", {b.plane->address()}), "kv").ok());
  Node second({.name = "second", .incarnation = 20});
  const PeerSlot slot = second.plane->open_peer("b", {b.plane->address()});
  const auto refused = look_up(*second.plane, slot, "kv", milliseconds(500));
  CHECK(refused.code() == Code::kBusy);
  CHECK(refused.status().to_string().find("sessions_max") != std::string::npos);

  const PeerSlot own = b.plane->open_peer("x", {"127.0.0.1:1"});
  CHECK(look_up(*b.plane, own, "kv").code() == Code::kBusy);

  first.plane.reset();  // says goodbye, which makes room
  CHECK(look_up(*second.plane, slot, "kv").ok());
}

TEST_CASE("stop ends everything that waits, and may be called twice") {
  Node a({.name = "a"});
  const PeerSlot slot = a.plane->open_peer("nobody", {"127.0.0.1:1"});
  std::promise<Code> pending;
  a.plane->look_up(slot, "kv", seconds(60),
                   [&](Result<Segment::Data> r) { pending.set_value(r.code()); });
  a.plane->stop();
  CHECK(pending.get_future().get() == Code::kShutDown);
  CHECK(look_up(*a.plane, slot, "kv").code() == Code::kShutDown);
  a.plane->connect_lane({});
  a.plane->stop();
}

TEST_CASE("many threads call at once while peers come and go") {
  Node a({.name = "a", .endpoints = 2});
  auto b = std::make_unique<Node>(NodeSpec{.name = "b", .incarnation = 2, .endpoints = 2});
  const std::uint16_t port = b->port();
  b->plane->publish(region(1));
  const PeerSlot slot = a.plane->open_peer("b", {b->plane->address()});
  REQUIRE(a.events.wait_for([](auto& s) { return s.connected.size() == 1; }));
  std::vector<std::thread> threads;
  std::atomic<int> answered{0};
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 100; ++i) {
        a.plane->connect_lane({.peer = slot, .lane_key = t, .generation = i});
        a.plane->send_fence(slot, {t, i});
        a.plane->look_up(slot, "kv", milliseconds(500), [&](Result<Segment::Data>) { ++answered; });
        static_cast<void>(a.plane->counters());
      }
    });
  }
  b.reset();
  Node again({.name = "b", .incarnation = 3, .endpoints = 2, .port = port});
  again.plane->publish(region(1));
  for (auto& thread : threads) thread.join();
  CHECK(eventually([&] { return answered == 400; }));
  CHECK(look_up(*a.plane, slot, "kv").ok());
}

}  // namespace
}  // namespace spindrift::control
