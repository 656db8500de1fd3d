#include "planner/planner.h"

#include <catch2/catch.hpp>
#include <set>

#include "fixtures.h"
#include "policies/matching.h"

namespace spindrift::planner {
namespace {

using policies::Directives;
using policies::Spray;
using Tiers = std::vector<std::vector<RailOrdinal>>;

// 0 tcp, 1 rdma on node 0, 2 shm, 3 tcp, 4 rdma on node 1, 5 sim, 6 nvlink, 7 rdma anywhere
std::vector<RailCandidate> all_kinds() {
  std::vector<RailCandidate> rails{
      rail(Transport::kTcp, "eth0"),    rail(Transport::kRdma, "mlx5_0"),
      rail(Transport::kShm, "shm"),     rail(Transport::kTcp, "eth1"),
      rail(Transport::kRdma, "mlx5_1"), rail(Transport::kSim, "sim0"),
      rail(Transport::kNvlink, "0"),    rail(Transport::kRdma, "mlx5_2")};
  rails[1].facts.local_numa = 0;
  rails[4].facts.local_numa = 1;
  for (RailCandidate& candidate : rails) candidate.capabilities.host_memory = true;
  return rails;
}

TEST_CASE("the default tiers: NVLink, shm, near RDMA, far RDMA, then all of TCP") {
  const auto rails = all_kinds();
  PlanRequest request = write_of(kMiB);
  request.source_numa = 0;
  CHECK(make_plan({}, request, rails)->tiers == Tiers{{6}, {2}, {1, 7}, {4}, {0, 3, 5}});
  request.source_numa = 1;
  CHECK(make_plan({}, request, rails)->tiers == Tiers{{6}, {2}, {4, 7}, {1}, {0, 3, 5}});
}

TEST_CASE("where the memory is unknown, no RDMA rail is far") {
  CHECK(make_plan({}, write_of(1), all_kinds())->tiers == Tiers{{6}, {2}, {1, 4, 7}, {0, 3, 5}});
}

TEST_CASE("the local end of a read is its destination, and both ends count") {
  std::vector<RailCandidate> rails{rail(Transport::kRdma, "a"), rail(Transport::kRdma, "b")};
  rails[0].facts.local_numa = 0;
  rails[0].facts.remote_numa = 1;
  rails[1].facts.local_numa = 0;
  rails[1].facts.remote_numa = 0;
  PlanRequest request = write_of(1);
  request.operation = Operation::kRead;
  request.destination_numa = 0;
  request.source_numa = 1;
  CHECK(make_plan({}, request, rails)->tiers == Tiers{{0}, {1}});
  request.operation = Operation::kWrite;                         // now the local end is on node 1
  CHECK(make_plan({}, request, rails)->tiers == Tiers{{0, 1}});  // both far
}

TEST_CASE("each prefer entry is a tier of its own, the rest follows by default") {
  const auto rails = all_kinds();
  const Directives directives{.prefer = {{.rail = "tcp:eth1>*"},
                                         {.local_device = "none"},
                                         {.transport = Transport::kTcp},
                                         {.local_device = "mlx5_[01]"}}};
  CHECK(make_plan(one_rule(directives), write_of(1), rails)->tiers ==
        Tiers{{3}, {0}, {1, 4}, {6}, {2}, {7}, {5}});
}

TEST_CASE("require keeps what any entry selects, forbid removes") {
  const auto rails = all_kinds();
  CHECK(make_plan(one_rule({.require = {{.transport = Transport::kRdma},
                                        {.transport = Transport::kShm}}}),
                  write_of(1), rails)
            ->tiers == Tiers{{2}, {1, 4, 7}});
  CHECK(make_plan(one_rule({.forbid = {{.transport = Transport::kTcp}, {.local_device = "mlx*"}}}),
                  write_of(1), rails)
            ->tiers == Tiers{{6}, {2}, {5}});
  CHECK(make_plan(one_rule({.require = {{.transport = Transport::kRdma}},
                            .forbid = {{.local_device = "mlx5_0"}}}),
                  write_of(1), rails)
            ->tiers == Tiers{{4, 7}});
}

TEST_CASE("a required transport that is absent is an error, never a fallback") {
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0"),
                                         rail(Transport::kTcp, "eth1")};
  const auto plan =
      make_plan(one_rule({.require = {{.transport = Transport::kRdma}}}), write_of(kMiB), rails);
  REQUIRE(plan.code() == Code::kPolicyUnsatisfied);
  const Status status = plan.status();
  const Status::Detail& detail = status.detail();
  CHECK(detail.what ==
        "write of 1 MiB to peer decode-0: rule bulk requires transport rdma, and no such rail can "
        "carry it");
  CHECK(detail.why ==
        "there is: tcp:eth0>eth0 not what rule bulk (p.yaml:3:5) requires: transport rdma; "
        "tcp:eth1>eth1 not what rule bulk (p.yaml:3:5) requires: transport rdma");
  CHECK(detail.where == "p.yaml:3:5");
  CHECK(detail.peer == "decode-0");
  CHECK(detail.hint ==
        "provide such a rail or relax `require` of the rule; what a rule requires is never "
        "replaced silently");
}

TEST_CASE("a required rail that cannot reach the memory does not count as there") {
  std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0"), rail(Transport::kNvlink, "0")};
  const auto plan =
      make_plan(one_rule({.require = {{.transport = Transport::kNvlink}}}), write_of(1), rails);
  REQUIRE(plan.code() == Code::kPolicyUnsatisfied);
  CHECK(plan.status().detail().why.find("nvlink:0>0 cannot read host memory") != std::string::npos);
}

TEST_CASE("forbidding every rail is an error of its own") {
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  const auto plan = make_plan(one_rule({.forbid = {{}}}), write_of(1), rails);
  REQUIRE(plan.code() == Code::kPolicyUnsatisfied);
  CHECK(plan.status().detail().what ==
        "write of 1 byte to peer decode-0: rule bulk forbids every rail that could carry it");
}

TEST_CASE("no rail can carry this memory or operation") {
  std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0"), rail(Transport::kTcp, "eth1")};
  struct Row {
    Location source;
    Location destination;
    Operation operation;
    const char* what;
  };
  const Location host{};
  const Location gpu{MemoryKind::kCuda, 0};
  const Location file{MemoryKind::kFile, 0};
  const Row rows[] = {
      {gpu, host, Operation::kWrite,
       "write of 1 byte to peer decode-0: no rail can read cuda:0 memory"},
      {host,
       {MemoryKind::kCuda, 3},
       Operation::kWrite,
       "write of 1 byte to peer decode-0: no rail can write cuda:3 memory"},
      {host, file, Operation::kWrite,
       "write of 1 byte to peer decode-0: no rail can write file memory"},
      {host, host, Operation::kRead, "read of 1 byte from peer decode-0: no rail can read"},
  };
  for (RailCandidate& candidate : rails) candidate.capabilities.read = false;
  for (const Row& row : rows) {
    PlanRequest request = write_of(1);
    request.source = row.source;
    request.destination = row.destination;
    request.operation = row.operation;
    const auto plan = make_plan({}, request, rails);
    CHECK(plan.code() == Code::kUnsupported);
    CHECK(plan.status().detail().what == row.what);
  }
  // Different lacks at different rails.
  rails[0].capabilities = {.host_memory = false, .cuda_memory = true};
  PlanRequest request = write_of(1);
  request.source = gpu;
  const auto plan = make_plan({}, request, rails);
  CHECK(plan.code() == Code::kUnsupported);
  CHECK(plan.status().detail().what ==
        "write of 1 byte to peer decode-0: no rail can carry cuda:0 to host memory");
  CHECK(
      plan.status().detail().why ==
      "there is: tcp:eth0>eth0 cannot write host memory; tcp:eth1>eth1 cannot read cuda:0 memory");
}

TEST_CASE("only rails that reach both memories are in the plan") {
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0"),
                                         rail(Transport::kRdma, "mlx5_0")};
  PlanRequest request = write_of(1);
  request.source = {MemoryKind::kCuda, 0};
  CHECK(make_plan({}, request, rails)->tiers == Tiers{{1}});
}

TEST_CASE("a file rail needs a file at one end") {
  const std::vector<RailCandidate> rails{rail(Transport::kFile, "nvme0")};
  CHECK(make_plan({}, write_of(1), rails).code() == Code::kUnsupported);
  PlanRequest request = write_of(1);
  request.destination.kind = MemoryKind::kFile;
  CHECK(make_plan({}, request, rails)->tiers == Tiers{{0}});
}

TEST_CASE("no rail at all is an unreachable peer; too many are refused") {
  CHECK(make_plan({}, write_of(1), {}).code() == Code::kPeerUnreachable);
  CHECK(
      make_plan(one_rule({.require = {{.transport = Transport::kRdma}}}), write_of(1), {}).code() ==
      Code::kPeerUnreachable);
  const std::vector<RailCandidate> most(kRailsPerPeerMax, rail(Transport::kTcp, "eth0"));
  CHECK(make_plan({}, write_of(1), most)->tiers.front().size() == kRailsPerPeerMax);
  const std::vector<RailCandidate> more(kRailsPerPeerMax + 1, rail(Transport::kTcp, "eth0"));
  CHECK(make_plan({}, write_of(1), more).code() == Code::kInvalidArgument);
}

TEST_CASE("rails that are unusable now stay in the plan") {
  std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0"), rail(Transport::kRdma, "mlx5_0")};
  for (RailCandidate& candidate : rails) candidate.usable = false;
  CHECK(make_plan({}, write_of(1), rails)->tiers == Tiers{{1}, {0}});
}

TEST_CASE("a plan carries the directives of its rule") {
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  const Plan plan = *make_plan(one_rule({.slice_min = 5,
                                         .slice_max = 9,
                                         .spray = Spray::kRoundRobin,
                                         .attempts_max = 3,
                                         .integrity = Integrity::kCrc32c}),
                               write_of(1), rails);
  CHECK(plan.rule == "bulk");
  CHECK(plan.slice_min == 5);
  CHECK(plan.slice_max == 9);
  CHECK(plan.spray == Spray::kRoundRobin);
  CHECK(plan.attempts_max == 3);
  CHECK(plan.checksum);
  CHECK(plan.weights.empty());
  CHECK(make_plan({}, write_of(1), rails)->rule == "unmatched");
}

TEST_CASE("the intent's own integrity goes before the rule's") {
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  PlanRequest request = write_of(1);
  request.integrity = Integrity::kCrc32c;
  CHECK(make_plan(one_rule({}), request, rails)->checksum);
  request.integrity = Integrity::kNone;
  CHECK_FALSE(make_plan(one_rule({.integrity = Integrity::kCrc32c}), request, rails)->checksum);
}

TEST_CASE("nonsense in a hand-made rule becomes the nearest sound bounds") {
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  const Plan plan =
      *make_plan(one_rule({.slice_min = 0, .slice_max = 0, .attempts_max = 0}), write_of(1), rails);
  CHECK(plan.slice_min == 1);
  CHECK(plan.slice_max == 1);
  CHECK(plan.attempts_max == 1);
}

TEST_CASE("weights are by ordinal: first entry that selects, 1 for the rest, 0 outside the plan") {
  std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0"), rail(Transport::kTcp, "eth1"),
                                   rail(Transport::kTcp, "eth2"), rail(Transport::kTcp, "mgmt0")};
  Directives directives{
      .forbid = {{.local_device = "mgmt*"}},
      .spray = Spray::kWeighted,
      .weights = {{{.local_device = "eth1"}, 7}, {{.local_device = "eth[12]"}, 3}}};
  CHECK(make_plan(one_rule(directives), write_of(1), rails)->weights ==
        std::vector<std::uint32_t>{1, 7, 3, 0});
  directives.weights = {{{}, 0}};
  CHECK(make_plan(one_rule(directives), write_of(1), rails)->weights ==
        std::vector<std::uint32_t>{1, 1, 1, 0});
}

// --- properties over random policies, requests and rails ---------------------------

bool selected_by_any(const std::vector<policies::RailSelector>& selectors, const RailFacts& facts) {
  for (const policies::RailSelector& selector : selectors) {
    if (policies::selects(selector, facts)) return true;
  }
  return false;
}

TEST_CASE("every plan is sound") {
  Prng prng(3);
  int plans = 0;
  for (int i = 0; i < 20'000; ++i) {
    const policies::PolicySet policy = random_policy(prng);
    const PlanRequest request = random_request(prng);
    const std::vector<RailCandidate> rails = random_rails(prng);
    const auto plan = make_plan(policy, request, rails);
    if (!plan) {
      const Code code = plan.code();
      REQUIRE((code == Code::kPolicyUnsatisfied || code == Code::kUnsupported ||
               (code == Code::kPeerUnreachable && rails.empty())));
      REQUIRE_FALSE(plan.status().detail().why.empty());
      REQUIRE_FALSE(plan.status().detail().hint.empty());
      continue;
    }
    ++plans;
    const policies::Rule* rule = nullptr;
    for (const policies::Rule& each : policy.rules) {
      if (each.name == plan->rule) rule = &each;
    }
    REQUIRE_FALSE(plan->tiers.empty());
    std::set<RailOrdinal> seen;
    for (const auto& tier : plan->tiers) {
      REQUIRE_FALSE(tier.empty());
      for (const RailOrdinal ordinal : tier) {
        REQUIRE(ordinal < rails.size());
        REQUIRE(seen.insert(ordinal).second);
        if (rule == nullptr) continue;
        REQUIRE_FALSE(selected_by_any(rule->directives.forbid, rails[ordinal].facts));
        REQUIRE((rule->directives.require.empty() ||
                 selected_by_any(rule->directives.require, rails[ordinal].facts)));
      }
    }
    if (plan->spray == Spray::kWeighted) REQUIRE(plan->weights.size() == rails.size());
  }
  CHECK(plans > 2000);
}

}  // namespace
}  // namespace spindrift::planner
