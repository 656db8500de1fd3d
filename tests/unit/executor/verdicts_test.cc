#include <catch2/catch.hpp>

#include "rig.h"

namespace spindrift::executor {
namespace {

using Kind = LaneAction::Kind;
using health::HealthState;

planner::Plan thousands(std::vector<std::vector<RailOrdinal>> tiers) {
  return plan_of(std::move(tiers), 1000, 1000);
}

// A millisecond in which each of these lanes places its oldest slice.
void tick(Rig& rig, std::initializer_list<LaneIndex> moving) {
  rig.pass(milliseconds(1));
  for (const LaneIndex lane : moving) {
    const Lane& state = rig.executor.lane(lane);
    if (state.state == LaneState::kUp && state.head < state.posted) rig.land(lane, state.head);
  }
}
void ticks(Rig& rig, int count, std::initializer_list<LaneIndex> moving) {
  for (int i = 0; i < count; ++i) tick(rig, moving);
}

// Two rails that have moved for long enough to be measured: each is suspect after
// 25 ms, and given up after 50 when the other one moves.
struct TwoRails {
  TwoRails() {
    job = &rig.start(1'000'000, thousands({{0, 1}}));
    ticks(rig, 20, {a, b});
  }
  HealthState state(LaneIndex lane) const { return rig.executor.lane(lane).health.state(); }
  Cause cause(LaneIndex lane) const { return rig.executor.lane(lane).health.cause(); }

  Rig rig{2};
  const LaneIndex a = rig.write(0), b = rig.write(1);
  Job* job = nullptr;
};

TEST_CASE("A rail that places nothing while the other one moves is suspect, then given up") {
  TwoRails two;
  Rig& rig = two.rig;
  ticks(rig, 25, {two.b});
  CHECK(two.state(two.a) == HealthState::kHealthy);
  tick(rig, {two.b});
  CHECK(two.state(two.a) == HealthState::kSuspect);
  CHECK(two.cause(two.a) == Cause::kSilent);
  CHECK(rig.asked(Kind::kFenceLocal, two.a) == 0);
  ticks(rig, 24, {two.b});
  CHECK(rig.asked(Kind::kFenceLocal, two.a) == 0);
  ticks(rig, 3, {two.b});
  CHECK(two.state(two.a) == HealthState::kQuarantined);
  CHECK(two.cause(two.a) == Cause::kSilent);
  CHECK(rig.asked(Kind::kFenceLocal, two.a) == 1);
  CHECK(rig.asked(Kind::kFenceRemote, two.a) == 1);
  CHECK(two.state(two.b) == HealthState::kHealthy);
}

TEST_CASE("What a suspect holds goes out again elsewhere, and it gets nothing new") {
  TwoRails two;
  Rig& rig = two.rig;
  const std::vector<Attempt> before = rig.on(two.a);
  const std::uint64_t held = rig.executor.lane(two.a).outstanding / 1000;
  REQUIRE(held > 0);
  ticks(rig, 40, {two.b});
  REQUIRE(two.state(two.a) == HealthState::kSuspect);
  CHECK(rig.on(two.a).size() == before.size());
  const std::vector<Attempt> elsewhere = rig.on(two.b);
  for (std::size_t i = before.size() - held; i < before.size(); ++i) {
    const bool copied = std::any_of(elsewhere.begin(), elsewhere.end(),
                                    [&](const Attempt& a) { return a.offset == before[i].offset; });
    CHECK(copied);
  }
}

TEST_CASE("A suspect that moves again goes on, and nothing was fenced") {
  TwoRails two;
  Rig& rig = two.rig;
  ticks(rig, 30, {two.b});
  REQUIRE(two.state(two.a) == HealthState::kSuspect);
  ticks(rig, 1, {two.a, two.b});
  CHECK(two.state(two.a) == HealthState::kHealthy);
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{two.job});
  CHECK(two.job->outcome == Cause::kNone);
  CHECK(rig.asked(Kind::kFenceLocal, two.a) == 0);
}

TEST_CASE("When a peer stops, no rail is blamed, in whatever order they fall silent") {
  TwoRails two;
  Rig& rig = two.rig;
  ticks(rig, 5, {two.b});  // what was under way
  ticks(rig, 500, {});
  for (const LaneIndex lane : {two.a, two.b}) {
    CHECK(two.state(lane) == HealthState::kSuspect);
    CHECK(two.cause(lane) == Cause::kPeerSilent);
    CHECK(rig.asked(Kind::kFenceLocal, lane) == 0);
  }
  ticks(rig, 1, {two.a, two.b});
  CHECK(two.state(two.a) == HealthState::kHealthy);
  CHECK(two.state(two.b) == HealthState::kHealthy);
}

TEST_CASE("Nobody waits for ever for a peer that is silent on every rail") {
  TwoRails two;
  ticks(two.rig, 2100, {});
  for (const LaneIndex lane : {two.a, two.b}) {
    CHECK(two.rig.asked(Kind::kFenceLocal, lane) == 1);
    CHECK(two.cause(lane) == Cause::kPeerSilent);
  }
}

TEST_CASE("Time in which the worker did not run is no silence") {
  TwoRails two;
  two.rig.executor.on_blackout(milliseconds(400));
  two.rig.pass(milliseconds(400));
  CHECK(two.state(two.a) == HealthState::kHealthy);
  CHECK(two.state(two.b) == HealthState::kHealthy);
  ticks(two.rig, 30, {two.b});  // what comes after it is
  CHECK(two.state(two.a) == HealthState::kSuspect);
}

TEST_CASE("A link that goes down takes its lanes at once, and is tried when it is up again") {
  TwoRails two;
  Rig& rig = two.rig;
  rig.executor.on_link(two.a, false, rig.now);
  rig.cycle();
  CHECK(two.state(two.a) == HealthState::kQuarantined);
  CHECK(two.cause(two.a) == Cause::kLinkDown);
  rig.fenced_here(two.a);
  rig.fenced_there(two.a, rig.executor.lane(two.a).next);
  rig.connects = false;
  for (int i = 0; i < 5; ++i) {  // its probes fail, and become rarer
    rig.now = rig.executor.lane(two.a).timer;
    rig.cycle();
    rig.down(two.a, Cause::kConnectFailed);
    rig.fenced_here(two.a);
  }
  const std::size_t opened = rig.asked(Kind::kOpen, two.a);
  rig.executor.on_link(two.a, true, rig.now);
  rig.pass(milliseconds(5));  // between two probes
  CHECK(rig.asked(Kind::kOpen, two.a) == opened + 1);
  rig.up(two.a);
  rig.cycle();
  for (int probe = 0; probe < 2; ++probe) rig.land(two.a, rig.executor.lane(two.a).head);
  CHECK(two.state(two.a) == HealthState::kRamping);
}

TEST_CASE("A rail that flapped is not kept from a transfer that admits no other") {
  Rig rig(2);
  const LaneIndex flapping = rig.write(0);
  rig.start(10'000'000, thousands({{0, 1}}));
  for (int i = 0; i < 8; ++i) {
    rig.down(flapping);
    rig.fenced_here(flapping);
    rig.fenced_there(flapping, rig.executor.lane(flapping).next);
    rig.executor.on_blackout(rig.executor.lane(flapping).timer - rig.now);  // the other one is well
    rig.recover(flapping);
  }
  rig.down(flapping);
  rig.fenced_here(flapping);
  rig.fenced_there(flapping, rig.executor.lane(flapping).next);
  CHECK(rig.executor.lane(flapping).timer > rig.now + seconds(2));  // held by its flaps
  rig.start(1000, thousands({{0}}));
  CHECK(rig.executor.lane(flapping).timer <= rig.now + milliseconds(100));
}

}  // namespace
}  // namespace spindrift::executor
