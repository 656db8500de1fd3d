#include "planner/subnet.h"

#include <catch2/catch.hpp>

#include "planner/natural_order.h"

namespace spindrift::planner {
namespace {

TEST_CASE("addresses are read with their prefix length, or not at all") {
  struct Row {
    const char* text;
    bool valid;
    bool v6;
    unsigned prefix;
  };
  const Row rows[] = {
      {"10.0.2.1/24", true, false, 24},
      {"10.0.2.1", true, false, 32},
      {"fd00::1/64", true, true, 64},
      {"::1", true, true, 128},
      {"10.0.2.1/0", true, false, 0},
      {"10.0.2.1/32", true, false, 32},
      {"10.0.2.1/33", false, false, 0},
      {"fd00::1/129", false, false, 0},
      {"10.0.2/24", false, false, 0},
      {"10.0.2.256/24", false, false, 0},
      {"10.0.2.1/", false, false, 0},
      {"10.0.2.1/x", false, false, 0},
      {"10.0.2.1/24 ", false, false, 0},
      {"10.0.2.1/-1", false, false, 0},
      {"", false, false, 0},
      {"/24", false, false, 0},
      {"fd00::g/64", false, false, 0},
      {"10.0.2.1/4294967320", false, false, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto address = parse_address(row.text);
    REQUIRE(address.has_value() == row.valid);
    if (!row.valid) continue;
    CHECK(address->v6 == row.v6);
    CHECK(address->prefix == row.prefix);
    CHECK(std::string(row.text).rfind(address->text, 0) == 0);
  }
}

TEST_CASE("a subnet is shared when each lies in the other's") {
  struct Row {
    const char* a;
    const char* b;
    bool shared;
  };
  const Row rows[] = {
      {"10.0.2.1/24", "10.0.2.2/24", true},     {"10.0.2.1/24", "10.0.3.2/24", false},
      {"10.0.2.1/23", "10.0.3.2/23", true},     {"10.0.2.1/23", "10.0.4.2/23", false},
      {"10.0.2.1/16", "10.0.2.2/24", true},     {"10.0.1.1/16", "10.0.2.2/24", false},
      {"10.0.2.1/32", "10.0.2.1/32", true},     {"10.0.2.1/32", "10.0.2.2/32", false},
      {"10.0.2.1/0", "192.168.0.1/0", true},    {"10.0.2.1/31", "10.0.2.0/31", true},
      {"fd00::1/64", "fd00::2/64", true},       {"fd00::1/64", "fd00:0:0:1::2/64", false},
      {"fd00::1/63", "fd00:0:0:1::2/63", true}, {"10.0.2.1/0", "fd00::1/0", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.a, row.b);
    CHECK(share_subnet(*parse_address(row.a), *parse_address(row.b)) == row.shared);
    CHECK(share_subnet(*parse_address(row.b), *parse_address(row.a)) == row.shared);
  }
}

TEST_CASE("special addresses are known") {
  CHECK(is_link_local(*parse_address("fe80::1")));
  CHECK(is_link_local(*parse_address("febf::1")));
  CHECK(is_link_local(*parse_address("169.254.1.1")));
  CHECK_FALSE(is_link_local(*parse_address("fec0::1")));
  CHECK_FALSE(is_link_local(*parse_address("10.0.0.1")));
  CHECK(is_loopback(*parse_address("127.3.2.1")));
  CHECK(is_loopback(*parse_address("::1")));
  CHECK_FALSE(is_loopback(*parse_address("::2")));
  CHECK_FALSE(is_loopback(*parse_address("1::1")));
}

TEST_CASE("names are ordered as people do") {
  const char* const ordered[] = {"",     "eth",    "eth0",    "eth01",  "eth1",
                                 "eth2", "eth9",   "eth10",   "eth10a", "eth11",
                                 "ethX", "mlx5_0", "mlx5_10", "mlx12_0"};
  for (std::size_t i = 0; i < std::size(ordered); ++i) {
    for (std::size_t j = 0; j < std::size(ordered); ++j) {
      CAPTURE(ordered[i], ordered[j]);
      CHECK(natural_less(ordered[i], ordered[j]) == (i < j));
    }
  }
}

}  // namespace
}  // namespace spindrift::planner
