#include "planner/candidates.h"

#include <catch2/catch.hpp>

#include "fixtures.h"

namespace spindrift::planner {
namespace {

using namespace std::chrono_literals;

Topology two_nodes() {
  Topology topology{.name = "t.yaml",
                    .nodes = {{.name = "a",
                               .nics = {nic("eth1", {"10.0.1.1/24"}), nic("eth0", {"10.0.0.1/24"}),
                                        nic("mlx5_0", {"10.1.0.1/24"}, Transport::kRdma)}},
                              {.name = "b",
                               .nics = {nic("eth0", {"10.0.0.2/24"}), nic("eth1", {"10.0.1.2/24"}),
                                        nic("mlx5_7", {"10.1.0.2/24"}, Transport::kRdma)}}}};
  topology.nodes[0].nics[1].line_rate = kGbit;
  topology.nodes[1].nics[1].line_rate = Rate{0};
  topology.nodes[0].nics[2].numa = 1;
  topology.nodes[0].nics[2].pci = "0000:3b:00.0";
  topology.nodes[1].nics[2].numa = 0;
  return topology;
}

TEST_CASE("rails between two nodes of a topology") {
  const auto candidates = candidates_between(two_nodes(), "a", "b");
  REQUIRE(candidates);
  REQUIRE(candidates->rails.size() == 3);
  CHECK(candidates->unused.empty());
  const RailCandidate& rdma = candidates->rails[0];
  CHECK(rdma.facts.name() == "rdma:mlx5_0>mlx5_7");
  CHECK(rdma.facts.local_numa == 1);
  CHECK(rdma.facts.remote_numa == 0);
  CHECK(rdma.facts.pci == "0000:3b:00.0");
  CHECK(rdma.capabilities.cuda_memory);
  CHECK(rdma.usable);
  const RailCandidate& eth0 = candidates->rails[1];
  CHECK(eth0.facts.name() == "tcp:eth0>eth0");
  CHECK(eth0.facts.line_rate == kGbit);  // the slower end
  CHECK_FALSE(eth0.capabilities.cuda_memory);
  const RailCandidate& eth1 = candidates->rails[2];
  CHECK(eth1.facts.name() == "tcp:eth1>eth1");
  CHECK(eth1.facts.line_rate == k100Gbit);  // the end that is known
}

TEST_CASE("ordinals do not depend on the order in the file") {
  Topology topology = two_nodes();
  std::swap(topology.nodes[0].nics[0], topology.nodes[0].nics[2]);
  std::swap(topology.nodes[0], topology.nodes[1]);
  const auto candidates = candidates_between(topology, "a", "b");
  REQUIRE(candidates->rails.size() == 3);
  CHECK(candidates->rails[0].facts.name() == "rdma:mlx5_0>mlx5_7");
  CHECK(candidates->rails[1].facts.name() == "tcp:eth0>eth0");
  CHECK(candidates->rails[2].facts.name() == "tcp:eth1>eth1");
}

TEST_CASE("what is said of a link holds for both directions, unless the other says otherwise") {
  Topology topology = two_nodes();
  topology.links = {
      {.from_node = "b",
       .from_nic = "eth1",
       .to_node = "a",
       .to_nic = "eth1",
       .round_trip = 20us,
       .usable = false,
       .reason = "optics on order"},
      {.from_node = "a", .from_nic = "eth0", .to_node = "b", .to_nic = "eth0", .round_trip = 30us},
      {.from_node = "b", .from_nic = "eth0", .to_node = "a", .to_nic = "eth0", .usable = false}};
  const auto there = candidates_between(topology, "a", "b");
  CHECK(there->rails[1].round_trip == 30us);
  CHECK(there->rails[1].usable);
  CHECK(there->rails[2].round_trip == 20us);
  CHECK_FALSE(there->rails[2].usable);
  CHECK(there->rails[2].reason == "optics on order");
  const auto back = candidates_between(topology, "b", "a");
  CHECK_FALSE(back->rails[1].usable);
  CHECK(back->rails[1].reason == "not usable, as the topology says");
}

TEST_CASE("NICs without a rail are named with the reason") {
  Topology topology = two_nodes();
  topology.nodes[0].nics[1].up = false;
  const auto candidates = candidates_between(topology, "a", "b");
  CHECK(candidates->rails.size() == 2);
  CHECK(candidates->unused ==
        std::vector<std::string>{"a eth0: link down",
                                 "b eth0: no tcp NIC left at a to pair it with"});
}

TEST_CASE("an unknown node is refused with the known ones") {
  for (const auto& [local, remote] : {std::pair{"a", "z"}, std::pair{"z", "b"}}) {
    const auto candidates = candidates_between(two_nodes(), local, remote);
    REQUIRE(candidates.code() == Code::kNotFound);
    CHECK(candidates.status().to_string() ==
          "not found: node z: topology t.yaml has no such node (it has: a, b); check the name");
  }
  CHECK(candidates_between({}, "a", "b").code() == Code::kNotFound);
}

TEST_CASE("nodes of one host are known as such") {
  CHECK(on_one_host({.name = "a", .host = "h"}, {.name = "b", .host = "h"}));
  CHECK_FALSE(on_one_host({.name = "a", .host = "h"}, {.name = "b", .host = "i"}));
  CHECK_FALSE(on_one_host({.name = "a"}, {.name = "b"}));
  CHECK(on_one_host({.name = "a"}, {.name = "a"}));
}

}  // namespace
}  // namespace spindrift::planner
