#include <catch2/catch.hpp>
#include <numeric>

#include "fixtures.h"
#include "planner/planner.h"

namespace spindrift::planner {
namespace {

using namespace std::chrono_literals;
using policies::Spray;

TEST_CASE("explain tells about every rule") {
  const policies::PolicySet policy{.name = "p.yaml",
                                   .rules = {{.name = "small", .match = {.size_max = 1024}},
                                             {.name = "bulk", .place = {"p.yaml", 9, 5}},
                                             {.name = "rest"}}};
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  const Explanation what = explain(policy, write_of(kMiB), rails);
  REQUIRE(what.rules.size() == 3);
  CHECK(what.rules[0].why == "size 1 MiB is above 1 KiB");
  CHECK_FALSE(what.rules[0].matched);
  CHECK(what.rules[1].why == "matches (p.yaml:9:5)");
  CHECK(what.rules[1].matched);
  CHECK(what.rules[2].why == "not looked at: rule bulk matched first");
  CHECK(what.plan.rule == "bulk");
}

TEST_CASE("where no rule matches, the default rule is named as what it is") {
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  const policies::PolicySet policy{
      .name = "p.yaml", .rules = {{.name = "reads", .match = {.operation = Operation::kRead}}}};
  const Explanation what = explain(policy, write_of(1), rails);
  REQUIRE(what.rules.size() == 2);
  CHECK(what.rules[1].rule == "unmatched");
  CHECK(what.rules[1].matched);
  CHECK(what.rules[1].why == "the defaults, because no rule of p.yaml matches");
}

TEST_CASE("explain tells about every rail, and measured rates go before line rates") {
  std::vector<RailCandidate> rails{
      rail(Transport::kTcp, "eth0", kGbit), rail(Transport::kTcp, "eth1", kGbit),
      rail(Transport::kTcp, "mgmt0", kGbit), rail(Transport::kNvlink, "0"),
      rail(Transport::kTcp, "eth2", kGbit)};
  rails[1].measured_rate = Rate{kGbit.bytes_per_s / 2};
  rails[4].usable = false;
  rails[4].reason = "link down";
  const auto policy =
      one_rule({.prefer = {{.local_device = "eth1"}}, .forbid = {{.local_device = "mgmt*"}}});
  const Explanation what = explain(policy, write_of(kMiB), rails);
  REQUIRE(what.status.ok());
  REQUIRE(what.rails.size() == 5);
  CHECK(what.rails[0].rail == "tcp:eth0>eth0");
  CHECK(what.rails[0].tier == 1);
  CHECK(what.rails[0].why == "tcp");
  CHECK(what.rails[0].predicted_rate == kGbit);
  CHECK_FALSE(what.rails[0].measured);
  CHECK(what.rails[0].predicted_bytes == 0);
  CHECK(what.rails[1].tier == 0);
  CHECK(what.rails[1].why == "preferred: local device \"eth1\"");
  CHECK(what.rails[1].predicted_rate == Rate{kGbit.bytes_per_s / 2});
  CHECK(what.rails[1].measured);
  CHECK(what.rails[1].predicted_bytes == kMiB);
  CHECK(what.rails[2].tier == -1);
  CHECK(what.rails[2].why == "forbidden by rule bulk (p.yaml:3:5): local device \"mgmt*\"");
  CHECK(what.rails[3].tier == -1);
  CHECK(what.rails[3].why == "cannot read host memory");
  CHECK(what.rails[4].tier == 1);
  CHECK(what.rails[4].why == "tcp, not usable now: link down");
  CHECK_FALSE(what.rails[4].usable);
  CHECK(what.predicted_rate == Rate{kGbit.bytes_per_s / 2});
}

TEST_CASE("the first tier with a usable rail is predicted, by its usable rails") {
  std::vector<RailCandidate> rails{rail(Transport::kRdma, "mlx5_0"), rail(Transport::kTcp, "eth0"),
                                   rail(Transport::kTcp, "eth1"), rail(Transport::kTcp, "eth2")};
  rails[0].usable = rails[2].usable = false;
  const Explanation what = explain({}, write_of(2 * kMiB), rails);
  CHECK(what.status.ok());
  CHECK(what.rails[0].predicted_bytes == 0);
  CHECK(what.rails[1].predicted_bytes == kMiB);
  CHECK(what.rails[2].predicted_bytes == 0);
  CHECK(what.rails[3].predicted_bytes == kMiB);
  CHECK(what.predicted_rate == Rate{2 * k100Gbit.bytes_per_s});
}

TEST_CASE("round robin over unequal rails shows why it is bad") {
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0", Rate{1'000'000'000}),
                                         rail(Transport::kTcp, "eth1", Rate{1'000'000'000}),
                                         rail(Transport::kTcp, "eth2", Rate{500'000'000}),
                                         rail(Transport::kTcp, "eth3", Rate{250'000'000})};
  const std::uint64_t bytes = 64 * kMiB;
  const Explanation good = explain(one_rule({}), write_of(bytes), rails);
  const Explanation bad = explain(one_rule({.spray = Spray::kRoundRobin}), write_of(bytes), rails);
  CHECK(good.predicted_rate == Rate{2'750'000'000});
  CHECK(bad.predicted_rate == Rate{1'000'000'000});
  CHECK(bad.rails[3].predicted_bytes == bytes / 4);
  CHECK(bad.predicted_time == bad.rails[3].predicted_time);
  CHECK(bad.predicted_time > 2 * good.predicted_time);
}

TEST_CASE("weights of the plan are those of the prediction") {
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0"),
                                         rail(Transport::kTcp, "eth1")};
  const Explanation what =
      explain(one_rule({.spray = Spray::kWeighted, .weights = {{{.local_device = "eth1"}, 3}}}),
              write_of(4 * kMiB), rails);
  CHECK(what.rails[0].predicted_bytes == kMiB);
  CHECK(what.rails[1].predicted_bytes == 3 * kMiB);
}

TEST_CASE("rails of one PCI device are noted, because their rates need not add up") {
  std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0"), rail(Transport::kTcp, "eth1"),
                                   rail(Transport::kTcp, "eth2"), rail(Transport::kTcp, "eth3")};
  rails[0].facts.pci = "0000:3b:00.0";
  rails[1].facts.pci = "0000:5e:00.0";
  rails[2].facts.pci = "0000:3b:00.1";
  const Explanation what = explain({}, write_of(1), rails);
  CHECK(what.rails[0].why == "tcp");
  CHECK(what.rails[1].why == "tcp");
  CHECK(what.rails[2].why == "tcp, on one PCI device with tcp:eth0>eth0");
  CHECK(what.rails[3].why == "tcp");
}

TEST_CASE("NUMA nodes are named where they decide") {
  std::vector<RailCandidate> rails{rail(Transport::kRdma, "mlx5_0"),
                                   rail(Transport::kRdma, "mlx5_1"),
                                   rail(Transport::kRdma, "mlx5_2")};
  rails[0].facts.local_numa = 0;
  rails[1].facts.local_numa = 1;
  PlanRequest request = write_of(1);
  request.source_numa = 0;
  const Explanation what = explain({}, request, rails);
  CHECK(what.rails[0].why == "rdma on the memory's NUMA node");
  CHECK(what.rails[1].why == "rdma across NUMA nodes (local NIC on node 1, memory on node 0)");
  CHECK(what.rails[2].why == "rdma, NUMA nodes unknown");
}

TEST_CASE("when no rail of the plan is usable, the status says so and the plan stands") {
  std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0"), rail(Transport::kTcp, "eth1")};
  rails[0].usable = rails[1].usable = false;
  rails[0].reason = "link down";
  rails[1].reason = "no route";
  const Explanation what = explain({}, write_of(kMiB), rails);
  CHECK(what.status.code() == Code::kPeerUnreachable);
  CHECK(what.status.detail().why == "tcp:eth0>eth0: link down; tcp:eth1>eth1: no route");
  CHECK(what.plan.tiers == std::vector<std::vector<RailOrdinal>>{{0, 1}});
  CHECK(what.predicted_rate == Rate{0});
}

TEST_CASE("an explanation of a refusal has the verdicts, but no plan") {
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  const Explanation what =
      explain(one_rule({.require = {{.transport = Transport::kRdma}}}), write_of(1), rails);
  CHECK(what.status.code() == Code::kPolicyUnsatisfied);
  CHECK(what.plan.tiers.empty());
  REQUIRE(what.rails.size() == 1);
  CHECK(what.rails[0].why == "not what rule bulk (p.yaml:3:5) requires: transport rdma");
  CHECK(what.rules[0].matched);
}

TEST_CASE("explain and make_plan agree, and the shares add up") {
  Prng prng(23);
  int predicted = 0;
  for (int i = 0; i < 20'000; ++i) {
    const policies::PolicySet policy = random_policy(prng);
    const PlanRequest request = random_request(prng);
    const std::vector<RailCandidate> rails = random_rails(prng);
    const Explanation what = explain(policy, request, rails);
    const auto plan = make_plan(policy, request, rails);
    CAPTURE(i);
    REQUIRE(what.rails.size() == rails.size());
    if (!plan) {
      REQUIRE(what.status.code() == plan.code());
      REQUIRE(what.status.to_string() == plan.status().to_string());
      continue;
    }
    REQUIRE(what.plan.tiers == plan->tiers);
    REQUIRE(what.plan.weights == plan->weights);
    REQUIRE(what.plan.rule == plan->rule);
    int matched = 0;
    for (const RuleVerdict& rule : what.rules) {
      matched += rule.matched ? 1 : 0;
      REQUIRE_FALSE(rule.why.empty());
    }
    REQUIRE(matched == 1);
    std::uint64_t sum = 0;
    for (const RailVerdict& verdict : what.rails) {
      REQUIRE_FALSE(verdict.why.empty());
      sum += verdict.predicted_bytes;
      if (verdict.predicted_bytes > 0) REQUIRE((verdict.usable && verdict.tier >= 0));
    }
    if (what.status.ok()) {
      REQUIRE(sum == request.bytes);
      ++predicted;
    } else {
      REQUIRE(what.status.code() == Code::kPeerUnreachable);
      REQUIRE(sum == 0);
    }
  }
  CHECK(predicted > 2000);
}

}  // namespace
}  // namespace spindrift::planner
