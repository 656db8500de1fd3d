#include "control/handshake.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "control/codec.h"
#include "control/mac.h"

namespace spindrift::control {
namespace {

Nonce filled(std::uint8_t value) {
  Nonce nonce{};
  nonce.fill(value);
  return nonce;
}

HandshakeOptions node(const std::string& name, std::vector<std::string> keys) {
  HandshakeOptions options;
  options.identity.name = name;
  options.identity.incarnation = {std::hash<std::string>{}(name) | 1, 7};
  options.identity.host_id = "host of " + name;
  options.identity.endpoints = {
      {.device = "eth0", .address = "10.0.0.1", .prefix = 24, .port = 7401}};
  options.keys = std::move(keys);
  options.features = 3;
  options.message_max = 1 << 20;
  return options;
}

struct Outcome {
  Status initiator;
  Status responder;
  bool initiator_done = false;
  bool responder_done = false;
  Established by_initiator;
  Established by_responder;
};

using Tamper = std::function<void(std::string& payload, bool from_initiator)>;

// Runs both machines against each other; `tamper` sits on the wire.
Outcome shake(const HandshakeOptions& a, const HandshakeOptions& b,
              const std::string& expected = "", const Tamper& tamper = {}) {
  InitiatorHandshake initiator(a, expected, 4, filled(1));
  ResponderHandshake responder(b, filled(2));
  Outcome outcome;
  for (int round = 0; round < 10; ++round) {
    for (std::string payload : initiator.take_outgoing()) {
      if (tamper) tamper(payload, true);
      if (outcome.responder.ok()) outcome.responder = responder.on_message(payload);
      if (responder.proven()) responder.accept(filled(3));
    }
    for (std::string payload : responder.take_outgoing()) {
      if (tamper) tamper(payload, false);
      if (outcome.initiator.ok()) outcome.initiator = initiator.on_message(payload);
    }
  }
  outcome.initiator_done = initiator.done();
  outcome.responder_done = responder.done();
  if (initiator.done()) outcome.by_initiator = initiator.established();
  if (responder.done()) outcome.by_responder = responder.established();
  return outcome;
}

TEST_CASE("two nodes with one key agree on everything") {
  const auto outcome = shake(node("a", {"secret"}), node("b", {"secret"}), "b");
  REQUIRE(outcome.initiator_done);
  REQUIRE(outcome.responder_done);
  const Established& i = outcome.by_initiator;
  const Established& r = outcome.by_responder;
  CHECK(i.peer.name == "b");
  CHECK(i.peer.host_id == "host of b");
  CHECK(i.peer.incarnation == node("b", {}).identity.incarnation);
  REQUIRE(i.peer.endpoints.size() == 1);
  CHECK(i.peer.endpoints[0].port == 7401);
  CHECK(r.peer.name == "a");
  CHECK(r.peer.incarnation == node("a", {}).identity.incarnation);
  REQUIRE(r.peer.endpoints.size() == 1);
  CHECK(i.version == 1);
  CHECK(r.version == 1);
  CHECK(i.features == 3);
  CHECK(r.channel == 4);
  CHECK(i.session_nonce == filled(3));
  CHECK(i.session_secret == r.session_secret);
  CHECK(i.session_secret != Digest{});
}

TEST_CASE("without keys the same messages pass with empty proofs") {
  const auto outcome = shake(node("a", {}), node("b", {}));
  REQUIRE(outcome.initiator_done);
  REQUIRE(outcome.responder_done);
  CHECK(outcome.by_initiator.session_secret == outcome.by_responder.session_secret);
}

TEST_CASE("who may talk to whom by keys, and what each side is told") {
  struct Case {
    const char* what;
    std::vector<std::string> initiator;
    std::vector<std::string> responder;
    Code initiator_code;
    Code responder_code;
    const char* initiator_text;
  };
  const Case cases[] = {
      {"the same key", {"k"}, {"k"}, Code::kOk, Code::kOk, ""},
      {"rotation: the initiator is ahead", {"new", "old"}, {"old"}, Code::kOk, Code::kOk, ""},
      {"rotation: the responder is ahead", {"old"}, {"new", "old"}, Code::kOk, Code::kOk, ""},
      {"rotation: both hold two", {"new", "old"}, {"old", "new"}, Code::kOk, Code::kOk, ""},
      {"different keys",
       {"k"},
       {"other"},
       Code::kUnauthenticated,
       Code::kUnauthenticated,
       "no cluster key in common"},
      {"no key against a key",
       {},
       {"k"},
       Code::kUnauthenticated,
       Code::kUnauthenticated,
       "wants a cluster key, this node has none"},
      {"a key against no key",
       {"k"},
       {},
       Code::kUnauthenticated,
       Code::kProtocol,
       "the answering node has no cluster key"},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    const auto outcome = shake(node("a", c.initiator), node("b", c.responder));
    CHECK(outcome.initiator.code() == c.initiator_code);
    CHECK(outcome.responder.code() == c.responder_code);
    CHECK(outcome.initiator_done == (c.initiator_code == Code::kOk));
    CHECK(outcome.responder_done == (c.responder_code == Code::kOk));
    CHECK(outcome.initiator.to_string().find(c.initiator_text) != std::string::npos);
    if (!outcome.initiator.ok()) CHECK_FALSE(outcome.initiator.detail().hint.empty());
  }
}

TEST_CASE("no text and no message tells a key") {
  const std::string key = "a-very-secret-key";
  const auto outcome =
      shake(node("a", {key}), node("b", {"another"}), "",
            [&](std::string& payload, bool) { CHECK(payload.find(key) == std::string::npos); });
  CHECK(outcome.initiator.to_string().find(key) == std::string::npos);
  CHECK(outcome.responder.to_string().find("another") == std::string::npos);
}

TEST_CASE("the highest common version is used, and a refusal names both ranges") {
  struct Case {
    VersionRange initiator;
    VersionRange responder;
    std::uint32_t chosen;  // 0: refused
  };
  const Case cases[] = {
      {{1, 1}, {1, 1}, 1}, {{1, 3}, {2, 5}, 3}, {{2, 5}, {1, 3}, 3},
      {{4, 4}, {1, 9}, 4}, {{1, 2}, {3, 4}, 0}, {{5, 6}, {1, 4}, 0},
  };
  for (const Case& c : cases) {
    HandshakeOptions a = node("a", {"k"});
    HandshakeOptions b = node("b", {"k"});
    a.versions = c.initiator;
    b.versions = c.responder;
    const auto outcome = shake(a, b);
    INFO(c.initiator.min << "-" << c.initiator.max << " / " << c.responder.min << "-"
                         << c.responder.max);
    if (c.chosen != 0) {
      CHECK(outcome.by_initiator.version == c.chosen);
      CHECK(outcome.by_responder.version == c.chosen);
      continue;
    }
    for (const Status* status : {&outcome.initiator, &outcome.responder}) {
      CHECK(status->code() == Code::kVersionMismatch);
      const auto range = [](VersionRange r) {
        return std::to_string(r.min) + " to " + std::to_string(r.max);
      };
      CHECK(status->to_string().find(range(c.initiator)) != std::string::npos);
      CHECK(status->to_string().find(range(c.responder)) != std::string::npos);
    }
  }
}

TEST_CASE("another node than the expected one is refused by name") {
  const auto outcome = shake(node("a", {"k"}), node("b", {"k"}), "decode-0");
  CHECK(outcome.initiator.code() == Code::kNotFound);
  CHECK(outcome.initiator.to_string().find("decode-0") != std::string::npos);
  CHECK(outcome.responder.code() == Code::kProtocol);
}

// What somebody on the wire may try. None of it ends in an agreement.
TEST_CASE("a changed message breaks the proofs") {
  const auto change_hello = [](std::function<void(Hello&)> change) {
    return [change](std::string& payload, bool from_initiator) {
      auto message = decode_handshake(payload);
      if (!from_initiator || !message) return;
      if (auto* hello = std::get_if<Hello>(&*message)) {
        change(*hello);
        payload = encode(*message);
      }
    };
  };
  const auto change_challenge = [](std::function<void(Challenge&)> change) {
    return [change](std::string& payload, bool from_initiator) {
      auto message = decode_handshake(payload);
      if (from_initiator || !message) return;
      if (auto* challenge = std::get_if<Challenge>(&*message)) {
        change(*challenge);
        payload = encode(*message);
      }
    };
  };
  struct Case {
    const char* what;
    Tamper tamper;
  };
  const Case cases[] = {
      {"the initiator's name", change_hello([](Hello& h) { h.name = "mallory"; })},
      {"the initiator's incarnation", change_hello([](Hello& h) { h.incarnation.low ^= 1; })},
      {"the initiator's nonce", change_hello([](Hello& h) { h.nonce[0] ^= 1; })},
      {"the initiator's features", change_hello([](Hello& h) { h.features = 0; })},
      {"the channel", change_hello([](Hello& h) { ++h.channel; })},
      {"the responder's name", change_challenge([](Challenge& c) { c.name = "mallory"; })},
      {"the responder's incarnation",
       change_challenge([](Challenge& c) { c.incarnation.low ^= 1; })},
      {"the responder's nonce", change_challenge([](Challenge& c) { c.nonce[0] ^= 1; })},
      {"the session nonce",
       [](std::string& payload, bool) {
         auto message = decode_handshake(payload);
         if (!message) return;
         if (auto* accept = std::get_if<Accept>(&*message)) {
           accept->session_nonce[0] ^= 1;
           payload = encode(*message);
         }
       }},
      {"the proof dropped",
       [](std::string& payload, bool) {
         const auto message = decode_handshake(payload);
         if (message && std::holds_alternative<Proof>(*message)) {
           payload = encode(HandshakeMessage(Proof{}));
         }
       }},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    const auto outcome = shake(node("a", {"k"}), node("b", {"k"}), "", c.tamper);
    CHECK_FALSE(outcome.initiator_done);
    CHECK_FALSE(outcome.responder_done);
    CHECK(outcome.initiator.code() == Code::kUnauthenticated);
  }
}

TEST_CASE("a downgrade between two able nodes is noticed") {
  HandshakeOptions a = node("a", {"k"});
  HandshakeOptions b = node("b", {"k"});
  a.versions = b.versions = {1, 2};
  const auto outcome = shake(a, b, "", [](std::string& payload, bool) {
    auto message = decode_handshake(payload);
    if (!message) return;
    if (auto* challenge = std::get_if<Challenge>(&*message)) {
      challenge->version = 1;
      payload = encode(*message);
    }
  });
  CHECK_FALSE(outcome.initiator_done);
  CHECK(outcome.initiator.code() == Code::kProtocol);
}

TEST_CASE("a recorded proof is worthless against a fresh challenge") {
  const HandshakeOptions a = node("a", {"k"});
  const HandshakeOptions b = node("b", {"k"});
  InitiatorHandshake initiator(a, "", 4, filled(1));
  ResponderHandshake first(b, filled(2));
  const std::string hello = initiator.take_outgoing().at(0);
  REQUIRE(first.on_message(hello).ok());
  REQUIRE(initiator.on_message(first.take_outgoing().at(0)).ok());
  const std::string proof = initiator.take_outgoing().at(0);
  REQUIRE(first.on_message(proof).ok());

  ResponderHandshake second(b, filled(9));
  REQUIRE(second.on_message(hello).ok());
  CHECK(second.on_message(proof).code() == Code::kUnauthenticated);
  CHECK_FALSE(second.proven());
}

TEST_CASE("a proof reflected to its maker is worthless") {
  // The attacker has no key: it sends the initiator's own proof back as Accept.
  const HandshakeOptions a = node("a", {"k"});
  InitiatorHandshake initiator(a, "", 4, filled(1));
  initiator.take_outgoing();
  const Challenge challenge{.versions = {1, 1},
                            .features = 3,
                            .name = "b",
                            .incarnation = {1, 2},
                            .nonce = filled(2),
                            .key_id = key_id_of("k"),
                            .version = 1,
                            .message_max = 1 << 20};
  REQUIRE(initiator.on_message(encode(HandshakeMessage(challenge))).ok());
  const auto sent = decode_handshake(initiator.take_outgoing().at(0));
  REQUIRE(sent.ok());
  const Accept reflected{std::get<Proof>(*sent), Nonce{}, {}};
  CHECK(initiator.on_message(encode(HandshakeMessage(reflected))).code() == Code::kUnauthenticated);
  CHECK_FALSE(initiator.done());
}

TEST_CASE("messages out of turn end the handshake") {
  const HandshakeOptions options = node("a", {"k"});
  const HandshakeMessage messages[] = {Proof{true, {}}, Accept{}, Introduce{}};
  for (const auto& message : messages) {
    ResponderHandshake responder(options, filled(2));
    CHECK(responder.on_message(encode(message)).code() == Code::kProtocol);
    InitiatorHandshake initiator(options, "", 1, filled(1));
    CHECK(initiator.on_message(encode(message)).code() == Code::kProtocol);
  }
  ResponderHandshake responder(options, filled(2));
  CHECK(responder.on_message("\xff\xff garbage").code() == Code::kProtocol);
  CHECK_FALSE(responder.take_outgoing().empty());  // a refusal tells the other side
}

TEST_CASE("two sessions have two secrets") {
  const HandshakeOptions a = node("a", {"k"});
  const HandshakeOptions b = node("b", {"k"});
  const auto secret_with = [&](Channel channel, std::uint8_t session_nonce) {
    InitiatorHandshake initiator(a, "", channel, filled(1));
    ResponderHandshake responder(b, filled(2));
    REQUIRE(responder.on_message(initiator.take_outgoing().at(0)).ok());
    REQUIRE(initiator.on_message(responder.take_outgoing().at(0)).ok());
    REQUIRE(responder.on_message(initiator.take_outgoing().at(0)).ok());
    responder.accept(filled(session_nonce));
    REQUIRE(initiator.on_message(responder.take_outgoing().at(0)).ok());
    return initiator.established().session_secret;
  };
  CHECK(secret_with(1, 1) == secret_with(1, 1));
  CHECK(secret_with(1, 1) != secret_with(1, 2));
  CHECK(secret_with(1, 1) != secret_with(2, 1));
}

TEST_CASE("a proof is HMAC-SHA256 of the domain, a zero byte and the data") {
  // Made with Python: hmac.new(b"Jefe", b"domain\0what do ya want for nothing?", sha256)
  const std::string expected = "682d1df21d448499fb94ca5efd819d8fbf9171af715134910dfee7efd4937e30";
  std::string hex;
  for (const std::uint8_t byte : mac("Jefe", "domain", "what do ya want for nothing?")) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  CHECK(hex == expected);
  CHECK(key_id_of("a") != key_id_of("b"));
  CHECK(key_id_of("a") != 0);
}

}  // namespace
}  // namespace spindrift::control
