#include "control/socket_address.h"

#include <catch2/catch.hpp>

#include "control/connection_pairs.h"

namespace spindrift::control {
namespace {

TEST_CASE("addresses are numeric, with a port and brackets for IPv6") {
  struct Case {
    const char* text;
    const char* why;  // empty: fine, and printed as it was read
  };
  const Case cases[] = {
      {"10.0.0.2:7400", ""},
      {"[fd00::2]:7400", ""},
      {"127.0.0.1:1", ""},
      {"10.0.0.2", "no port"},
      {"10.0.0.2:", "the port is not a number"},
      {"10.0.0.2:0", "the port is not a number"},
      {"10.0.0.2:65536", "the port is not a number"},
      {"10.0.0.2:74x", "the port is not a number"},
      {"fd00::2:7400", "needs brackets"},
      {"decode-0:7400", "not a numeric IP address"},
      {"10.0.0.256:1", "not a numeric IP address"},
      {":7400", "not a numeric IP address"},
      {"", "no port"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto address = SocketAddress::parse(c.text);
    if (*c.why == '\0') {
      REQUIRE(address.ok());
      CHECK(address->to_string() == c.text);
    } else {
      CHECK(address.code() == Code::kInvalidArgument);
      CHECK(address.status().to_string().find(c.why) != std::string::npos);
    }
  }
}

TEST_CASE("loopback, wildcard and subnets") {
  const auto at = [](const char* host) { return *SocketAddress::of(host, 1); };
  CHECK(at("127.8.0.1").is_loopback());
  CHECK(at("::1").is_loopback());
  CHECK_FALSE(at("10.0.0.1").is_loopback());
  CHECK_FALSE(at("::2").is_loopback());
  CHECK(at("0.0.0.0").is_any());
  CHECK(at("::").is_any());
  CHECK(at("10.0.1.200").same_subnet(at("10.0.1.1"), 24));
  CHECK_FALSE(at("10.0.2.1").same_subnet(at("10.0.1.1"), 24));
  CHECK(at("10.0.2.1").same_subnet(at("10.0.3.1"), 23));
  CHECK_FALSE(at("10.0.2.1").same_subnet(at("fd00::1"), 0));
  CHECK_FALSE(at("10.0.2.1").same_subnet(at("10.0.2.1"), 33));
  CHECK(at("fd00::1").same_subnet(at("fd00::ffff"), 112));
}

DataEndpoint end(const char* address, std::uint8_t prefix = 24, std::uint16_t port = 7000) {
  return {.device = "eth", .address = address, .prefix = prefix, .port = port};
}

TEST_CASE("connections take as many different rails as there are") {
  const std::vector<DataEndpoint> local = {end("10.0.1.1"), end("10.0.2.1"), end("10.0.3.1")};
  const std::vector<DataEndpoint> remote = {end("10.0.2.2"), end("10.0.1.2"), end("10.0.9.2")};
  const auto pairs = choose_pairs(local, remote, false, 8);
  // Two of one subnet each, then the two ends that are left.
  CHECK(pairs == std::vector<EndpointPair>{{0, 1}, {1, 0}, {2, 2}});
  CHECK(choose_pairs(local, remote, false, 1) == std::vector<EndpointPair>{{0, 1}});
  CHECK(choose_pairs(local, remote, false, 0).empty());
}

TEST_CASE("what cannot carry a connection is left out") {
  struct Case {
    const char* what;
    DataEndpoint local;
    DataEndpoint remote;
    bool same_host;
    std::size_t pairs;
  };
  DataEndpoint shm = end("10.0.1.2");
  shm.transport = Transport::kShm;
  const Case cases[] = {
      {"one subnet", end("10.0.1.1"), end("10.0.1.2"), false, 1},
      {"no port", end("10.0.1.1"), end("10.0.1.2", 24, 0), false, 0},
      {"another transport", end("10.0.1.1"), shm, false, 0},
      {"another family", end("10.0.1.1"), end("fd00::2", 64), false, 0},
      {"no address", end("10.0.1.1"), end("garbage"), false, 0},
      {"loopback of another host", end("127.0.0.1", 8), end("127.0.0.1", 8), false, 0},
      {"loopback of this host", end("127.0.0.1", 8), end("127.0.0.1", 8), true, 1},
      {"loopback to a network", end("127.0.0.1", 8), end("10.0.1.2"), true, 0},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    CHECK(choose_pairs({c.local}, {c.remote}, c.same_host, 4).size() == c.pairs);
  }
}

}  // namespace
}  // namespace spindrift::control
