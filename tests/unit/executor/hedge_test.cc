#include <catch2/catch.hpp>

#include "rig.h"

namespace spindrift::executor {
namespace {

using Kind = LaneAction::Kind;
using health::HealthState;

planner::Plan hedged(bool hedge) {
  planner::Plan plan = plan_of({{0, 1}}, 1000, 1000);
  plan.hedge = hedge;
  return plan;
}

// Both rails were measured; then one falls silent with the last slices of a
// transfer, and the other one has nothing else to do.
struct Tail {
  explicit Tail(bool hedge) {
    rig.start(40'000, hedged(hedge));
    for (int i = 0; i < 40; ++i) step({silent, idle});
    REQUIRE(rig.finished.size() == 1);
    rig.finished.clear();
    job = &rig.start(8000, hedged(hedge));
    REQUIRE(rig.executor.lane(silent).outstanding > 0);
    REQUIRE(job->unbound == 0);
  }
  void step(std::initializer_list<LaneIndex> moving) {
    rig.pass(milliseconds(1));
    for (const LaneIndex lane : moving) {
      while (rig.executor.lane(lane).state == LaneState::kUp &&
             rig.executor.lane(lane).head < rig.executor.lane(lane).posted) {
        rig.land(lane, rig.executor.lane(lane).head);
      }
    }
  }

  Rig rig{2};
  const LaneIndex silent = rig.write(0), idle = rig.write(1);
  Job* job = nullptr;
};

TEST_CASE("At the end an idle rail copies what a silent one holds, but a copy ends nothing") {
  Tail tail(true);
  Rig& rig = tail.rig;
  for (int i = 0; i < 12; ++i) tail.step({tail.idle});
  CHECK(tail.job->hedges > 0);
  CHECK(tail.job->landed == tail.job->bytes);
  CHECK(rig.finished.empty());  // the originals may still land
  for (int i = 0; i < 12; ++i) tail.step({tail.idle});
  CHECK(rig.asked(Kind::kFenceLocal, tail.silent) == 1);
  CHECK(rig.asked(Kind::kFenceRemote, tail.silent) == 1);
  CHECK(rig.finished.empty());
  rig.fenced_here(tail.silent);
  CHECK(rig.finished.empty());
  rig.fenced_there(tail.silent, 0);
  REQUIRE(rig.finished == std::vector<Job*>{tail.job});
  CHECK(tail.job->outcome == Cause::kNone);
  CHECK(tail.job->retries == tail.job->hedges);
}

TEST_CASE("An original that lands within the wait costs no connection") {
  Tail tail(true);
  for (int i = 0; i < 12; ++i) tail.step({tail.idle});
  REQUIRE(tail.job->landed == tail.job->bytes);
  tail.step({tail.silent});
  CHECK(tail.rig.finished == std::vector<Job*>{tail.job});
  CHECK(tail.rig.asked(Kind::kFenceLocal, tail.silent) == 0);
  CHECK(tail.rig.executor.lane(tail.silent).health.state() == HealthState::kHealthy);
}

TEST_CASE("Without hedges nothing is copied before the rail is suspect") {
  Tail tail(false);
  for (int i = 0; i < 24; ++i) tail.step({tail.idle});
  CHECK(tail.job->hedges == 0);
  CHECK(tail.job->retries == 0);
  CHECK(tail.rig.asked(Kind::kFenceLocal, tail.silent) == 0);
}

}  // namespace
}  // namespace spindrift::executor
