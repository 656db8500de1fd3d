#include "base/lane_answer.h"

#include <catch2/catch.hpp>

namespace spindrift {
namespace {

TEST_CASE("an answer is eight known bytes and reads back") {
  using Bytes = std::array<std::uint8_t, kLaneAnswerBytes>;
  CHECK(encode_lane_answer(LaneAnswer::kAdopted) == Bytes{'S', 'P', 'L', 'A', 0, 0, 0, 0});
  CHECK(encode_lane_answer(LaneAnswer::kUnauthorised) == Bytes{'S', 'P', 'L', 'A', 3, 0, 0, 0});
  for (const LaneAnswer answer : {LaneAnswer::kAdopted, LaneAnswer::kStaleGeneration,
                                  LaneAnswer::kBusy, LaneAnswer::kUnauthorised}) {
    CHECK(decode_lane_answer(encode_lane_answer(answer)) == answer);
  }
}

TEST_CASE("whatever else arrives is refused") {
  for (std::size_t place = 0; place < kLaneAnswerBytes; ++place) {
    for (int value = 0; value < 256; ++value) {
      auto bytes = encode_lane_answer(LaneAnswer::kAdopted);
      const bool changed = bytes[place] != value;
      bytes[place] = static_cast<std::uint8_t>(value);
      const bool other_answer = place == 4 && value <= 3;
      CAPTURE(place, value);
      CHECK(decode_lane_answer(bytes).has_value() == (!changed || other_answer));
    }
  }
}

}  // namespace
}  // namespace spindrift
