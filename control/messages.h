// The control messages as plain values; codec.h turns them into bytes and back.
// What each means, and in which order they come, is told in messages.proto.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "control/control_plane.h"
#include "spindrift/ids.h"
#include "spindrift/segment.h"

namespace spindrift::control {

using Nonce = std::array<std::uint8_t, 32>;
using Digest = std::array<std::uint8_t, 32>;  // HMAC-SHA256
using KeyId = std::uint64_t;                  // 0: no key
// Which of an initiator's sessions with one responder: its PeerSlot. One node
// reached under two addresses that were opened apart has two.
using Channel = std::uint32_t;

struct VersionRange {
  std::uint32_t min = 0;
  std::uint32_t max = 0;

  friend constexpr bool operator==(const VersionRange&, const VersionRange&) = default;
};

struct Hello {
  VersionRange versions;
  std::uint64_t features = 0;
  std::string name;
  Incarnation incarnation;
  std::string host_id;
  Nonce nonce{};
  std::vector<KeyId> key_ids;
  Channel channel = 0;
  std::uint32_t message_max = 0;
};

struct Challenge {
  VersionRange versions;
  std::uint64_t features = 0;
  std::string name;
  Incarnation incarnation;
  std::string host_id;
  Nonce nonce{};
  KeyId key_id = 0;
  std::uint32_t version = 0;
  std::uint32_t message_max = 0;
};

// `keyed` false: sent without a key, the digest is all zero and not on the wire.
struct Proof {
  bool keyed = false;
  Digest digest{};
};

struct Accept {
  Proof proof;
  Nonce session_nonce{};
  std::vector<DataEndpoint> endpoints;
};

struct Introduce {
  std::vector<DataEndpoint> endpoints;
};

enum class RefusalReason : std::uint8_t {
  kUnspecified = 0,
  kNoCommonVersion = 1,
  kKeyRequired = 2,  // the refusing side has a key, the other none
  kKeyUnknown = 3,   // both have keys, none in common
  kProofWrong = 4,
  kNotKeyed = 5,  // the refusing side has a key, the answering one has none
  kBusy = 6,      // a bound of the refusing side
  kProtocol = 7,
  kWrongPeer = 8,  // another node answers at this address
};
inline constexpr auto kRefusalReasonLast = RefusalReason::kWrongPeer;

struct Refusal {
  RefusalReason reason = RefusalReason::kUnspecified;
  VersionRange versions;
  std::string text;
};

using HandshakeMessage = std::variant<Hello, Challenge, Proof, Accept, Introduce, Refusal>;

struct LookUp {
  std::uint64_t id = 0;
  std::string segment;
  std::uint32_t first = 0;
  std::uint64_t edition = 0;
};

struct LookUpReply {
  std::uint64_t id = 0;
  bool found = false;
  std::string why;
  std::uint32_t first = 0;
  std::uint32_t total = 0;
  std::uint64_t edition = 0;
  std::vector<SegmentRegion> regions;
};

struct Goodbye {
  std::string reason;
};

struct Ping {
  std::uint64_t nonce = 0;
};

// monostate: of a kind that this version does not know; to be ignored.
using SessionMessage =
    std::variant<std::monostate, LookUp, LookUpReply, FenceRequest, FenceReply, Goodbye, Ping>;

}  // namespace spindrift::control
