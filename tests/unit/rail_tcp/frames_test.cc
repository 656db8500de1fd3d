#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "base/prng.h"
#include "rails/tcp/frames.h"

namespace spindrift::rails::tcp {
namespace {

std::vector<std::byte> make_head(FrameHeader header, const std::vector<WireRange>& ranges) {
  header.ranges = static_cast<std::uint16_t>(ranges.size());
  std::vector<std::byte> head(header.head_bytes());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    encode_range(ranges[i], head.data() + kHeaderBytes + i * kRangeBytes);
  }
  seal_head(header, head);
  return head;
}

std::span<const std::byte, kHeaderBytes> header_of(const std::vector<std::byte>& head) {
  return std::span<const std::byte>(head).first<kHeaderBytes>();
}

FrameHeader write_header(std::uint64_t seq, std::uint64_t bytes) {
  FrameHeader header;
  header.type = FrameType::kWriteData;
  header.checksum = true;
  header.seq = seq;
  header.bytes = bytes;
  return header;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned>(byte) >> 4];
    text += kDigits[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

TEST_CASE("CRC32C is the one that the world knows") {
  CHECK(crc32c(0, "123456789", 9) == 0xe3069283u);
  CHECK(crc32c(crc32c(0, "1234", 4), "56789", 5) == 0xe3069283u);
  CHECK(crc32c(0, "", 0) == 0);
}

TEST_CASE("the bytes on the wire do not change") {
  const auto head = make_head(write_header(0x0102030405060708, 0x1000),
                              {{0x1122334455667788, 0x1000, 0xaabbccdd}});
  CHECK(hex(head) ==
        "53504401010100000807060504030201001000000000000001000000ddedd6c0"
        "887766554433221100100000ddccbbaa");
  FrameHeader refusal;
  refusal.type = FrameType::kRefuse;
  refusal.cause = Cause::kQuiesced;
  refusal.seq = 5;
  const auto refused = make_head(refusal, {});
  CHECK(hex(refused) == "535044010500040005000000000000000000000000000000000000007255022a");
  std::array<std::byte, kTrailerBytes> trailer{};
  encode_trailer({0x01020304, Cause::kChecksum}, trailer);
  CHECK(hex(trailer) == "0403020105000000");
}

TEST_CASE("what is encoded is decoded") {
  const auto head = make_head(write_header(7, 300), {{100, 100, 1}, {500, 200, 2}});
  const auto header = decode_header(header_of(head));
  REQUIRE(header);
  CHECK(header->type == FrameType::kWriteData);
  CHECK(header->checksum);
  CHECK(header->seq == 7);
  CHECK(header->bytes == 300);
  CHECK(header->ranges == 2);
  CHECK(head_is_sound(*header, head));
  CHECK(range_of(head.data(), 1).remote == 500);
  CHECK(range_of(head.data(), 1).length == 200);
  CHECK(range_of(head.data(), 1).key == 2);

  for (const Cause cause : {Cause::kNone, Cause::kBadRange, Cause::kNoRight, Cause::kNoRegion,
                            Cause::kQuiesced, Cause::kChecksum}) {
    std::array<std::byte, kTrailerBytes> trailer{};
    encode_trailer({9, cause}, trailer);
    const auto decoded = decode_trailer(trailer);
    REQUIRE(decoded);
    CHECK(decoded->cause == cause);
    CHECK(decoded->crc == 9);
  }
}

TEST_CASE("headers that no correct peer sends are refused") {
  const auto changed = [](std::size_t at, std::uint8_t value) {
    auto head = make_head(write_header(7, 300), {{100, 300, 1}});
    head[at] = std::byte{value};
    return head;
  };
  CHECK(decode_header(header_of(changed(4, 1))));  // unchanged
  struct Row {
    const char* name;
    std::size_t at;
    std::uint8_t value;
  };
  const Row rows[] = {
      {"magic", 0, 'X'},
      {"version", 3, 2},
      {"type 0", 4, 0},
      {"type 6", 4, 6},
      {"unknown flag", 5, 2},
      {"a cause in a data frame", 6, 1},
      {"unknown cause", 6, 6},
      {"reserved byte", 7, 1},
      {"reserved bytes", 26, 1},
      {"no ranges", 24, 0},
      {"too many ranges", 25, 3},
      {"more than a slice", 20, 1},
      {"an ack with ranges", 4, 4},
      {"read data with ranges", 4, 3},
      {"a refusal without cause", 4, 5},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK_FALSE(decode_header(header_of(changed(row.at, row.value))));
  }
}

TEST_CASE("tables that do not add up, wrap around or are empty are not sound") {
  struct Row {
    const char* name;
    std::uint64_t bytes;
    std::vector<WireRange> ranges;
    bool sound;
  };
  constexpr std::uint64_t kTop = ~std::uint64_t{0};
  const Row rows[] = {
      {"right", 30, {{1, 10, 1}, {2, 20, 1}}, true},
      {"up to the last address", 10, {{kTop - 10, 10, 1}}, true},
      {"too few", 31, {{1, 10, 1}, {2, 20, 1}}, false},
      {"too many", 29, {{1, 10, 1}, {2, 20, 1}}, false},
      {"empty range", 10, {{1, 10, 1}, {2, 0, 1}}, false},
      {"wraps around", 10, {{kTop - 5, 10, 1}}, false},
      {"lengths that overflow 32 bits",
       0x100000000 & 0xffffff,
       {{1, 0xffffffff, 1}, {2, 1, 1}},
       false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    FrameHeader header = write_header(1, row.bytes);
    const auto head = make_head(header, row.ranges);
    header.ranges = static_cast<std::uint16_t>(row.ranges.size());
    CHECK(head_is_sound(header, head) == row.sound);
  }
}

TEST_CASE("a flipped bit anywhere in a head is noticed") {
  const auto good = make_head(write_header(7, 300), {{100, 100, 1}, {500, 200, 2}});
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto head = good;
    head[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto header = decode_header(header_of(head));
    const bool accepted =
        header && header->head_bytes() == head.size() && head_is_sound(*header, head);
    CHECK_FALSE(accepted);
  }
}

}  // namespace
}  // namespace spindrift::rails::tcp
