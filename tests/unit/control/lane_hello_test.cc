#include "control/lane_hello.h"

#include <catch2/catch.hpp>

namespace spindrift::control {
namespace {

Digest secret(std::uint8_t value) {
  Digest digest{};
  digest.fill(value);
  return digest;
}

LaneHello hello() {
  return {.direction = Operation::kRead,
          .worker = 2,
          .initiator = {1, 2},
          .responder = {3, 4},
          .channel = 5,
          .lane_key = 6,
          .generation = 7,
          .first_seq = 0x1122334455667788};
}

TEST_CASE("a lane hello comes out as it went in, and its token is right") {
  const auto bytes = encode_lane_hello(hello(), secret(9));
  const auto decoded = decode_lane_hello(bytes);
  REQUIRE(decoded);
  CHECK(decoded->direction == Operation::kRead);
  CHECK(decoded->worker == 2);
  CHECK(decoded->initiator == Incarnation{1, 2});
  CHECK(decoded->responder == Incarnation{3, 4});
  CHECK(decoded->channel == 5);
  CHECK(decoded->lane_key == 6);
  CHECK(decoded->generation == 7);
  CHECK(decoded->first_seq == 0x1122334455667788);
  CHECK(lane_token_right(bytes, secret(9)));
  CHECK_FALSE(lane_token_right(bytes, secret(8)));
}

TEST_CASE("the layout is the documented one") {
  const auto bytes = encode_lane_hello(hello(), secret(9));
  CHECK(std::string(bytes.begin(), bytes.begin() + 8) == "SPINDAT1");
  CHECK(bytes[8] == 1);
  CHECK(bytes[10] == 1);  // read
  CHECK(bytes[12] == 2);  // worker
  CHECK(bytes[16] == 1);  // initiator, high
  CHECK(bytes[24] == 2);
  CHECK(bytes[32] == 3);
  CHECK(bytes[40] == 4);
  CHECK(bytes[48] == 5);  // channel
  CHECK(bytes[52] == 6);  // lane key
  CHECK(bytes[56] == 7);  // generation
  CHECK(bytes[60] == 0x88);
  CHECK(bytes[67] == 0x11);
}

TEST_CASE("no byte of a hello can be changed") {
  const auto bytes = encode_lane_hello(hello(), secret(9));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] ^= 1;
    INFO("byte " << i);
    CHECK_FALSE((decode_lane_hello(changed) && lane_token_right(changed, secret(9))));
  }
}

TEST_CASE("a hello with values out of bounds is none") {
  for (const std::size_t at : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{9},
                               std::size_t{10}, std::size_t{11}}) {
    auto bytes = encode_lane_hello(hello(), secret(9));
    bytes[at] = 0x77;
    INFO("byte " << at);
    CHECK_FALSE(decode_lane_hello(bytes));
  }
}

TEST_CASE("a token serves once, and an older generation never again") {
  LaneLedger ledger;
  CHECK(ledger.use(1, 0));
  CHECK_FALSE(ledger.use(1, 0));
  CHECK(ledger.use(1, 3));
  CHECK_FALSE(ledger.use(1, 3));
  CHECK_FALSE(ledger.use(1, 2));
  CHECK(ledger.use(2, 2));  // another lane
  CHECK(ledger.use(1, 4));
}

TEST_CASE("the ledger is bounded") {
  LaneLedger ledger;
  for (std::uint32_t lane = 0; lane < LaneLedger::kLanesMax; ++lane) REQUIRE(ledger.use(lane, 1));
  CHECK_FALSE(ledger.use(LaneLedger::kLanesMax, 1));
  CHECK(ledger.use(0, 2));
}

}  // namespace
}  // namespace spindrift::control
