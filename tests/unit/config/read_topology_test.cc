#include "config/read_topology.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "config/load.h"
#include "expect.h"

namespace spindrift::config {
namespace {

using namespace std::chrono_literals;

const std::string kHead = "schema: spindrift/topology/1\n";

Loaded<planner::Topology> load(const std::string& body) {
  return load_topology_text(kHead + body, "f");
}

TEST_CASE("every key of a topology reaches its place") {
  const auto loaded = load(R"(name: two
nodes:
  - name: a
    host: h1
    nics:
      - { name: eth0, transport: rdma, addresses: [10.0.0.1/24, "fd00::1/64"], rate: 100Gbit,
          numa: 1, pci: "0000:3b:00.0", up: false }
    gpu_numa: [0, 1, -1]
  - name: b
    nics: [{ name: eth0 }]
links:
  - { from: a/eth0, to: b/eth0, round_trip: 30us, usable: false, reason: "cable pulled" }
)");
  expect_problems(loaded.problems, {});
  const planner::Topology& t = loaded.value;
  CHECK(t.name == "two");
  REQUIRE(t.nodes.size() == 2);
  CHECK(t.nodes[0].host == "h1");
  REQUIRE(t.nodes[0].nics.size() == 1);
  const planner::Nic& nic = t.nodes[0].nics[0];
  CHECK(nic.name == "eth0");
  CHECK(nic.transport == Transport::kRdma);
  CHECK(nic.addresses == std::vector<std::string>{"10.0.0.1/24", "fd00::1/64"});
  CHECK(nic.line_rate == Rate{12'500'000'000});
  CHECK(nic.numa == 1);
  CHECK(nic.pci == "0000:3b:00.0");
  CHECK_FALSE(nic.up);
  CHECK(t.nodes[0].gpu_numa == std::vector<int>{0, 1, -1});
  REQUIRE(t.links.size() == 1);
  CHECK(t.links[0].from_node == "a");
  CHECK(t.links[0].to_nic == "eth0");
  CHECK(t.links[0].round_trip == 30us);
  CHECK_FALSE(t.links[0].usable);
  CHECK(t.links[0].reason == "cable pulled");
}

TEST_CASE("what does not fit together is an error") {
  struct Case {
    const char* body;
    std::vector<std::string> expected;
  };
  const Case cases[] = {
      {"", {"1:1: error: `nodes` is missing"}},
      {"nodes: [{ name: a, nics: [] }, { name: a, nics: [] }]\n",
       {"2:40: error: `nodes[].name` \"a\" is already used at f:2:17"}},
      {"nodes: [{ name: a, nics: [{ name: e }, { name: e }] }]\n",
       {"2:48: error: `nodes[].nics[].name` \"e\" is already used at f:2:35"}},
      {"nodes: [{ name: a, nics: [{ name: e, addresses: 10.0.0.1/24 }, { name: f, addresses: "
       "10.0.0.1/16 }] }]\n",
       {"2:86: error: `nodes[].nics[].addresses` \"10.0.0.1\" is already used at f:2:49"}},
      {"nodes: [{ name: a, nics: [{ name: e, addresses: 10.0.0.1 }] }]\n",
       {"2:49: error: `nodes[].nics[].addresses` cannot be \"10.0.0.1\"; allowed: an IP address "
        "with its prefix"}},
      {"nodes: [{ name: a, nics: [{ name: e, addresses: 10.0.0.1/33 }] }]\n", {"2:49: error: "}},
      {"nodes: [{ name: a, nics: [{ name: e, pci: 3b:00.0 }] }]\n",
       {"2:43: error: `nodes[].nics[].pci`"}},
      {"nodes: [{ name: a, nics: [{ name: e, rate: 100 }] }]\n",
       {"2:44: error: `nodes[].nics[].rate`: \"100\" has no unit"}},
      {"nodes: [{ name: a, nics: [{ name: e }] }]\nlinks: [{ from: a/e, to: b/e }]\n",
       {"3:26: error: `links[].to` names the unknown node \"b\"; allowed: a"}},
      {"nodes: [{ name: a, nics: [{ name: e }] }, { name: b, nics: [{ name: e }] }]\nlinks: [{ "
       "from: a/e, to: b/x }]\n",
       {"3:26: error: `links[].to` names the unknown NIC \"x\" of b; allowed: e"}},
      {"nodes: [{ name: a, nics: [{ name: e }] }]\nlinks: [{ from: a/e, to: a/e }]\n",
       {"3:26: error: `links[].to` is on the same node as `from`"}},
      {"nodes: [{ name: a, nics: [{ name: e }] }]\nlinks: [{ from: a, to: a/e }]\n",
       {"3:17: error: `links[].from` cannot be \"a\"; allowed: NODE/NIC"}},
      {"nodes: [{ name: a, nics: [{ name: e }] }, { name: b, nics: [{ name: e }] }]\n"
       "links: [{ from: a/e, to: b/e, reason: x }]\n",
       {"3:39: warning: `links[].reason` has no effect on a usable link"}},
      {"nodes: [{ name: a, nics: [{ name: e }] }, { name: b, nics: [{ name: e }] }]\n"
       "links: [{ from: a/e, to: b/e }, { from: a/e, to: b/e }]\n",
       {"3:50: error: `links[].to` \"a/e > b/e\" is already used at f:3:26"}},
  };
  for (const Case& c : cases) {
    INFO(c.body);
    expect_problems(load(c.body).problems, c.expected);
  }
}

}  // namespace
}  // namespace spindrift::config
