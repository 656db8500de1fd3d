#include "planner/render.h"

#include <catch2/catch.hpp>

#include "fixtures.h"
#include "planner/candidates.h"
#include "planner/text_table.h"

namespace spindrift::planner {
namespace {

TEST_CASE("columns line up") {
  CHECK(format_table({{"a", "bb", "c"}, {"aaa", "b"}, {"", "bbb", "cc"}}, {false, true}) ==
        "  a     bb  c\n"
        "  aaa    b\n"
        "       bbb  cc\n");
  CHECK(format_table({}).empty());
}

// The example of docs/PLANNING.md: docs/examples/{eth-4x100g,policy,intent}.yaml.
Node example_node(const std::string& name, const std::string& host) {
  Node node{.name = name};
  const char* const pci[] = {"0000:17:00.0", "0000:17:00.1", "0000:ca:00.0", "0000:ca:00.1"};
  for (int i = 0; i < 4; ++i) {
    const std::string number = std::to_string(i);
    node.nics.push_back(nic("eth" + number, {"10.0." + number + "." + host + "/24"}));
    node.nics.back().numa = i / 2;
    node.nics.back().pci = pci[i];
  }
  return node;
}

struct Example {
  Topology topology{.name = "eth-4x100g"};
  policies::PolicySet policy{.name = "serving"};
  PlanRequest request{.klass = "kv", .bytes = 2 * kGiB, .descriptors = 512, .peer = "decode-0"};
  RenderNotes notes{.policy = "docs/examples/policy.yaml",
                    .topology = "docs/examples/eth-4x100g.yaml",
                    .local = "prefill-0"};

  Example() {
    topology.nodes = {example_node("prefill-0", "1"), example_node("decode-0", "2")};
    for (const char* device : {"eth0", "eth1", "eth2", "eth3"}) {
      topology.links.push_back(
          {"prefill-0", device, "decode-0", device, std::chrono::microseconds(20)});
    }
    const std::string file = "docs/examples/policy.yaml";
    policy.rules = {{.name = "kv-blocks",
                     .match = {.classes = {"kv", "kv-*"}, .size_max = 4 * kMiB},
                     .directives = {.prefer = {{.transport = Transport::kRdma}},
                                    .forbid = {{.local_device = "mgmt*"}},
                                    .slice_min = 256 * kKiB,
                                    .slice_max = 4 * kMiB},
                     .place = {file, 7, 11}},
                    {.name = "checkpoints",
                     .match = {.operation = Operation::kWrite,
                               .classes = {"checkpoint", "weights"},
                               .size_min = 64 * kMiB},
                     .directives = {.slice_min = kMiB, .integrity = Integrity::kCrc32c},
                     .place = {file, 19, 11}},
                    {.name = "archive",
                     .match = {.peers = {"archive-*"}},
                     .directives = {.spray = policies::Spray::kWeighted},
                     .place = {file, 29, 11}},
                    {.name = "everything-else", .place = {file, 37, 11}}};
  }
  Explanation run() {
    const Candidates candidates = *candidates_between(topology, notes.local, request.peer);
    notes.unused = candidates.unused;
    return explain(policy, request, candidates.rails);
  }
};

TEST_CASE("the page of the example") {
  Example example;
  const Explanation what = example.run();
  CHECK(
      to_text(what, example.request, example.notes) ==
      R"(prefill-0: write of 2 GiB to peer decode-0, class kv, from host to host memory, 512 ranges, between hosts
Topology docs/examples/eth-4x100g.yaml

Rules of docs/examples/policy.yaml, the first that matches directs
      kv-blocks        size 2 GiB is above 4 MiB
      checkpoints      class kv is not "checkpoint" or "weights"
      archive          peer decode-0 is not "archive-*"
  ->  everything-else  matches (docs/examples/policy.yaml:37:11)

Plan of rule everything-else: least_completion, slices of 64 KiB to 16 MiB, up to 8 attempts a slice, late ones hedged at the end, no checksum of our own

Tiers: all rails of one tier together, the next only when none of it works
  tier  rail                 rate               share             time  why here
  1     tcp:eth0>eth0  100 Gbit/s  line rate  512 MiB  25.0 %  42.9 ms  tcp
  1     tcp:eth1>eth1  100 Gbit/s  line rate  512 MiB  25.0 %  42.9 ms  tcp, on one PCI device with tcp:eth0>eth0
  1     tcp:eth2>eth2  100 Gbit/s  line rate  512 MiB  25.0 %  42.9 ms  tcp
  1     tcp:eth3>eth3  100 Gbit/s  line rate  512 MiB  25.0 %  42.9 ms  tcp, on one PCI device with tcp:eth2>eth2

Predicted: 2 GiB in 42.9 ms, 400 Gbit/s together
)");
}

TEST_CASE("the page of round robin over unequal rails says what it costs") {
  Example example;
  example.policy = one_rule({.spray = policies::Spray::kRoundRobin});
  example.topology.nodes[0].nics[3].line_rate = Rate{k100Gbit.bytes_per_s / 4};
  const Explanation what = example.run();
  CHECK(to_text(what, example.request)
            .find("\nPredicted: 2 GiB in 171 ms, 100 Gbit/s together of the 325 Gbit/s that these "
                  "rails add up to:\n  round_robin goes at the pace of the rail that is slowest "
                  "for its share\n") != std::string::npos);
}

TEST_CASE("the page of a refusal says what is there instead") {
  Example example;
  example.policy = one_rule({.require = {{.transport = Transport::kRdma}}});
  example.topology.nodes[0].nics[3].up = false;
  const Explanation what = example.run();
  CHECK(
      to_text(what, example.request, example.notes) ==
      R"(prefill-0: write of 2 GiB to peer decode-0, class kv, from host to host memory, 512 ranges, between hosts
Topology docs/examples/eth-4x100g.yaml

Not possible: p.yaml:3:5: error: write of 2 GiB to peer decode-0: rule bulk requires transport rdma, and no such rail can carry it: there is: tcp:eth0>eth0 not what rule bulk (p.yaml:3:5) requires: transport rdma; tcp:eth1>eth1 not what rule bulk (p.yaml:3:5) requires: transport rdma; tcp:eth2>eth2 not what rule bulk (p.yaml:3:5) requires: transport rdma [peer decode-0]; provide such a rail or relax `require` of the rule; what a rule requires is never replaced silently

Rules of docs/examples/policy.yaml, the first that matches directs
  ->  bulk  matches (p.yaml:3:5)

Excluded rails
  tcp:eth0>eth0  not what rule bulk (p.yaml:3:5) requires: transport rdma
  tcp:eth1>eth1  not what rule bulk (p.yaml:3:5) requires: transport rdma
  tcp:eth2>eth2  not what rule bulk (p.yaml:3:5) requires: transport rdma

NICs without a rail
  prefill-0 eth3: link down
  decode-0 eth3: no tcp NIC left at prefill-0 to pair it with
)");
}

TEST_CASE("a page with unknown rates, nothing to move, or nothing usable says so") {
  std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0", Rate{0})};
  const auto page = [&](std::uint64_t bytes) {
    return to_text(explain({}, write_of(bytes), rails), write_of(bytes));
  };
  CHECK(page(1).find("Predicted: unknown, because the rate of a rail in use is\n") !=
        std::string::npos);
  CHECK(page(0).find("Predicted: nothing to move, complete at once\n") != std::string::npos);
  rails[0].usable = false;
  rails[0].reason = "link down";
  const std::string text = page(1);
  CHECK(text.find("Not possible: peer unreachable: ") != std::string::npos);
  CHECK(text.find("tcp, not usable now: link down") != std::string::npos);
  CHECK(text.find("Predicted") == std::string::npos);
}

TEST_CASE("the JSON of the example") {
  Example example;
  const Explanation what = example.run();
  CHECK(to_json(what, example.request, example.notes) == R"json({
  "policy": "docs/examples/policy.yaml",
  "topology": "docs/examples/eth-4x100g.yaml",
  "request": {
    "operation": "write",
    "local": "prefill-0",
    "peer": "decode-0",
    "class": "kv",
    "bytes": 2147483648,
    "descriptors": 512,
    "source": "host",
    "destination": "host",
    "same_host": false
  },
  "status": {
    "ok": true,
    "code": "ok",
    "what": null,
    "why": null,
    "hint": null,
    "where": null
  },
  "rules": [
    {
      "rule": "kv-blocks",
      "matched": false,
      "why": "size 2 GiB is above 4 MiB"
    },
    {
      "rule": "checkpoints",
      "matched": false,
      "why": "class kv is not \"checkpoint\" or \"weights\""
    },
    {
      "rule": "archive",
      "matched": false,
      "why": "peer decode-0 is not \"archive-*\""
    },
    {
      "rule": "everything-else",
      "matched": true,
      "why": "matches (docs/examples/policy.yaml:37:11)"
    }
  ],
  "plan": {
    "rule": "everything-else",
    "spray": "least_completion",
    "slice_min_bytes": 65536,
    "slice_max_bytes": 16777216,
    "attempts_max": 8,
    "hedge": true,
    "checksum": false,
    "tiers": [
      [
        "tcp:eth0>eth0",
        "tcp:eth1>eth1",
        "tcp:eth2>eth2",
        "tcp:eth3>eth3"
      ]
    ]
  },
  "rails": [
    {
      "rail": "tcp:eth0>eth0",
      "tier": 1,
      "usable": true,
      "why": "tcp",
      "rate_bytes_per_s": 12500000000,
      "rate_measured": false,
      "predicted_bytes": 536870912,
      "predicted_ns": 42969672
    },
    {
      "rail": "tcp:eth1>eth1",
      "tier": 1,
      "usable": true,
      "why": "tcp, on one PCI device with tcp:eth0>eth0",
      "rate_bytes_per_s": 12500000000,
      "rate_measured": false,
      "predicted_bytes": 536870912,
      "predicted_ns": 42969672
    },
    {
      "rail": "tcp:eth2>eth2",
      "tier": 1,
      "usable": true,
      "why": "tcp",
      "rate_bytes_per_s": 12500000000,
      "rate_measured": false,
      "predicted_bytes": 536870912,
      "predicted_ns": 42969672
    },
    {
      "rail": "tcp:eth3>eth3",
      "tier": 1,
      "usable": true,
      "why": "tcp, on one PCI device with tcp:eth2>eth2",
      "rate_bytes_per_s": 12500000000,
      "rate_measured": false,
      "predicted_bytes": 536870912,
      "predicted_ns": 42969672
    }
  ],
  "predicted_rate_bytes_per_s": 50000000000,
  "predicted_ns": 42969672,
  "unused_nics": []
})json");
}

TEST_CASE("JSON says null for what is unknown or not there, and takes any bytes") {
  PlanRequest request = write_of(1);
  request.klass = "";
  request.peer = "bad\xff\"name";
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0", Rate{0})};
  const std::string json = to_json(
      explain(one_rule({.require = {{.transport = Transport::kRdma}}}), request, rails), request);
  for (const char* part :
       {"\"plan\": null", "\"predicted_ns\": null", "\"tier\": null", "\"rate_bytes_per_s\": null",
        "\"class\": \"default\"", "\"code\": \"policy unsatisfied\"", "\"ok\": false",
        "\"peer\": \"bad\uFFFD\\\"name\""}) {
    CAPTURE(part, json);
    CHECK(json.find(part) != std::string::npos);
  }
}

}  // namespace
}  // namespace spindrift::planner
