// The first bytes of a data connection: which lane of whose session it is, and a
// token that only the two ends of that session can make. Fixed layout, little
// endian:
//
//    0  8  "SPINDAT1"
//    8  2  version, 1
//   10  1  direction (Operation)
//   11  1  zero
//   12  4  worker of the initiator
//   16 16  initiator incarnation (high, low)
//   32 16  responder incarnation (high, low)
//   48  4  channel: which of the initiator's sessions with this responder
//   52  4  lane key
//   56  4  generation
//   60  8  seq of the first attempt
//   68 32  token: HMAC-SHA256 with the session secret over the bytes above
//
// A token serves once: the ledger remembers the highest generation that came for
// each lane and refuses that and everything below, so that a recorded hello, or
// one that sat in a queue, is worthless.
//
// Pure; the ledger is owned by one thread. Nothing is believed before the token
// was checked.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "control/messages.h"

namespace spindrift::control {

// The first bytes of a data connection; as long as kControlMagic.
inline constexpr std::string_view kLaneMagic = "SPINDAT1";
inline constexpr std::size_t kMagicBytes = 8;
inline constexpr std::size_t kLaneHelloBytes = 100;
inline constexpr std::size_t kLaneTokenOffset = 68;

using LaneHelloBytes = std::array<std::uint8_t, kLaneHelloBytes>;

struct LaneHello {
  Operation direction = Operation::kWrite;
  std::uint32_t worker = 0;
  Incarnation initiator;
  Incarnation responder;
  Channel channel = 0;
  std::uint32_t lane_key = 0;
  Generation generation = 0;
  AttemptSeq first_seq = 0;
};

LaneHelloBytes encode_lane_hello(const LaneHello& hello, const Digest& session_secret);

// Nothing when magic, version or a value is wrong. Says nothing of the token.
std::optional<LaneHello> decode_lane_hello(std::span<const std::uint8_t, kLaneHelloBytes> bytes);

bool lane_token_right(std::span<const std::uint8_t, kLaneHelloBytes> bytes,
                      const Digest& session_secret);

// Which tokens of one session were used.
class LaneLedger {
 public:
  // Lanes of one session: 64 rails times 2 directions times 64 workers, doubled.
  static constexpr std::size_t kLanesMax = 16'384;

  // True, and remembered, when this generation is newer than any before.
  bool use(std::uint32_t lane_key, Generation generation);

 private:
  std::map<std::uint32_t, Generation> highest_;
};

}  // namespace spindrift::control
