#include "planner/plan_cache.h"

#include <catch2/catch.hpp>

#include "fixtures.h"

namespace spindrift::planner {
namespace {

std::shared_ptr<const policies::PolicySet> shared(policies::PolicySet policy) {
  return std::make_shared<const policies::PolicySet>(std::move(policy));
}

bool same(const Plan& a, const Plan& b) {
  return a.rule == b.rule && a.tiers == b.tiers && a.spray == b.spray && a.weights == b.weights &&
         a.slice_min == b.slice_min && a.slice_max == b.slice_max &&
         a.attempts_max == b.attempts_max && a.checksum == b.checksum;
}

policies::PolicySet by_size() {
  return {.rules = {{.name = "small", .match = {.size_max = 100}}, {.name = "large"}}};
}

TEST_CASE("the same question is answered by the same plan") {
  PlanCache cache(shared(by_size()), 8);
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  const auto first = *cache.find_or_make(write_of(1), rails, 1);
  CHECK(*cache.find_or_make(write_of(100), rails, 1) == first);  // another size, the same rule
  CHECK(cache.hits() == 1);
  CHECK((*cache.find_or_make(write_of(101), rails, 1))->rule == "large");
  CHECK(cache.misses() == 2);
  CHECK(cache.size() == 2);
}

TEST_CASE("another epoch is planned anew") {
  PlanCache cache(shared(by_size()), 8);
  std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  CHECK((*cache.find_or_make(write_of(1), rails, 1))->tiers.front().size() == 1);
  rails.push_back(rail(Transport::kTcp, "eth1"));
  CHECK((*cache.find_or_make(write_of(1), rails, 2))->tiers.front().size() == 2);
}

TEST_CASE("the least recently used plan makes room") {
  PlanCache cache(shared({}), 2);
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  const auto ask = [&](const char* peer) {
    PlanRequest request = write_of(1);
    request.peer = peer;
    return *cache.find_or_make(request, rails, 1);
  };
  const auto a = ask("a");
  const auto b = ask("b");
  CHECK(ask("a") == a);
  ask("c");  // b goes
  CHECK(cache.size() == 2);
  CHECK(ask("a") == a);
  CHECK(ask("b") != b);
  CHECK(b->rule == "unmatched");  // who holds a plan keeps it
}

TEST_CASE("a new policy forgets the old plans") {
  PlanCache cache(shared(by_size()), 8);
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  CHECK((*cache.find_or_make(write_of(1), rails, 1))->rule == "small");
  cache.set_policy(shared(one_rule({})));
  CHECK(cache.size() == 0);
  CHECK((*cache.find_or_make(write_of(1), rails, 1))->rule == "bulk");
}

TEST_CASE("errors are not kept") {
  PlanCache cache(shared(one_rule({.require = {{.transport = Transport::kRdma}}})), 8);
  const std::vector<RailCandidate> rails{rail(Transport::kTcp, "eth0")};
  const auto one = cache.find_or_make(write_of(1), rails, 1);
  const auto two = cache.find_or_make(write_of(2), rails, 1);
  CHECK(one.code() == Code::kPolicyUnsatisfied);
  CHECK(two.status().detail().what.find("2 bytes") != std::string::npos);
  CHECK(cache.size() == 0);
}

TEST_CASE("the cache never gives what make_plan would not") {
  std::uint64_t hits = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Prng prng(seed);
    auto policy = shared(random_policy(prng));
    PlanCache cache(policy, prng.between(1, 40));
    // Rails and epoch of three peers; they change only together.
    std::vector<std::vector<RailCandidate>> rails(3);
    std::vector<std::uint64_t> epochs(3, 0);
    for (auto& list : rails) list = random_rails(prng);
    for (int i = 0; i < 500; ++i) {
      PlanRequest request = random_request(prng);
      const std::size_t peer = request.peer == "a" ? 0 : request.peer == "ab" ? 1 : 2;
      shake(prng, rails[peer]);
      if (prng.chance(20)) {
        rails[peer] = random_rails(prng);
        ++epochs[peer];
      }
      if (prng.chance(5)) {
        policy = shared(random_policy(prng));
        cache.set_policy(policy);
      }
      const auto cached = cache.find_or_make(request, rails[peer], epochs[peer]);
      const auto made = make_plan(*policy, request, rails[peer]);
      CAPTURE(seed, i);
      REQUIRE(cached.code() == made.code());
      if (made) REQUIRE(same(**cached, *made));
    }
    hits += cache.hits();
  }
  CHECK(hits > 500);
}

}  // namespace
}  // namespace spindrift::planner
