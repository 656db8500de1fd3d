#include "control/control_plane.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "control/codec.h"
#include "control/handshake.h"
#include "node.h"
#include "relay.h"

namespace spindrift::control {
namespace {

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
  // The old process falls silent without a goodbye.
  Relay relay(b.plane->address());
  ControlOptions one_connection = quick_options();
  one_connection.connections_per_session = 1;
  Node old_a({.name = "a", .incarnation = 10}, one_connection);
  old_a.plane->open_peer("b", {relay.address()});
  REQUIRE(b.events.wait_for([](auto& s) { return s.opened.size() == 1; }));
  relay.cut();
  REQUIRE(old_a.events.wait_for([](auto& s) { return s.lost.size() == 1; }));
  CHECK(b.events.read([](auto& s) { return s.closed.empty(); }));  // it might come back

  Node new_a({.name = "a", .incarnation = 11});
  new_a.plane->open_peer("b", {b.plane->address()});
  REQUIRE(b.events.wait_for([](auto& s) { return s.opened.size() == 2; }));
  CHECK(b.events.read([](auto& s) { return s.closed.size() == 1; }));
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
