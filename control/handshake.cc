#include "control/handshake.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "control/codec.h"
#include "control/mac.h"

namespace spindrift::control {
namespace {

constexpr std::string_view kClientDomain = "spindrift client proof 1";
constexpr std::string_view kServerDomain = "spindrift server proof 1";
constexpr std::string_view kSecretDomain = "spindrift session secret 1";

std::string range_text(VersionRange range) {
  return range.min == range.max
             ? "version " + std::to_string(range.min)
             : "versions " + std::to_string(range.min) + " to " + std::to_string(range.max);
}

// 0: none.
std::uint32_t highest_common(VersionRange a, VersionRange b) {
  const std::uint32_t highest = std::min(a.max, b.max);
  return highest >= std::max(a.min, b.min) ? highest : 0;
}

Status no_common_version(const std::string& peer, VersionRange theirs, VersionRange ours) {
  return Status(Code::kVersionMismatch,
                {.what = "control handshake",
                 .why = "no common protocol version: the peer speaks " + range_text(theirs) +
                        ", this engine " + range_text(ours),
                 .hint = "bring one of the two up to a release that shares a version",
                 .peer = peer});
}

Status unauthenticated(const std::string& peer, std::string why, std::string hint) {
  return Status(
      Code::kUnauthenticated,
      {.what = "control handshake", .why = std::move(why), .hint = std::move(hint), .peer = peer});
}

Status out_of_turn(const char* expected) {
  return Status(Code::kProtocol,
                Status::Detail{.what = "control handshake",
                               .why = std::string("another message came instead of ") + expected});
}

std::string encode_refusal(RefusalReason reason, VersionRange versions, const Status& status) {
  return encode(HandshakeMessage(Refusal{reason, versions, status.detail().why}));
}

void put_u64(std::string& out, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

Digest session_secret(const std::string* key, Incarnation initiator, Incarnation responder,
                      const Established& e) {
  std::string data;
  for (const std::uint64_t word :
       {initiator.high, initiator.low, responder.high, responder.low, std::uint64_t{e.channel}}) {
    put_u64(data, word);
  }
  data.append(as_text(e.session_nonce));
  return mac(key == nullptr ? std::string_view() : *key, kSecretDomain, data);
}

// A key that is there but empty still is one: nullptr alone means "no key".
Proof prove(const std::string* key, std::string_view domain, std::string_view data) {
  if (key == nullptr) return {};
  return {true, mac(*key, domain, data)};
}

bool proves(const Proof& proof, const std::string* key, std::string_view domain,
            std::string_view data) {
  if (key == nullptr) return !proof.keyed;
  return proof.keyed && equal(proof.digest, mac(*key, domain, data));
}

const std::string* find_key(const std::vector<std::string>& keys, KeyId id) {
  const auto key = std::find_if(keys.begin(), keys.end(),
                                [&](const std::string& k) { return key_id_of(k) == id; });
  return key == keys.end() ? nullptr : &*key;
}

}  // namespace

// --- initiator -----------------------------------------------------------------

InitiatorHandshake::InitiatorHandshake(const HandshakeOptions& options, std::string expected_name,
                                       Channel channel, const Nonce& nonce)
    : options_(options), expected_name_(std::move(expected_name)) {
  Hello hello{.versions = options.versions,
              .features = options.features,
              .name = options.identity.name,
              .incarnation = options.identity.incarnation,
              .host_id = options.identity.host_id,
              .nonce = nonce,
              .channel = channel,
              .message_max = options.message_max};
  for (const std::string& key : options.keys) hello.key_ids.push_back(key_id_of(key));
  established_.channel = channel;
  outgoing_.push_back(encode(HandshakeMessage(hello)));
  append_frame(transcript_, outgoing_.back());
}

std::vector<std::string> InitiatorHandshake::take_outgoing() {
  return std::exchange(outgoing_, {});
}

Status InitiatorHandshake::on_message(std::string_view payload) {
  Result<HandshakeMessage> message = decode_handshake(payload);
  if (!message) return refuse(RefusalReason::kProtocol, message.status());
  if (const auto* refusal = std::get_if<Refusal>(&*message)) {
    state_ = State::kFailed;
    return on_refusal(*refusal);
  }
  if (state_ == State::kHelloSent) {
    if (const auto* challenge = std::get_if<Challenge>(&*message)) {
      return on_challenge(*challenge, payload);
    }
    return refuse(RefusalReason::kProtocol, out_of_turn("Challenge"));
  }
  if (state_ == State::kProofSent) {
    if (const auto* accept = std::get_if<Accept>(&*message)) return on_accept(*accept);
    return refuse(RefusalReason::kProtocol, out_of_turn("Accept"));
  }
  return refuse(RefusalReason::kProtocol, out_of_turn("a session frame"));
}

Status InitiatorHandshake::on_challenge(const Challenge& challenge, std::string_view payload) {
  const std::uint32_t common = highest_common(challenge.versions, options_.versions);
  if (common == 0) {
    return refuse(RefusalReason::kNoCommonVersion,
                  no_common_version(challenge.name, challenge.versions, options_.versions));
  }
  // Only a downgrade by somebody in between chooses another one.
  if (challenge.version != common) {
    return refuse(RefusalReason::kProtocol,
                  Status(Code::kProtocol,
                         {.what = "control handshake",
                          .why = "the peer chose version " + std::to_string(challenge.version) +
                                 " where " + std::to_string(common) + " is the highest common one",
                          .peer = challenge.name}));
  }
  if (!expected_name_.empty() && challenge.name != expected_name_) {
    return refuse(RefusalReason::kWrongPeer,
                  Status(Code::kNotFound, {.what = "control handshake",
                                           .why = "node " + challenge.name + " answers where " +
                                                  expected_name_ + " was expected",
                                           .hint = "check the address of the peer",
                                           .peer = expected_name_}));
  }
  if (!options_.keys.empty()) {
    if (challenge.key_id == 0) {
      return refuse(RefusalReason::kNotKeyed,
                    unauthenticated(challenge.name, "the answering node has no cluster key",
                                    "set control.key on that node"));
    }
    key_ = find_key(options_.keys, challenge.key_id);
    if (key_ == nullptr) {
      return refuse(RefusalReason::kKeyUnknown,
                    unauthenticated(challenge.name, "the nodes have no cluster key in common",
                                    "give both the same key in control.key"));
    }
  } else if (challenge.key_id != 0) {
    return refuse(
        RefusalReason::kProtocol,
        unauthenticated(challenge.name, "the peer wants a cluster key, this node has none",
                        "set control.key on this node"));
  }
  append_frame(transcript_, payload);
  established_.version = common;
  established_.features = challenge.features & options_.features;
  established_.message_max = challenge.message_max;
  established_.peer.name = challenge.name;
  established_.peer.incarnation = challenge.incarnation;
  established_.peer.host_id = challenge.host_id;
  outgoing_.push_back(encode(HandshakeMessage(prove(key_, kClientDomain, transcript_))));
  state_ = State::kProofSent;
  return {};
}

Status InitiatorHandshake::on_accept(const Accept& accept) {
  established_.session_nonce = accept.session_nonce;
  const std::string proven = transcript_ + std::string(as_text(accept.session_nonce));
  if (!proves(accept.proof, key_, kServerDomain, proven)) {
    return refuse(RefusalReason::kProofWrong,
                  unauthenticated(established_.peer.name,
                                  "the answering node did not prove that it has the cluster key",
                                  "another program may answer at this address; check it"));
  }
  established_.peer.endpoints = accept.endpoints;
  established_.session_secret = session_secret(key_, options_.identity.incarnation,
                                               established_.peer.incarnation, established_);
  outgoing_.push_back(encode(HandshakeMessage(Introduce{options_.identity.endpoints})));
  state_ = State::kDone;
  return {};
}

// The code comes from the reason, never from the other side's text.
Status InitiatorHandshake::on_refusal(const Refusal& refusal) const {
  const std::string& peer =
      established_.peer.name.empty() ? expected_name_ : established_.peer.name;
  switch (refusal.reason) {
    case RefusalReason::kNoCommonVersion:
      return no_common_version(peer, refusal.versions, options_.versions);
    case RefusalReason::kKeyRequired:
      return unauthenticated(peer, "the peer wants a cluster key, this node has none",
                             "set control.key on this node");
    case RefusalReason::kKeyUnknown:
      return unauthenticated(peer, "the nodes have no cluster key in common",
                             "give both the same key in control.key");
    case RefusalReason::kProofWrong:
      return unauthenticated(peer, "the peer did not accept this node's proof",
                             "give both the same key in control.key");
    case RefusalReason::kBusy:
      return Status(Code::kBusy, {.what = "control handshake",
                                  .why = "the peer refused: " + refusal.text,
                                  .hint = "see control.sessions_max of the peer",
                                  .peer = peer});
    case RefusalReason::kNotKeyed:
    case RefusalReason::kWrongPeer:
    case RefusalReason::kProtocol:
    case RefusalReason::kUnspecified:
      break;
  }
  return Status(
      Code::kProtocol,
      {.what = "control handshake", .why = "the peer refused: " + refusal.text, .peer = peer});
}

Status InitiatorHandshake::refuse(RefusalReason reason, Status status) {
  outgoing_.push_back(encode_refusal(reason, options_.versions, status));
  state_ = State::kFailed;
  return status;
}

// --- responder -----------------------------------------------------------------

ResponderHandshake::ResponderHandshake(const HandshakeOptions& options, const Nonce& nonce)
    : options_(options), nonce_(nonce) {}

std::vector<std::string> ResponderHandshake::take_outgoing() {
  return std::exchange(outgoing_, {});
}

Status ResponderHandshake::on_message(std::string_view payload) {
  Result<HandshakeMessage> message = decode_handshake(payload);
  if (!message) return refuse(RefusalReason::kProtocol, message.status());
  if (const auto* refusal = std::get_if<Refusal>(&*message)) {
    state_ = State::kFailed;
    return Status(Code::kProtocol, {.what = "control handshake",
                                    .why = "the initiator refused: " + refusal->text,
                                    .peer = established_.peer.name});
  }
  if (state_ == State::kStart) {
    if (const auto* hello = std::get_if<Hello>(&*message)) return on_hello(*hello, payload);
    return refuse(RefusalReason::kProtocol, out_of_turn("Hello"));
  }
  if (state_ == State::kChallengeSent) {
    if (const auto* proof = std::get_if<Proof>(&*message)) return on_proof(*proof);
    return refuse(RefusalReason::kProtocol, out_of_turn("Proof"));
  }
  if (state_ == State::kAccepted) {
    if (auto* introduce = std::get_if<Introduce>(&*message)) {
      established_.peer.endpoints = std::move(introduce->endpoints);
      state_ = State::kDone;
      return {};
    }
    return refuse(RefusalReason::kProtocol, out_of_turn("Introduce"));
  }
  return refuse(RefusalReason::kProtocol, out_of_turn("nothing"));
}

Status ResponderHandshake::on_hello(const Hello& hello, std::string_view payload) {
  established_.peer.name = hello.name;
  established_.peer.incarnation = hello.incarnation;
  established_.peer.host_id = hello.host_id;
  established_.channel = hello.channel;
  established_.message_max = hello.message_max;
  established_.features = hello.features & options_.features;
  established_.version = highest_common(hello.versions, options_.versions);
  if (established_.version == 0) {
    return refuse(RefusalReason::kNoCommonVersion,
                  no_common_version(hello.name, hello.versions, options_.versions));
  }
  KeyId chosen = 0;
  if (!options_.keys.empty()) {
    if (hello.key_ids.empty()) {
      return refuse(RefusalReason::kKeyRequired,
                    unauthenticated(hello.name, "the connecting node has no cluster key",
                                    "set control.key on that node"));
    }
    for (const KeyId id : hello.key_ids) {
      key_ = find_key(options_.keys, id);
      if (key_ == nullptr) continue;
      chosen = id;
      break;
    }
    if (chosen == 0) {
      return refuse(RefusalReason::kKeyUnknown,
                    unauthenticated(hello.name, "the nodes have no cluster key in common",
                                    "give both the same key in control.key"));
    }
  }
  append_frame(transcript_, payload);
  outgoing_.push_back(
      encode(HandshakeMessage(Challenge{.versions = options_.versions,
                                        .features = options_.features,
                                        .name = options_.identity.name,
                                        .incarnation = options_.identity.incarnation,
                                        .host_id = options_.identity.host_id,
                                        .nonce = nonce_,
                                        .key_id = chosen,
                                        .version = established_.version,
                                        .message_max = options_.message_max})));
  append_frame(transcript_, outgoing_.back());
  state_ = State::kChallengeSent;
  return {};
}

Status ResponderHandshake::on_proof(const Proof& proof) {
  if (!proves(proof, key_, kClientDomain, transcript_)) {
    return refuse(RefusalReason::kProofWrong,
                  unauthenticated(established_.peer.name,
                                  "the connecting node did not prove that it has the cluster key",
                                  "give both the same key in control.key"));
  }
  state_ = State::kProven;
  return {};
}

void ResponderHandshake::accept(const Nonce& session_nonce) {
  SPINDRIFT_CHECK(state_ == State::kProven);
  established_.session_nonce = session_nonce;
  established_.session_secret = session_secret(key_, established_.peer.incarnation,
                                               options_.identity.incarnation, established_);
  const std::string proven = transcript_ + std::string(as_text(session_nonce));
  outgoing_.push_back(encode(HandshakeMessage(
      Accept{prove(key_, kServerDomain, proven), session_nonce, options_.identity.endpoints})));
  state_ = State::kAccepted;
}

Status ResponderHandshake::refuse(RefusalReason reason, Status status) {
  outgoing_.push_back(encode_refusal(reason, options_.versions, status));
  state_ = State::kFailed;
  return status;
}

}  // namespace spindrift::control
