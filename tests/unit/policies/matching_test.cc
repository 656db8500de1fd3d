#include "policies/matching.h"

#include <catch2/catch.hpp>

#include "base/prng.h"
#include "policies/default_rule.h"

namespace spindrift::policies {
namespace {

const MatchView kView{.operation = Operation::kWrite,
                      .klass = "kv-layer",
                      .bytes = 64 * kMiB,
                      .source = MemoryKind::kCuda,
                      .destination = MemoryKind::kHost,
                      .same_host = false,
                      .peer = "decode-0"};

TEST_CASE("each field of a match decides, and says why") {
  struct Row {
    Match match;
    const char* why;  // empty: it matches
  };
  const Row rows[] = {
      {{}, ""},
      {{.operation = Operation::kWrite}, ""},
      {{.operation = Operation::kRead}, "is for reads"},
      {{.classes = {"kv-*"}}, ""},
      {{.classes = {"default", "weights"}}, "class kv-layer is not \"default\" or \"weights\""},
      {{.size_min = 64 * kMiB, .size_max = 64 * kMiB}, ""},
      {{.size_min = 64 * kMiB + 1}, "size 64 MiB is below 67108865 bytes"},
      {{.size_max = kMiB}, "size 64 MiB is above 1 MiB"},
      {{.size_min = 2, .size_max = 1}, "can never match: its smallest size is above its largest"},
      {{.source = MemoryKind::kCuda, .destination = MemoryKind::kHost}, ""},
      {{.source = MemoryKind::kFile}, "source is cuda, not file"},
      {{.destination = MemoryKind::kCuda}, "destination is host, not cuda"},
      {{.same_host = false}, ""},
      {{.same_host = true}, "the peer is on another host"},
      {{.peers = {"prefill-*", "decode-?"}}, ""},
      {{.peers = {"prefill-*"}}, "peer decode-0 is not \"prefill-*\""},
      {{.operation = Operation::kRead, .size_max = kMiB, .peers = {"x"}},
       "is for reads; size 64 MiB is above 1 MiB; peer decode-0 is not \"x\""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.why);
    CHECK(matches(row.match, kView) == std::string(row.why).empty());
    CHECK(why_not(row.match, kView) == row.why);
  }
}

TEST_CASE("an intent without a class is of class default") {
  CHECK(matches({.classes = {"default"}}, {.klass = ""}));
  CHECK_FALSE(matches({.classes = {"kv"}}, {.klass = ""}));
  CHECK(why_not({.classes = {"kv"}}, {.klass = ""}) == "class default is not \"kv\"");
}

PolicySet three_rules() {
  return {.name = "p.yaml",
          .rules = {{.name = "reads", .match = {.operation = Operation::kRead}},
                    {.name = "bulk", .match = {.size_min = kMiB}},
                    {.name = "rest"}}};
}

TEST_CASE("the first rule that matches directs") {
  const PolicySet policy = three_rules();
  CHECK(match_rule(policy, kView)->name == "bulk");
  CHECK(match_rule(policy, {.bytes = 1})->name == "rest");
  CHECK(match_rule(policy, {.operation = Operation::kRead})->name == "reads");
  CHECK(match_rule({.rules = {policy.rules[0]}}, kView) == nullptr);
  CHECK(match_rule({}, kView) == nullptr);
}

TEST_CASE("a match is explained rule by rule") {
  const PolicySet policy = three_rules();
  const std::vector<RuleOutcome> outcomes = explain_match(policy, kView);
  REQUIRE(outcomes.size() == 3);
  CHECK(outcomes[0].rule == &policy.rules[0]);
  CHECK_FALSE(outcomes[0].matched);
  CHECK(outcomes[0].why == "is for reads");
  CHECK(outcomes[1].matched);
  CHECK(outcomes[1].why.empty());
  CHECK_FALSE(outcomes[2].matched);
  CHECK(outcomes[2].why == "not looked at: rule bulk matched first");
}

TEST_CASE("a rule that an earlier one covers is known to be unreachable") {
  struct Row {
    const char* name;
    Match earlier;
    Match later;
    bool covers;
  };
  const Row rows[] = {
      {"everything covers everything", {}, {}, true},
      {"everything covers a narrow one", {}, {.operation = Operation::kRead, .size_min = 5}, true},
      {"an operation does not cover both", {.operation = Operation::kRead}, {}, false},
      {"the same operation",
       {.operation = Operation::kRead},
       {.operation = Operation::kRead, .peers = {"x"}},
       true},
      {"another operation",
       {.operation = Operation::kRead},
       {.operation = Operation::kWrite},
       false},
      {"a wider range of sizes",
       {.size_min = 1, .size_max = 9},
       {.size_min = 1, .size_max = 9},
       true},
      {"a range that ends earlier", {.size_max = 8}, {.size_max = 9}, false},
      {"a range that begins later", {.size_min = 1}, {}, false},
      {"a wider class pattern", {.classes = {"kv*"}}, {.classes = {"kv", "kv-layer"}}, true},
      {"one of two classes left over", {.classes = {"kv*"}}, {.classes = {"kv", "bulk"}}, false},
      {"some classes do not cover all", {.classes = {"kv*"}}, {}, false},
      {"a star class covers all", {.classes = {"a", "*"}}, {}, true},
      {"peers", {.peers = {"decode-*"}}, {.peers = {"decode-?"}}, true},
      {"peers the other way", {.peers = {"decode-?"}}, {.peers = {"decode-*"}}, false},
      {"same host", {.same_host = true}, {.same_host = false}, false},
      {"memory",
       {.source = MemoryKind::kCuda},
       {.source = MemoryKind::kCuda, .destination = MemoryKind::kHost},
       true},
      {"memory at the other end",
       {.destination = MemoryKind::kCuda},
       {.source = MemoryKind::kCuda},
       false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(covers(row.earlier, row.later) == row.covers);
  }
  CHECK(can_match({.size_min = 4, .size_max = 4}));
  CHECK_FALSE(can_match({.size_min = 5, .size_max = 4}));
}

template <typename T>
std::optional<T> perhaps(Prng& prng, T value) {
  return prng.chance(500) ? std::optional<T>(value) : std::nullopt;
}

Match random_match(Prng& prng) {
  const std::vector<std::string> patterns{"*", "a*", "ab", "?b", "b"};
  Match match;
  match.operation = perhaps(prng, prng.chance(500) ? Operation::kRead : Operation::kWrite);
  match.size_min = prng.below(3);
  match.size_max = prng.below(5);
  match.source = perhaps(prng, static_cast<MemoryKind>(prng.below(3)));
  match.destination = perhaps(prng, static_cast<MemoryKind>(prng.below(3)));
  match.same_host = perhaps(prng, prng.chance(500));
  for (std::uint64_t i = prng.below(3); i > 0; --i) {
    match.classes.push_back(patterns[prng.below(patterns.size())]);
  }
  if (prng.chance(500)) match.peers.push_back(patterns[prng.below(patterns.size())]);
  return match;
}

MatchView random_view(Prng& prng) {
  static const char* const kNames[] = {"a", "ab", "b", "bb"};
  return {.operation = prng.chance(500) ? Operation::kRead : Operation::kWrite,
          .klass = kNames[prng.below(4)],
          .bytes = prng.below(5),
          .source = static_cast<MemoryKind>(prng.below(3)),
          .destination = static_cast<MemoryKind>(prng.below(3)),
          .same_host = prng.chance(500),
          .peer = kNames[prng.below(4)]};
}

TEST_CASE("no intent of a covered match escapes the covering one") {
  Prng prng(7);
  int checked = 0;
  for (int i = 0; i < 30'000; ++i) {
    const Match earlier = random_match(prng);
    const Match later = random_match(prng);
    const MatchView view = random_view(prng);
    REQUIRE(matches(later, view) == why_not(later, view).empty());
    if (!covers(earlier, later) || !matches(later, view)) continue;
    ++checked;
    REQUIRE(matches(earlier, view));
  }
  CHECK(checked > 10);
}

TEST_CASE("a selector selects by all of its fields") {
  const RailFacts rail{
      .transport = Transport::kRdma, .local_device = "mlx5_0", .remote_device = "mlx5_3"};
  struct Row {
    RailSelector selector;
    bool selected;
    const char* text;
  };
  const Row rows[] = {
      {{}, true, "any rail"},
      {{.transport = Transport::kRdma}, true, "transport rdma"},
      {{.transport = Transport::kTcp}, false, "transport tcp"},
      {{.local_device = "mlx5_*"}, true, "local device \"mlx5_*\""},
      {{.local_device = "mlx5_3"}, false, "local device \"mlx5_3\""},
      {{.remote_device = "mlx5_3"}, true, "remote device \"mlx5_3\""},
      {{.rail = "rdma:mlx5_0>mlx5_3"}, true, "rail \"rdma:mlx5_0>mlx5_3\""},
      {{.rail = "rdma:*>mlx5_0"}, false, "rail \"rdma:*>mlx5_0\""},
      {{.transport = Transport::kRdma, .local_device = "eth*"},
       false,
       "transport rdma, local device \"eth*\""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(selects(row.selector, rail) == row.selected);
    CHECK(describe(row.selector) == row.text);
  }
  CHECK(describe(std::vector<RailSelector>{{.transport = Transport::kRdma}, {.rail = "shm*"}}) ==
        "transport rdma or rail \"shm*\"");
}

TEST_CASE("a rule is named with its place") {
  CHECK(describe(Rule{.name = "bulk", .place = {"p.yaml", 12, 7}}) == "rule bulk (p.yaml:12:7)");
  CHECK(describe(Rule{.name = "x"}) == "rule x");
  CHECK(describe(default_rule()) == "rule unmatched");
}

TEST_CASE("the default rule takes everything and directs soundly") {
  const Directives& directives = default_rule().directives;
  CHECK(matches(default_rule().match, kView));
  CHECK(directives.spray == Spray::kLeastCompletion);
  CHECK(directives.slice_min <= directives.slice_max);
  CHECK(directives.attempts_max > 1);
  CHECK(directives.integrity != Integrity::kPolicy);
}

}  // namespace
}  // namespace spindrift::policies
