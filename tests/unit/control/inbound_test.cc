// Strangers and their like: what the engine refuses, and how it says so.
#include "control/inbound.h"

#include <poll.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "control/codec.h"
#include "control/handshake.h"
#include "control/lane_hello.h"
#include "node.h"
#include "raw_client.h"

namespace spindrift::control {
namespace {

TEST_CASE("the true reason of a refusal reaches the look-up at once") {
  struct Case {
    const char* what;
    std::vector<std::string> initiator;
    std::vector<std::string> responder;
    const char* text;
  };
  const Case cases[] = {
      {"wrong key", {"k1"}, {"k2"}, "no cluster key in common"},
      {"no key", {}, {"k"}, "set control.key on this node"},
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
    CHECK(eventually([&] { return b.plane->counters().handshakes_refused >= 1; }));
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
  CHECK(data_taken.status().to_string().find(":" + std::to_string(data_port)) != std::string::npos);

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
  return {node.plane->address(), "127.0.0.1:" + std::to_string(node.plane->endpoints()[0].port)};
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
  const std::string hello =
      std::string(kControlMagic) + std::string("\x00\x0f\x00\x00", 4) + std::string(3840, 'x');
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

}  // namespace
}  // namespace spindrift::control
