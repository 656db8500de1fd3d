#include "config/units.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <limits>
#include <string>

#include "base/prng.h"

namespace spindrift::config {
namespace {

using namespace std::chrono_literals;
using Catch::Contains;

struct Good {
  const char* text;
  std::uint64_t value;
};

TEST_CASE("sizes are read with their units") {
  const Good cases[] = {{"0", 0},
                        {"0B", 0},
                        {"1B", 1},
                        {"64KiB", 65536},
                        {"64 KiB", 65536},
                        {"1MiB", 1 << 20},
                        {"1.5GiB", 3ull << 29},
                        {"2TiB", 2ull << 40},
                        {"1kB", 1000},
                        {"2.5MB", 2500000},
                        {"3GB", 3000000000},
                        {"0.5KiB", 512},
                        {"0.001kB", 1},
                        {"16777215TiB", 16777215ull << 40},
                        {"18446744073709551615B", std::numeric_limits<std::uint64_t>::max()}};
  for (const Good& c : cases) {
    INFO(c.text);
    const Result<std::uint64_t> size = parse_size(c.text);
    REQUIRE(size.ok());
    CHECK(*size == c.value);
  }
}

TEST_CASE("rates are read in bits and in bytes") {
  const Good cases[] = {{"25Gbit", 3'125'000'000},
                        {"25Gbit/s", 3'125'000'000},
                        {"8bit", 1},
                        {"1kbit", 125},
                        {"2.5Gbit", 312'500'000},
                        {"3GB/s", 3'000'000'000},
                        {"100MiB/s", 104'857'600},
                        {"1B/s", 1},
                        {"1Tbit", 125'000'000'000},
                        {"0", 0}};
  for (const Good& c : cases) {
    INFO(c.text);
    const Result<Rate> rate = parse_rate(c.text);
    REQUIRE(rate.ok());
    CHECK(rate->bytes_per_s == c.value);
  }
}

TEST_CASE("durations are read with their units") {
  const std::pair<const char*, Duration> cases[] = {
      {"5ns", 5ns}, {"5us", 5us}, {"5ms", 5ms},     {"2s", 2s},      {"3min", 3min},
      {"1h", 1h},   {"0", 0ns},   {"1.5s", 1500ms}, {"0.001ms", 1us}};
  for (const auto& [text, value] : cases) {
    INFO(text);
    const Result<Duration> duration = parse_duration(text);
    REQUIRE(duration.ok());
    CHECK(*duration == value);
  }
}

struct Bad {
  const char* text;
  const char* what;  // part of what is said
};

TEST_CASE("what is no size says why") {
  const Bad cases[] = {{"", "is empty"},
                       {"64", "has no unit"},
                       {"KiB", "is not a size"},
                       {"-1B", "is negative"},
                       {"64kib", "did you mean KiB?"},
                       {"64K", "did you mean KiB?"},
                       {"5ms", "the unit \"ms\""},
                       {"1.5B", "whole number of bytes"},
                       {"1..5KiB", "not a number that fits"},
                       {"1.KiB", "not a number"},
                       {"1KiB ", "the unit \"KiB \""},
                       {"1  KiB", "the unit \" KiB\""},
                       {"0x10B", "the unit \"x10B\""},
                       {"1e3B", "the unit \"e3B\""},
                       {"18446744073709551616B", "not a number that fits"},
                       {"16777216TiB", "too large"},
                       {"0.00000000000000000000001TiB", "not a number that fits"},
                       {"\x01", "\"?\" is not a size"}};
  for (const Bad& c : cases) {
    INFO(c.text);
    const Result<std::uint64_t> size = parse_size(c.text);
    REQUIRE(size.code() == Code::kInvalidArgument);
    const Status::Detail detail = size.status().detail();
    CHECK_THAT(detail.what + "; " + detail.hint, Contains(c.what));
    CHECK_THAT(detail.hint, Contains("64KiB"));
  }
}

TEST_CASE("what is no rate or duration says why") {
  const Bad rates[] = {{"25", "has no unit"},
                       {"25Gbps", "did you mean Gbit?"},
                       {"25GB", "the unit \"GB\""},
                       {"1bit", "whole number of bytes"},
                       {"333333333333Tbit", "too large"}};
  for (const Bad& c : rates) {
    INFO(c.text);
    const Result<Rate> rate = parse_rate(c.text);
    REQUIRE(rate.code() == Code::kInvalidArgument);
    CHECK_THAT(rate.status().detail().what + rate.status().detail().hint, Contains(c.what));
  }
  const Bad durations[] = {{"5", "has no unit"},
                           {"5m", "did you mean min?"},
                           {"5 sec", "did you mean s?"},
                           {"5\xc2\xb5s", "did you mean us?"},
                           {"0.1ns", "whole number of nanoseconds"},
                           {"2562048h", "too long"}};
  for (const Bad& c : durations) {
    INFO(c.text);
    const Result<Duration> duration = parse_duration(c.text);
    REQUIRE(duration.code() == Code::kInvalidArgument);
    CHECK_THAT(duration.status().detail().what + duration.status().detail().hint, Contains(c.what));
  }
}

TEST_CASE("values are written in the unit that makes them shortest") {
  CHECK(write_size(0) == "0");
  CHECK(write_size(65536) == "64KiB");
  CHECK(write_size(1000000) == "1MB");
  CHECK(write_size(1537) == "1537B");
  CHECK(write_rate(Rate{125'000'000}) == "1Gbit");
  CHECK(write_rate(Rate{10'000'000}) == "10MB/s");
  CHECK(write_rate(Rate{1}) == "1B/s");
  CHECK(write_duration(1500ms) == "1500ms");
  CHECK(write_duration(120s) == "2min");
  CHECK(write_duration(Duration(1)) == "1ns");
}

TEST_CASE("what is written is read back exactly") {
  Prng prng(7);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t value = prng.next() >> prng.below(64);
    CHECK(*parse_size(write_size(value)) == value);
    CHECK(*parse_rate(write_rate(Rate{value})) == Rate{value});
    const Duration duration(static_cast<std::int64_t>(value >> 1));
    CHECK(*parse_duration(write_duration(duration)) == duration);
  }
}

}  // namespace
}  // namespace spindrift::config
