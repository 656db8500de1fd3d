// The strategies that divide a transfer before it starts, and kSingle.
#include <catch2/catch.hpp>

#include "rig.h"

namespace spindrift::executor {
namespace {

using Sizes = std::vector<std::uint64_t>;

planner::Plan sprayed(policies::Spray spray, std::vector<std::vector<RailOrdinal>> tiers,
                      std::uint64_t slice) {
  planner::Plan plan = plan_of(std::move(tiers), slice, slice);
  plan.spray = spray;
  return plan;
}

std::vector<std::uint64_t> offsets(const std::vector<Attempt>& attempts) {
  std::vector<std::uint64_t> found;
  for (const Attempt& attempt : attempts) found.push_back(attempt.offset);
  return found;
}

TEST_CASE("Round robin: slice i goes to rail i mod n, whatever the rails are like") {
  Rig rig(3);
  rig.rate(rig.write(1), Rate{100'000'000});
  Job& job = rig.start(7500, sprayed(policies::Spray::kRoundRobin, {{0, 1, 2}}, 1000));
  CHECK(offsets(rig.on(rig.write(0))) == Sizes{0, 3000, 6000});
  CHECK(offsets(rig.on(rig.write(1))) == Sizes{1000, 4000, 7000});
  CHECK(offsets(rig.on(rig.write(2))) == Sizes{2000, 5000});
  CHECK(rig.sizes_on(rig.write(1)) == Sizes{1000, 1000, 500});
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.landed == 7500);
}

TEST_CASE("Round robin follows the order of the plan's tier and leaves out idle rails") {
  Rig rig(4);
  rig.start(2000, sprayed(policies::Spray::kRoundRobin, {{2, 0, 3}}, 1000));
  CHECK(offsets(rig.on(rig.write(2))) == Sizes{0});
  CHECK(offsets(rig.on(rig.write(0))) == Sizes{1000});
  CHECK(rig.on(rig.write(3)).empty());  // two slices, three rails
}

TEST_CASE("The blind baseline waits for its slow rail; the others finish only their own") {
  Rig rig(2);
  Job& job = rig.start(40'000, sprayed(policies::Spray::kRoundRobin, {{0, 1}}, 1000));
  while (rig.executor.lane(rig.write(1)).outstanding > 0) {
    rig.land(rig.write(1), rig.executor.lane(rig.write(1)).head);
  }
  CHECK(job.tallies[1].bytes == 20'000);
  CHECK(job.landed == 20'000);
  CHECK(rig.executor.lane(rig.write(0)).outstanding == 7000);
}

TEST_CASE("Round robin: the share of a rail that does not work is taken by the others") {
  Rig rig(2);
  rig.connects = false;
  Job& job = rig.start(4000, sprayed(policies::Spray::kRoundRobin, {{0, 1}}, 1000));
  rig.up(rig.write(0));
  rig.cycle();
  CHECK(offsets(rig.on(rig.write(0))) == Sizes{0, 2000});  // the other may still come
  rig.down(rig.write(1), Cause::kConnectFailed);
  CHECK(offsets(rig.on(rig.write(0))) == Sizes{0, 2000, 1000, 3000});
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
}

TEST_CASE("Weighted: bytes in the proportion of the weights, exactly") {
  struct Case {
    std::vector<std::uint32_t> weights;
    std::uint64_t bytes;
    Sizes shares;
  };
  const Case cases[] = {
      {{1, 1, 2}, 8000, {2000, 2000, 4000}},
      {{3, 1, 1}, 7, {5, 1, 1}},  // 4.2, 1.4, 1.4: the rest to the first
      {{0, 1, 0}, 5000, {0, 5000, 0}},
      {{1, 1}, 9000, {3000, 3000, 3000}},  // a rail that is not named weighs 1
      {{}, 9001, {3001, 3000, 3000}},
  };
  for (const Case& c : cases) {
    Rig rig(3);
    planner::Plan plan = sprayed(policies::Spray::kWeighted, {{0, 1, 2}}, 1000);
    plan.weights = c.weights;
    Job& job = rig.start(c.bytes, plan);
    rig.land_all();
    REQUIRE(rig.finished == std::vector<Job*>{&job});
    CHECK(Sizes{job.tallies[0].bytes, job.tallies[1].bytes, job.tallies[2].bytes} == c.shares);
  }
}

TEST_CASE("Weighted: a dead rail's quota is taken over, also by a rail of the next tier") {
  Rig rig(3);
  rig.connects = false;
  planner::Plan plan = sprayed(policies::Spray::kWeighted, {{0, 1}, {2}}, 1000);
  plan.weights = {1, 3, 1};
  Job& job = rig.start(8000, plan);
  rig.up(rig.write(0));
  rig.down(rig.write(1), Cause::kConnectFailed);
  CHECK(rig.executor.lane(rig.write(0)).outstanding == 7000);  // its 2000 and of the 6000
  rig.down(rig.write(0));
  rig.fenced_here(rig.write(0));
  rig.fenced_there(rig.write(0), 2);  // 2000 had landed
  rig.up(rig.write(2));
  rig.land_all();
  rig.cycle();
  rig.land_all();
  REQUIRE(rig.finished == std::vector<Job*>{&job});
  CHECK(job.tallies[0].bytes == 2000);
  CHECK(job.tallies[2].bytes == 6000);
}

TEST_CASE("Single: the first rail of the best tier that is up, and no other") {
  Rig rig(3);
  rig.rate(rig.write(2), Rate{100'000'000});
  Job& job = rig.start(20'000, sprayed(policies::Spray::kSingle, {{1, 2}, {0}}, 1000));
  CHECK(rig.executor.lane(rig.write(1)).outstanding == 7000);
  CHECK(rig.on(rig.write(2)).empty());
  rig.down(rig.write(1));
  CHECK_FALSE(rig.on(rig.write(2)).empty());
  CHECK(rig.on(rig.write(0)).empty());
  rig.fenced_here(rig.write(1));
  rig.fenced_there(rig.write(1), 0);
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.tallies[2].bytes == 20'000);
}

}  // namespace
}  // namespace spindrift::executor
