// The eight bytes with which a placing worker answers the hello of a data
// connection. Shared by the control plane, which waits for them, and by the
// backends, which send them.
//
//   0..3  'S' 'P' 'L' 'A'
//   4     LaneAnswer
//   5..7  zero
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace spindrift {

enum class LaneAnswer : std::uint8_t {
  kAdopted = 0,
  kStaleGeneration = 1,  // this generation is fenced
  kBusy = 2,             // the responder's bound on lanes is reached
  kUnauthorised = 3,     // token unknown, wrong or used
};

inline constexpr std::size_t kLaneAnswerBytes = 8;

constexpr std::array<std::uint8_t, kLaneAnswerBytes> encode_lane_answer(LaneAnswer answer) {
  return {'S', 'P', 'L', 'A', static_cast<std::uint8_t>(answer), 0, 0, 0};
}

constexpr std::optional<LaneAnswer> decode_lane_answer(
    std::span<const std::uint8_t, kLaneAnswerBytes> bytes) {
  if (bytes[0] != 'S' || bytes[1] != 'P' || bytes[2] != 'L' || bytes[3] != 'A') return {};
  if (bytes[4] > static_cast<std::uint8_t>(LaneAnswer::kUnauthorised)) return {};
  if (bytes[5] != 0 || bytes[6] != 0 || bytes[7] != 0) return {};
  return static_cast<LaneAnswer>(bytes[4]);
}

}  // namespace spindrift
