#include "base/format.h"

#include <catch2/catch.hpp>
#include <limits>

namespace spindrift {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("bytes are formatted exactly") {
  CHECK(format_bytes(0) == "0 bytes");
  CHECK(format_bytes(1) == "1 byte");
  CHECK(format_bytes(1023) == "1023 bytes");
  CHECK(format_bytes(1024) == "1 KiB");
  CHECK(format_bytes(1025) == "1025 bytes");
  CHECK(format_bytes(1536 * kKiB) == "1536 KiB");
  CHECK(format_bytes(3 * kGiB) == "3 GiB");
  CHECK(format_bytes(2048 * kGiB) == "2 TiB");
  CHECK(format_bytes(kMost) == "18446744073709551615 bytes");
}

TEST_CASE("bytes are shortened to three digits") {
  CHECK(format_bytes_short(1023) == "1023 bytes");
  CHECK(format_bytes_short(1025) == "1 KiB");
  CHECK(format_bytes_short(1536) == "1.5 KiB");
  CHECK(format_bytes_short(25'500) == "24.9 KiB");
  CHECK(format_bytes_short(kMiB - 1) == "1023 KiB");
  CHECK(format_bytes_short(kMiB + kMiB / 3) == "1.33 MiB");
  CHECK(format_bytes_short(kMost) == "16777215 TiB");
}

TEST_CASE("rates are formatted in bits") {
  CHECK(format_rate(Rate{0}) == "unknown");
  CHECK(format_rate(Rate{1}) == "8 bit/s");
  CHECK(format_rate(Rate{125}) == "1 kbit/s");
  CHECK(format_rate(Rate{125'000'000}) == "1 Gbit/s");
  CHECK(format_rate(Rate{12'500'000'000}) == "100 Gbit/s");
  CHECK(format_rate(Rate{31'250'000}) == "250 Mbit/s");
  CHECK(format_rate(Rate{1'234'000}) == "9.87 Mbit/s");
  CHECK(format_rate(Rate{kMost}) == "18446744 Tbit/s");
}

TEST_CASE("spans are formatted in a unit that fits") {
  using namespace std::chrono_literals;
  CHECK(format_duration(0ns) == "0 ns");
  CHECK(format_duration(999ns) == "999 ns");
  CHECK(format_duration(1500ns) == "1.5 us");
  CHECK(format_duration(1'342'177ns) == "1.34 ms");
  CHECK(format_duration(59s) == "59 s");
  CHECK(format_duration(125s) == "2 min 5 s");
  CHECK(format_duration(2h + 5min + 7s) == "2 h 5 min");
  CHECK(format_duration(-1500ns) == "-1.5 us");
  CHECK(format_duration(Duration::min()) == "-2562047 h 47 min");
}

}  // namespace
}  // namespace spindrift
