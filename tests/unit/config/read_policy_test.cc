#include "config/read_policy.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "config/load.h"
#include "expect.h"
#include "policies/default_rule.h"
#include "policies/matching.h"

namespace spindrift::config {
namespace {

const std::string kHead = "schema: spindrift/policy/1\n";

Loaded<policies::PolicySet> load(const std::string& body) {
  return load_policy_text(kHead + body, "f");
}

TEST_CASE("every key of a rule reaches its place") {
  const auto loaded = load(R"(name: mine
rules:
  - name: first
    match:
      operation: read
      class: [kv, "kv-*"]
      size_min: 1KiB
      size_max: 1MiB
      source: cuda
      destination: file
      same_host: false
      peer: decode-*
    rails:
      prefer: [{ transport: rdma }, { local_device: "mlx5_*" }]
      require: [{ remote_device: eth0 }]
      forbid: [{ rail: "tcp:eth0>eth0" }]
    slice: { min: 8KiB, max: 8MiB }
    spray: weighted
    weights:
      - { local_device: eth1, weight: 3 }
    attempts_max: 5
    integrity: crc32c
  - name: second
)");
  expect_problems(loaded.problems, {});
  CHECK(loaded.value.name == "mine");
  REQUIRE(loaded.value.rules.size() == 2);
  const policies::Rule& rule = loaded.value.rules[0];
  CHECK(rule.name == "first");
  CHECK(to_string(rule.place) == "f:4:11");
  CHECK(rule.match.operation == Operation::kRead);
  CHECK(rule.match.classes == std::vector<std::string>{"kv", "kv-*"});
  CHECK(rule.match.size_min == kKiB);
  CHECK(rule.match.size_max == kMiB);
  CHECK(rule.match.source == MemoryKind::kCuda);
  CHECK(rule.match.destination == MemoryKind::kFile);
  CHECK(rule.match.same_host == false);
  CHECK(rule.match.peers == std::vector<std::string>{"decode-*"});
  const policies::Directives& d = rule.directives;
  REQUIRE(d.prefer.size() == 2);
  CHECK(d.prefer[0].transport == Transport::kRdma);
  CHECK(d.prefer[1].local_device == "mlx5_*");
  REQUIRE(d.require.size() == 1);
  CHECK(d.require[0].remote_device == "eth0");
  REQUIRE(d.forbid.size() == 1);
  CHECK(d.forbid[0].rail == "tcp:eth0>eth0");
  CHECK(d.slice_min == 8 * kKiB);
  CHECK(d.slice_max == 8 * kMiB);
  CHECK(d.spray == policies::Spray::kWeighted);
  REQUIRE(d.weights.size() == 1);
  CHECK(d.weights[0].rails.local_device == "eth1");
  CHECK(d.weights[0].weight == 3);
  CHECK(d.attempts_max == 5);
  CHECK(d.integrity == Integrity::kCrc32c);
  CHECK(loaded.value.rules[1].match.size_max == std::numeric_limits<std::uint64_t>::max());
}

struct Case {
  const char* body;
  std::vector<std::string> expected;
};

TEST_CASE("what is wrong in a rule is an error") {
  const Case cases[] = {
      {"", {"1:1: error: `rules` is missing"}},
      {"rules: []\n", {"2:8: error: `rules` is empty"}},
      {"rules: [{ spray: single }]\n", {"2:9: error: `rules[].name` is missing"}},
      {"rules: [{ name: a, slice: { min: 2MiB, max: 1MiB } }]\n",
       {"2:34: error: `rules[].slice.min` does not fit: `min` is above `max`"}},
      {"rules: [{ name: a, slice: { min: 64 } }]\n",
       {"2:34: error: `rules[].slice.min`: \"64\" has no unit"}},
      {"rules: [{ name: a, slice: { min: 32MiB } }]\n",
       {"2:34: error: `rules[].slice.min` does not fit"}},
      {"rules: [{ name: a, spray: least_complete }]\n",
       {"2:27: error: `rules[].spray` cannot be \"least_complete\"; did you mean "
        "\"least_completion\"?"}},
      {"rules: [{ name: a, rails: { forbid: [{}] } }]\n",
       {"2:38: error: `rules[].rails.forbid[].transport` and all the other keys are missing"}},
      {"rules: [{ name: a, rails: { prefer: [{ transport: roce }] } }]\n",
       {"2:51: error: `rules[].rails.prefer[].transport` cannot be \"roce\""}},
      {"rules: [{ name: a, match: { sizemax: 1MiB } }]\n",
       {"2:29: error: unknown key \"sizemax\" in `rules[].match`; did you mean \"size_max\"?"}},
      {"rules: [{ name: a, attempts_max: 0 }]\n",
       {"2:34: error: `rules[].attempts_max` cannot be 0"}},
      {"rules: [{ name: a, integrity: policy }]\n", {"2:31: error: `rules[].integrity` cannot be"}},
      {"rules: [{ name: a, match: { class: kv } }, { name: a }]\n",
       {"2:52: error: rule name \"a\" is already used at f:2:17"}},
  };
  for (const Case& c : cases) {
    INFO(c.body);
    const auto loaded = load(c.body);
    expect_problems(loaded.problems, c.expected);
    CHECK(loaded.status().code() == Code::kConfig);
  }
}

TEST_CASE("what is allowed and probably not meant is a warning") {
  const Case cases[] = {
      {"rules:\n- name: all\n- name: kv\n  match: { class: kv }\n",
       {"4:9: warning: rule \"kv\" can never match: rule \"all\" at f:3:9 takes all its intents"}},
      {"rules:\n- name: a\n  match: { size_max: 2MiB }\n- name: b\n  match: { size_max: 1MiB, "
       "class: x }\n",
       {"5:9: warning: rule \"b\" can never match: rule \"a\" at f:3:9"}},
      {"rules:\n- name: a\n  match: { peer: \"d-*\" }\n- name: b\n  match: { peer: [d-1, d-2] }\n",
       {"5:9: warning: rule \"b\" can never match"}},
      {"rules:\n- name: a\n  match: { size_min: 2MiB, size_max: 1MiB }\n",
       {"4:22: warning: `rules[].match.size_min` is above `size_max`, so this rule can never "
        "match"}},
      {"rules:\n- name: a\n  match: { class: [] }\n",
       {"4:19: warning: `rules[].match.class` is an empty list, so this rule can never match"}},
      {"rules:\n- name: a\n  weights: [{ local_device: e, weight: 1 }]\n",
       {"4:12: warning: `rules[].weights` have no effect with this spray"}},
      {"rules:\n- name: a\n  spray: weighted\n",
       {"4:10: warning: `rules[].spray` is weighted, and there are no"}},
      {"rules:\n- name: a\n  rails: { require: [{ transport: tcp }], forbid: [{ transport: tcp }] "
       "}\n",
       {"3:9: warning: rule \"a\" requires and forbids transport tcp"}},
  };
  for (const Case& c : cases) {
    INFO(c.body);
    const auto loaded = load(c.body);
    expect_problems(loaded.problems, c.expected);
    CHECK(loaded.ok());
    CHECK(loaded.status().ok());
  }
}

TEST_CASE("rules that can each match get no warning") {
  expect_problems(load(R"(rules:
  - { name: a, match: { operation: read } }
  - { name: b, match: { class: "kv*" } }
  - { name: c, match: { class: k } }
  - { name: d, match: { size_max: 1MiB } }
  - { name: e, match: { size_max: 2MiB } }
  - { name: f }
)")
                      .problems,
                  {});
}

TEST_CASE("a policy that is made to be slow to check is not checked to the end") {
  std::string text = "rules:\n";
  for (int rule = 0; rule < 256; ++rule) {
    text += "- name: r" + std::to_string(rule) + "\n  match: { class: [";
    for (int i = 0; i < 31; ++i)
      text += "\"" + std::string(60, '*') + "a" + std::to_string(i) + "\", ";
    text += "r" + std::to_string(rule) + "] }\n";
  }
  const auto loaded = load(text);
  REQUIRE(loaded.problems.size() == 1);
  CHECK_THAT(loaded.problems[0].text, Catch::Contains("are not checked for whether they can ever"));
}

TEST_CASE("an empty list of patterns matches nothing") {
  const auto loaded = load("rules:\n- name: a\n  match: { class: [] }\n");
  REQUIRE(loaded.ok());
  CHECK_FALSE(policies::can_match(loaded.value.rules[0].match));
}

TEST_CASE("the built-in policy keeps small intents whole and has a rule for everything") {
  const policies::PolicySet& policy = builtin_policy();
  CHECK(policy.name == "built-in");
  const policies::Rule* small = policies::match_rule(policy, {.bytes = 256 * kKiB});
  const policies::Rule* bulk = policies::match_rule(policy, {.bytes = 256 * kKiB + 1});
  REQUIRE(small != nullptr);
  REQUIRE(bulk != nullptr);
  CHECK(small->directives.slice_min == 256 * kKiB);
  CHECK(small->directives.slice_max == 256 * kKiB);
  CHECK(bulk->match.size_max == std::numeric_limits<std::uint64_t>::max());
  CHECK(check_text(builtin_policy_text(), "f").kind == FileKind::kPolicy);
  // What directs an intent that no rule of a file matches is the same.
  const policies::Directives& fallback = policies::default_rule().directives;
  CHECK(bulk->directives.slice_min == fallback.slice_min);
  CHECK(bulk->directives.slice_max == fallback.slice_max);
  CHECK(bulk->directives.attempts_max == fallback.attempts_max);
  CHECK(bulk->directives.spray == fallback.spray);
  CHECK(bulk->directives.integrity == fallback.integrity);
}

}  // namespace
}  // namespace spindrift::config
