// How two nodes come to trust a control connection: a state machine for each
// end. Pure; one object per connection, owned by one thread; the random nonces
// are arguments.
//
//   initiator                          responder
//     Hello(versions, name, nonce) ─▶
//                                   ◀─ Challenge(version, name, nonce)
//     Proof                        ─▶     proven(): the shell finds the session
//                                   ◀─ Accept(proof, session nonce, endpoints)
//     Introduce(endpoints)         ─▶
//
// Each proof is an HMAC-SHA256 with the cluster key over the whole transcript
// (both first messages as they were on the wire), with a domain of its own, so
// that a reflected or replayed one is worthless. The initiator proves itself
// first: a stranger learns nothing. Without keys at both ends the proofs are
// empty; one keyed end refuses an unkeyed other, with a reason that reaches it.
//
// What this does not give: the frames afterwards are neither encrypted nor
// authenticated one by one. Who can rewrite packets on the path can take a
// connection over.
//
// Errors: a Status ends the machine. What take_outgoing() holds then (a refusal
// for the other end) is to be sent before the connection is closed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/messages.h"
#include "spindrift/status.h"

namespace spindrift::control {

inline constexpr VersionRange kVersions{1, 1};

struct HandshakeOptions {
  LocalIdentity identity;
  std::vector<std::string> keys;  // most wanted first; empty: no authentication
  VersionRange versions = kVersions;
  std::uint64_t features = 0;
  std::uint32_t message_max = 0;
};

// What both ends agree on.
struct Established {
  RemotePeer peer;
  Channel channel = 0;
  std::uint32_t version = 0;
  std::uint64_t features = 0;     // of both
  std::uint32_t message_max = 0;  // that the peer accepts
  Nonce session_nonce{};
  Digest session_secret{};  // makes the tokens of data lanes
};

class InitiatorHandshake {
 public:
  // `expected_name` empty: whoever answers.
  InitiatorHandshake(const HandshakeOptions& options, std::string expected_name, Channel channel,
                     const Nonce& nonce);

  Status on_message(std::string_view payload);
  std::vector<std::string> take_outgoing();  // the Hello is there from the start
  bool done() const { return state_ == State::kDone; }
  const Established& established() const { return established_; }

 private:
  enum class State {
    kHelloSent,  // waits for Challenge
    kProofSent,  // waits for Accept
    kDone,
    kFailed,
  };
  Status on_challenge(const Challenge& challenge, std::string_view payload);
  Status on_accept(const Accept& accept);
  Status on_refusal(const Refusal& refusal) const;
  Status refuse(RefusalReason reason, Status status);

  const HandshakeOptions& options_;
  std::string expected_name_;
  State state_ = State::kHelloSent;
  const std::string* key_ = nullptr;  // the chosen one, of the options
  std::string transcript_;
  Established established_;
  std::vector<std::string> outgoing_;
};

class ResponderHandshake {
 public:
  ResponderHandshake(const HandshakeOptions& options, const Nonce& nonce);

  Status on_message(std::string_view payload);
  std::vector<std::string> take_outgoing();
  // The initiator has answered our challenge: accept() or refuse() is due.
  // peer().endpoints is still empty.
  bool proven() const { return state_ == State::kProven; }
  void accept(const Nonce& session_nonce);
  Status refuse(RefusalReason reason, Status status);
  bool done() const { return state_ == State::kDone; }
  const Established& established() const { return established_; }

 private:
  enum class State {
    kStart,          // waits for Hello
    kChallengeSent,  // waits for Proof
    kProven,         // waits for our own accept() or refuse()
    kAccepted,       // waits for Introduce
    kDone,
    kFailed,
  };
  Status on_hello(const Hello& hello, std::string_view payload);
  Status on_proof(const Proof& proof);

  const HandshakeOptions& options_;
  Nonce nonce_;
  State state_ = State::kStart;
  const std::string* key_ = nullptr;
  std::string transcript_;
  Established established_;
  std::vector<std::string> outgoing_;
};

}  // namespace spindrift::control
