// The ends of attempts, slices and transfers: retries, deadlines, cancelling,
// and the account of what is not confirmed.
#include <catch2/catch.hpp>

#include "rig.h"

namespace spindrift::executor {
namespace {

using Kind = LaneAction::Kind;

planner::Plan thousands(std::vector<std::vector<RailOrdinal>> tiers,
                        std::uint32_t attempts_max = 8) {
  planner::Plan plan = plan_of(std::move(tiers), 1000, 1000);
  plan.attempts_max = attempts_max;
  return plan;
}

std::uint64_t unlanded_bytes(const Job& job) {
  std::uint64_t sum = 0;
  for (const Unlanded& part : job.unlanded) sum += part.bytes;
  return sum;
}

// --- retries ------------------------------------------------------------------------

TEST_CASE("A failed slice goes to another rail, ahead of what was not sent yet") {
  Rig rig(2);
  Job& job = rig.start(1'000'000, thousands({{0, 1}}));
  const std::uint64_t offset = rig.on(rig.write(0))[0].offset;
  rig.fail(rig.write(0), 0, Cause::kChecksum);
  // The rail on which it failed has room and gets a fresh slice.
  CHECK(rig.posted.back().lane == rig.write(0));
  CHECK(rig.posted.back().offset == 14'000);
  CHECK(job.retries == 0);
  rig.land(rig.write(1), 0);
  CHECK(rig.posted.back().lane == rig.write(1));
  CHECK(rig.posted.back().offset == offset);
  CHECK(job.retries == 1);
  CHECK(job.tallies[0].failures == 1);
  CHECK(job.tallies[0].first_cause == Cause::kChecksum);
}

TEST_CASE("The only rail that works tries again itself") {
  Rig rig(2);
  rig.connects = false;
  Job& job = rig.start(1000, thousands({{0, 1}}));
  rig.up(rig.write(0));
  rig.cycle();
  rig.fail(rig.write(0), 0, Cause::kChecksum);
  CHECK(rig.on(rig.write(0)).size() == 2);
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kNone);
}

TEST_CASE("A transfer whose slice failed too often fails, and the first cause is kept") {
  Rig rig(1);
  Job& job = rig.start(2000, thousands({{0}}, 3));
  rig.land(rig.write(0), 1);
  rig.fail(rig.write(0), 0, Cause::kChecksum);
  rig.fail(rig.write(0), 2, Cause::kProtocol);
  CHECK(rig.finished.empty());
  rig.fail(rig.write(0), 3, Cause::kProtocol);
  REQUIRE(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kRetriesSpent);
  CHECK(job.first_cause == Cause::kChecksum);
  CHECK(job.first_cause_rail == 0);
  CHECK(job.landed == 1000);
  CHECK(job.retries == 2);
  REQUIRE(job.unlanded.size() == 1);
  CHECK(job.unlanded[0].begin.offset == 0);
  CHECK(job.unlanded[0].bytes == 1000);
  CHECK(rig.executor.slices_outstanding() == 0);
}

TEST_CASE("A request's own fault is not tried on another rail") {
  for (const Cause cause :
       {Cause::kBadRange, Cause::kNoRight, Cause::kNoRegion, Cause::kQuiesced}) {
    Rig rig(2);
    Job& job = rig.start(100'000, thousands({{0, 1}}));
    const std::size_t posted = rig.posted.size();
    rig.fail(rig.write(1), 0, cause);
    CHECK(rig.posted.size() == posted);
    CHECK(rig.finished.empty());  // what is out must settle first
    rig.land_all();
    REQUIRE(rig.finished == std::vector<Job*>{&job});
    CHECK(job.outcome == cause);
    CHECK(job.first_cause_rail == 1);
    CHECK(job.landed == (posted - 1) * 1000);
    CHECK(unlanded_bytes(job) + job.landed == 100'000);
  }
}

TEST_CASE("One transfer's failures do not hold up another") {
  Rig rig(1);
  Job& bad = rig.start(1000, thousands({{0}}));
  Job& good = rig.start(1000, thousands({{0}}));
  rig.fail(rig.write(0), 0, Cause::kNoRight);
  rig.land(rig.write(0), 1);
  CHECK(rig.finished == std::vector<Job*>{&bad, &good});
  CHECK(good.outcome == Cause::kNone);
}

// --- time budgets -------------------------------------------------------------------

TEST_CASE("A budget that ends: grace for what is out, then a fence, then the outcome") {
  Rig rig(1);
  const LaneIndex lane = rig.write(0);
  Job& job = rig.make({100'000}, thousands({{0}}));
  job.deadline = rig.now + milliseconds(100);
  rig.start(job);
  CHECK(rig.executor.next_deadline() == job.deadline);
  rig.pass(milliseconds(100) - Duration(1));
  CHECK_FALSE(job.failing);
  rig.pass(Duration(1));
  CHECK(job.failing);
  CHECK(rig.executor.next_deadline() == rig.now + milliseconds(50));
  rig.land(lane, 0);
  CHECK(rig.posted.size() == 7);  // nothing new
  rig.pass(milliseconds(50) - Duration(1));
  CHECK(rig.asked(Kind::kFenceLocal, lane) == 0);
  rig.pass(Duration(1));
  CHECK(rig.asked(Kind::kFenceLocal, lane) == 1);
  CHECK(rig.asked(Kind::kFenceRemote, lane) == 1);
  CHECK(rig.executor.next_deadline() == kNever);
  rig.fenced_here(lane);
  rig.fenced_there(lane, 2);
  REQUIRE(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kDeadline);
  CHECK(job.landed == 2000);
  CHECK(unlanded_bytes(job) == 98'000);
  std::uint64_t may_have_landed = 0;
  for (const Unlanded& part : job.unlanded) may_have_landed += part.posted ? part.bytes : 0;
  CHECK(may_have_landed == 5000);
}

TEST_CASE("What lands within the grace spares the fence") {
  Rig rig(1);
  Job& job = rig.make({100'000}, thousands({{0}}));
  job.deadline = rig.now + milliseconds(100);
  rig.start(job);
  rig.pass(milliseconds(100));
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.landed == 7000);
  rig.pass(seconds(1));
  CHECK(rig.asked(Kind::kFenceLocal, rig.write(0)) == 0);
}

TEST_CASE("A transfer whose last byte lands within the grace is complete") {
  Rig rig(1);
  Job& job = rig.make({5000}, thousands({{0}}));
  job.deadline = rig.now + milliseconds(100);
  rig.start(job);
  rig.pass(milliseconds(120));
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kNone);
  CHECK(job.unlanded.empty());
}

TEST_CASE("The fence of an overdue transfer spares the lanes that it does not use") {
  Rig rig(2);
  Job& late = rig.make({2000}, thousands({{0}}));
  late.deadline = rig.now + milliseconds(10);
  rig.start(late);
  Job& other = rig.start(2000, thousands({{1}}));
  rig.pass(milliseconds(10));
  rig.pass(milliseconds(50));
  CHECK(rig.asked(Kind::kFenceLocal, rig.write(0)) == 1);
  CHECK(rig.asked(Kind::kFenceLocal, rig.write(1)) == 0);
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&other});
}

TEST_CASE("A bystander on a lane that is fenced for another is sent again and completes") {
  Rig rig(1);
  const LaneIndex lane = rig.write(0);
  Job& late = rig.make({1000}, thousands({{0}}));
  late.deadline = rig.now + milliseconds(10);
  rig.start(late);
  Job& bystander = rig.start(1000, thousands({{0}}, 1));  // the fence is no try of its own
  rig.pass(milliseconds(10));
  rig.pass(milliseconds(50));
  rig.fenced_here(lane);
  rig.fenced_there(lane, 0);
  CHECK(rig.finished == std::vector<Job*>{&late});
  CHECK(rig.executor.lane(lane).state == LaneState::kUp);  // our own wish: no back-off
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&late, &bystander});
  CHECK(bystander.outcome == Cause::kNone);
}

TEST_CASE("A budget that ends before a rail was up") {
  Rig rig(1);
  rig.connects = false;
  Job& job = rig.make({1000}, thousands({{0}}));
  job.deadline = rig.now + milliseconds(10);
  rig.start(job);
  rig.pass(milliseconds(10));
  REQUIRE(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kDeadline);
  CHECK(job.finished_at == rig.now);
  REQUIRE(job.unlanded.size() == 1);
  CHECK(job.unlanded[0].bytes == 1000);
  CHECK_FALSE(job.unlanded[0].posted);
}

// --- cancelling ---------------------------------------------------------------------

TEST_CASE("Cancelled before anything was posted: over at once") {
  Rig rig(1);
  rig.connects = false;
  Job& job = rig.start(1000, thousands({{0}}));
  rig.executor.cancel(&job, Cause::kCancelled, rig.now);
  rig.cycle();
  REQUIRE(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kCancelled);
  rig.up(rig.write(0));
  rig.cycle();
  CHECK(rig.posted.empty());
}

TEST_CASE("Cancelled in flight: over when what is out has landed") {
  Rig rig(1);
  Job& job = rig.start(100'000, thousands({{0}}));
  rig.executor.cancel(&job, Cause::kCancelled, rig.now);
  rig.executor.cancel(&job, Cause::kShutDown, rig.now);  // the first one counts
  rig.cycle();
  CHECK(rig.finished.empty());
  rig.land_all();
  REQUIRE(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kCancelled);
  CHECK(job.landed == 7000);
  REQUIRE(job.unlanded.size() == 1);
  CHECK(job.unlanded[0].begin.offset == 7000);
  CHECK(job.unlanded[0].bytes == 93'000);
  CHECK_FALSE(job.unlanded[0].posted);
}

TEST_CASE("Cancelled with attempts that a rail did not take yet") {
  Rig rig(1);
  rig.takes[rig.write(0)] = 0;
  Job& job = rig.start(2000, thousands({{0}}));
  rig.executor.cancel(&job, Cause::kCancelled, rig.now);
  rig.pass(milliseconds(50));
  CHECK(rig.asked(Kind::kFenceRemote, rig.write(0)) == 0);  // the peer never saw any
  REQUIRE(rig.finished == std::vector<Job*>{&job});
  CHECK(unlanded_bytes(job) == 2000);
  for (const Unlanded& part : job.unlanded) CHECK_FALSE(part.posted);
}

TEST_CASE("Cancelled while a slice waits for its retry") {
  Rig rig(1);
  rig.connects = false;
  Job& job = rig.start(1000, thousands({{0}}));
  rig.up(rig.write(0));
  rig.cycle();
  rig.down(rig.write(0));
  rig.fenced_here(rig.write(0));
  rig.fenced_there(rig.write(0), 0);
  CHECK(job.unsettled == 0);
  rig.executor.cancel(&job, Cause::kCancelled, rig.now);
  rig.cycle();
  REQUIRE(rig.finished == std::vector<Job*>{&job});
  CHECK(unlanded_bytes(job) == 1000);
  CHECK(job.unlanded[0].posted);
  CHECK(rig.executor.slices_outstanding() == 0);
}

TEST_CASE("Cancelled during a fence: over with the fence") {
  Rig rig(1);
  rig.connects = false;
  Job& job = rig.start(1000, thousands({{0}}));
  rig.up(rig.write(0));
  rig.cycle();
  rig.down(rig.write(0));
  rig.executor.cancel(&job, Cause::kCancelled, rig.now);
  rig.pass(seconds(1));
  CHECK(rig.finished.empty());
  rig.fenced_there(rig.write(0), 0);
  CHECK(rig.finished.empty());
  rig.fenced_here(rig.write(0));
  CHECK(rig.finished == std::vector<Job*>{&job});
}

TEST_CASE("Cancelled after the end: without effect") {
  Rig rig(1);
  Job& job = rig.start(1000, thousands({{0}}));
  rig.land_all();
  rig.executor.cancel(&job, Cause::kCancelled, rig.now);
  rig.pass(seconds(1));
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kNone);
  CHECK(rig.executor.next_deadline() == kNever);
}

TEST_CASE("What round robin had not reached is reported as one range that may have landed") {
  Rig rig(2);
  planner::Plan plan = thousands({{0, 1}});
  plan.spray = policies::Spray::kRoundRobin;
  Job& job = rig.start(100'000, plan);
  rig.land(rig.write(1), 0);
  rig.executor.cancel(&job, Cause::kCancelled, rig.now);
  rig.land_all();
  REQUIRE(rig.finished == std::vector<Job*>{&job});
  CHECK(job.landed == 15'000);
  REQUIRE(job.unlanded.size() == 1);
  CHECK(job.unlanded[0].begin.offset == 14'000);
  CHECK(job.unlanded[0].bytes == 86'000);
  CHECK(job.unlanded[0].posted);
}

}  // namespace
}  // namespace spindrift::executor
