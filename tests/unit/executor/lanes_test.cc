// Connections and fences: when a lane is opened and opened again, which tier is
// in use, and what has to come in before the attempts of a broken lane count as
// settled.
#include <catch2/catch.hpp>

#include "rig.h"

namespace spindrift::executor {
namespace {

using Kind = LaneAction::Kind;
using health::HealthState;

planner::Plan thousands(std::vector<std::vector<RailOrdinal>> tiers) {
  return plan_of(std::move(tiers), 1000, 1000);
}

// --- opening ------------------------------------------------------------------------

TEST_CASE("A lane that cannot be opened is tried again, after growing waits") {
  Rig rig(1);
  rig.connects = false;
  const LaneIndex lane = rig.write(0);
  Job& job = rig.start(1000, thousands({{0}}));
  // The hold of a first failure, then between probes.
  const Duration waits[] = {milliseconds(100), milliseconds(100), milliseconds(200),
                            milliseconds(400), milliseconds(500), milliseconds(500)};
  std::size_t tries = 0;
  for (const Duration wait : waits) {
    REQUIRE(rig.asked(Kind::kOpen, lane) == ++tries);
    CHECK(rig.actions.back().kind == Kind::kOpen);
    CHECK(rig.actions.back().generation == tries);
    rig.down(lane, Cause::kConnectFailed);
    CHECK(rig.executor.lane(lane).state == LaneState::kFencing);
    CHECK(rig.asked(Kind::kFenceRemote, lane) == 0);  // nothing was ever posted
    rig.fenced_here(lane);
    CHECK(rig.executor.lane(lane).state == LaneState::kWaiting);
    const Duration left = rig.executor.lane(lane).timer - rig.now;
    CHECK(left <= wait);
    CHECK(left >= wait * 3 / 4);
    CHECK(rig.executor.next_deadline() == rig.executor.lane(lane).timer);
    rig.pass(left - Duration(1));
    CHECK(rig.asked(Kind::kOpen, lane) == tries);
    rig.pass(Duration(1));
  }
  rig.up(lane);
  rig.cycle();
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(rig.executor.lane(lane).health.state() == HealthState::kRamping);
}

TEST_CASE("A lane that failed is tried again though nobody wants it, seldom after a while") {
  Rig rig(1);
  rig.connects = false;
  const LaneIndex lane = rig.write(0);
  Job& job = rig.start(1000, thousands({{0}}));
  rig.down(lane, Cause::kConnectFailed);
  rig.fenced_here(lane);
  rig.executor.cancel(&job, Cause::kCancelled, rig.now);
  std::size_t tries = 0;
  for (const Instant end = rig.now + seconds(60); rig.now < end; ++tries) {
    rig.now = rig.executor.next_deadline();
    rig.cycle();
    rig.down(lane, Cause::kConnectFailed);
    rig.fenced_here(lane);
  }
  CHECK(tries < 24);
  CHECK(tries > 10);
}

TEST_CASE("Events of an older generation mean nothing") {
  Rig rig(1);
  const LaneIndex lane = rig.write(0);
  rig.start(100'000, thousands({{0}}));
  rig.executor.on({.kind = RailEventKind::kLaneDown, .lane = lane, .generation = 0}, rig.now);
  CHECK(rig.executor.lane(lane).state == LaneState::kUp);
  rig.connects = false;
  rig.down(lane);
  rig.executor.on({.kind = RailEventKind::kLocalFenced, .lane = lane, .generation = 0}, rig.now);
  CHECK(rig.executor.lane(lane).local_fence_due);
  rig.fenced_here(lane);
  rig.fenced_there(lane, 0);
  rig.pass(milliseconds(100));
  REQUIRE(rig.executor.lane(lane).generation == 2);
  rig.executor.on({.kind = RailEventKind::kLaneUp, .lane = lane, .generation = 1}, rig.now);
  CHECK(rig.executor.lane(lane).state == LaneState::kOpening);
}

// --- tiers --------------------------------------------------------------------------

TEST_CASE("The next tier carries on when no rail of the first works, and hands back") {
  Rig rig(3);
  rig.connects = false;
  const LaneIndex first = rig.write(0), second = rig.write(1), spare = rig.write(2);
  Job& job = rig.start(100'000, thousands({{0, 1}, {2}}));
  rig.up(first);
  rig.up(second);
  rig.cycle();
  CHECK(rig.asked(Kind::kOpen, spare) == 0);
  rig.down(first);
  CHECK(rig.asked(Kind::kOpen, spare) == 0);  // the second still works
  rig.down(second);
  CHECK(rig.asked(Kind::kOpen, spare) == 1);
  rig.up(spare);
  rig.cycle();
  CHECK(rig.executor.lane(spare).outstanding == 7000);
  rig.fenced_here(first);
  rig.fenced_there(first, 1);
  rig.land(spare, 0);
  CHECK(rig.executor.lane(spare).outstanding == 7000);
  rig.land(spare, 1);
  CHECK(rig.executor.lane(spare).outstanding == 7000);  // it is not up yet
  const std::size_t before = rig.on(first).size();
  rig.recover(first);
  CHECK(rig.asked(Kind::kOpen, first) == 2);
  const std::uint64_t left = rig.executor.lane(spare).outstanding;
  rig.land(spare, rig.executor.lane(spare).head);
  CHECK(rig.executor.lane(spare).outstanding == left - 1000);  // no new ones
  CHECK(rig.on(first).size() > before);
  rig.fenced_here(second);
  rig.fenced_there(second, 7);
  rig.recover(second);
  for (int i = 0; i < 10; ++i) {
    rig.land_all();
    rig.pass(milliseconds(50));
  }
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.landed == 100'000);
}

TEST_CASE("A later transfer uses the first tier again once it is back") {
  Rig rig(2);
  rig.connects = false;
  Job& job = rig.start(1000, thousands({{0}, {1}}));
  rig.down(rig.write(0), Cause::kConnectFailed);
  rig.fenced_here(rig.write(0));
  rig.up(rig.write(1));
  rig.cycle();
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
  rig.start(1000, thousands({{0}, {1}}));
  CHECK(rig.on(rig.write(1)).size() == 2);  // it does not wait for it
  rig.recover(rig.write(0));
  rig.start(1000, thousands({{0}, {1}}));
  CHECK(rig.on(rig.write(0)).size() == 1);
}

TEST_CASE("While no tier works, the rails of all are tried") {
  Rig rig(2);
  rig.connects = false;
  rig.start(1000, thousands({{0}, {1}}));
  for (int round = 1; round <= 30; ++round) {
    for (const LaneIndex lane : {rig.write(0), rig.write(1)}) {
      if (rig.executor.lane(lane).state != LaneState::kOpening) continue;
      rig.down(lane, Cause::kConnectFailed);
      rig.fenced_here(lane);
    }
    rig.pass(milliseconds(100));
  }
  CHECK(rig.asked(Kind::kOpen, rig.write(0)) >= 3);
  CHECK(rig.asked(Kind::kOpen, rig.write(1)) >= 3);
}

// --- fences -------------------------------------------------------------------------

TEST_CASE("A write is finished when both ends are fenced, in either order") {
  for (const bool here_first : {true, false}) {
    Rig rig(2);
    const LaneIndex broken = rig.write(0), other = rig.write(1);
    Job& job = rig.start(2000, thousands({{0}, {1}}));
    REQUIRE(rig.on(broken).size() == 2);
    rig.down(broken);
    CHECK(rig.asked(Kind::kFenceLocal, broken) == 1);
    CHECK(rig.asked(Kind::kFenceRemote, broken) == 1);
    CHECK(rig.on(other).size() == 2);  // the copies do not wait
    rig.land_all();
    CHECK(job.landed == 2000);
    CHECK(rig.finished.empty());
    here_first ? rig.fenced_here(broken) : rig.fenced_there(broken, 0);
    CHECK(rig.finished.empty());
    CHECK(job.unsettled == 2);
    here_first ? rig.fenced_there(broken, 0) : rig.fenced_here(broken);
    CHECK(rig.finished == std::vector<Job*>{&job});
    CHECK(job.outcome == Cause::kNone);
    CHECK(job.first_cause == Cause::kConnectionReset);
    CHECK(job.tallies[0].failures == 2);
    CHECK(job.tallies[1].bytes == 2000);
  }
}

TEST_CASE("A read waits for no peer: its memory is at this end") {
  Rig rig(2);
  const LaneIndex broken = rig.read(0);
  Job& job = rig.start(2000, thousands({{0}, {1}}), Operation::kRead);
  REQUIRE(rig.on(broken).size() == 2);
  rig.down(broken);
  CHECK(rig.asked(Kind::kFenceLocal, broken) == 1);
  CHECK(rig.asked(Kind::kFenceRemote, broken) == 0);
  rig.land_all();
  CHECK(rig.finished.empty());
  rig.fenced_here(broken);
  CHECK(rig.finished == std::vector<Job*>{&job});
}

TEST_CASE("A broken lane without attempts is fenced at this end only") {
  Rig rig(1);
  rig.start(1000, thousands({{0}}));
  rig.land_all();
  rig.down(rig.write(0));
  CHECK(rig.asked(Kind::kFenceLocal, rig.write(0)) == 1);
  CHECK(rig.asked(Kind::kFenceRemote, rig.write(0)) == 0);
}

TEST_CASE("What FENCED reports as placed has landed and is not sent again") {
  Rig rig(1);
  const LaneIndex lane = rig.write(0);
  Job& job = rig.start(3000, thousands({{0}}));
  rig.land(lane, 1);
  rig.down(lane);
  rig.fenced_there(lane, 3);
  CHECK(job.landed == 1000);  // this end may still read the source
  rig.fenced_here(lane);
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.landed == 3000);
  CHECK(job.tallies[0].bytes == 3000);
  CHECK(job.retries == 0);
  CHECK(rig.posted.size() == 3);
  CHECK(rig.executor.slices_outstanding() == 0);  // their places in the retry queue are gone
}

TEST_CASE("What FENCED reports as refused, and what it does not reach, is sent again") {
  Rig rig(1);
  const LaneIndex lane = rig.write(0);
  Job& job = rig.start(4000, thousands({{0}}));
  rig.down(lane);
  rig.fenced_here(lane);
  rig.fenced_there(lane, 3, {1});  // 0 and 2 were placed, 1 refused, 3 never came
  CHECK(job.landed == 2000);
  rig.recover(lane);
  const std::vector<Attempt> posted = rig.on(lane);
  REQUIRE(posted.size() == 6);
  CHECK(posted[4].offset == 1000);
  CHECK(posted[5].offset == 3000);
  CHECK(posted[4].generation == 2);
  CHECK(posted[4].seq == 6);  // the count goes on, over the probes too
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.retries == 2);
}

TEST_CASE("Bytes that landed twice count once, for the rail that was first") {
  Rig rig(2);
  Job& job = rig.start(1000, thousands({{0}, {1}}));
  rig.down(rig.write(0));
  rig.land(rig.write(1), 0);  // the copy
  rig.fenced_here(rig.write(0));
  rig.fenced_there(rig.write(0), 1);  // and the original
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.landed == 1000);
  CHECK(job.tallies[0].bytes == 0);
  CHECK(job.tallies[1].bytes == 1000);
}

TEST_CASE("A copy that is still on its way keeps the transfer open, though the original landed") {
  Rig rig(2);
  Job& job = rig.start(1000, thousands({{0}, {1}}));
  rig.down(rig.write(0));
  rig.fenced_here(rig.write(0));
  rig.fenced_there(rig.write(0), 1);
  CHECK(job.landed == 1000);
  CHECK(rig.finished.empty());
  rig.land(rig.write(1), 0);
  CHECK(rig.finished == std::vector<Job*>{&job});
}

TEST_CASE("FENCED that is stale, repeated or unasked-for has no effect") {
  Rig rig(1);
  const LaneIndex lane = rig.write(0);
  Executor& executor = rig.executor;
  Job& job = rig.start(1000, thousands({{0}}));
  executor.on_remote_fenced(lane, 2, 1, {}, rig.now);  // the lane works
  CHECK(job.landed == 0);
  rig.down(lane);
  executor.on_remote_fenced(lane, 1, 1, {}, rig.now);  // of an earlier fence
  CHECK(executor.lane(lane).remote_fence_due);
  rig.fenced_there(lane, 0);
  rig.fenced_there(lane, 1);  // again, and different: the first one counts
  rig.fenced_here(lane);
  CHECK(job.landed == 0);
  rig.recover(lane);
  REQUIRE(executor.lane(lane).state == LaneState::kUp);
  executor.on_remote_fenced(lane, 2, 5, {}, rig.now);  // of the generation before
  CHECK(job.landed == 0);
  rig.down(lane);
  executor.on_remote_fenced(lane, 2, 5, {}, rig.now);
  CHECK(executor.lane(lane).remote_fence_due);
  rig.fenced_there(lane, executor.lane(lane).next);
  rig.fenced_here(lane);
  CHECK(rig.finished == std::vector<Job*>{&job});
}

TEST_CASE("An acknowledgement that comes in between the fences counts once") {
  Rig rig(1);
  const LaneIndex lane = rig.write(0);
  Job& job = rig.start(2000, thousands({{0}}));
  rig.down(lane);
  rig.fenced_there(lane, 2);
  rig.land(lane, 0);
  CHECK(job.landed == 1000);
  rig.fenced_here(lane);
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.landed == 2000);
}

TEST_CASE("Attempts that no rail took need no fence and are not charged") {
  Rig rig(2);
  const LaneIndex lane = rig.write(0);
  rig.takes[lane] = 1;
  planner::Plan plan = thousands({{0}, {1}});
  plan.attempts_max = 2;
  Job& job = rig.start(3000, plan);
  CHECK(rig.on(lane).size() == 1);
  rig.down(lane);
  CHECK(job.tallies[0].attempts == 1);
  CHECK(rig.on(rig.write(1)).size() == 3);
  rig.fenced_here(lane);
  rig.fenced_there(lane, 0);
  rig.fail(rig.write(1), 0, Cause::kChecksum);
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
}

TEST_CASE("A lane that broke while attempts waited to be handed over works again later") {
  Rig rig(1);
  const LaneIndex lane = rig.write(0);
  rig.takes[lane] = 1;
  Job& job = rig.start(3000, thousands({{0}}));
  rig.takes.clear();
  rig.down(lane);
  rig.fenced_here(lane);
  rig.fenced_there(lane, 0);
  rig.recover(lane);
  CHECK(rig.executor.lane(lane).state == LaneState::kUp);
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
}

// --- the peer's end, and our own -------------------------------------------------------

TEST_CASE("A dead peer's transfers fail with the cause, fenced at this end alone") {
  Rig rig(1);
  Job& write = rig.start(2000, thousands({{0}}));
  Job& read = rig.start(2000, thousands({{0}}), Operation::kRead);
  rig.land(rig.write(0), 0);
  rig.executor.on_peer_gone(rig.peer, Cause::kPeerRestarted, rig.now);
  rig.cycle();
  CHECK(rig.finished.empty());
  rig.fenced_here(rig.write(0));
  CHECK(rig.finished == std::vector<Job*>{&write});
  rig.fenced_here(rig.read(0));
  CHECK(rig.finished == std::vector<Job*>{&write, &read});
  CHECK(write.outcome == Cause::kPeerRestarted);
  CHECK(read.outcome == Cause::kPeerRestarted);
  CHECK(write.landed == 1000);
  REQUIRE(write.unlanded.size() == 1);
  CHECK(write.unlanded[0].begin.offset == 1000);
  CHECK(write.unlanded[0].posted);
  Job& next = rig.start(1000, thousands({{0}}));  // to its successor, without a wait
  rig.land_all();
  CHECK(rig.finished.back() == &next);
}

TEST_CASE("A fence that waits for a peer ends with the peer") {
  Rig rig(1);
  Job& job = rig.start(2000, thousands({{0}}));
  rig.down(rig.write(0));
  rig.fenced_here(rig.write(0));
  CHECK(rig.executor.lane(rig.write(0)).state == LaneState::kFencing);
  rig.executor.on_peer_gone(rig.peer, Cause::kPeerGone, rig.now);
  rig.cycle();
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kPeerGone);
}

TEST_CASE("A peer's end is nobody else's") {
  Rig rig(1);
  const PeerIndex other = rig.executor.add_peer(std::vector<Executor::RailSpec>(1)).value();
  Job& job = rig.start(2000, thousands({{0}}));
  rig.executor.on_peer_gone(other, Cause::kPeerGone, rig.now);
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kNone);
}

TEST_CASE("Stopping cancels what runs and fences every lane") {
  Rig rig(2);
  rig.connects = false;
  Job& moving = rig.start(2000, thousands({{0}}));
  Job& waiting = rig.start(2000, thousands({{1}}));
  rig.up(rig.write(0));
  rig.cycle();
  rig.executor.stop(rig.now);
  rig.cycle();
  CHECK(rig.finished == std::vector<Job*>{&waiting});
  CHECK(rig.asked(Kind::kFenceLocal, rig.write(0)) == 1);
  CHECK(rig.asked(Kind::kFenceRemote, rig.write(0)) == 1);
  CHECK(rig.asked(Kind::kFenceLocal, rig.write(1)) == 1);
  CHECK(rig.asked(Kind::kFenceRemote, rig.write(1)) == 0);
  rig.fenced_here(rig.write(0));
  rig.fenced_there(rig.write(0), 1);
  CHECK(rig.finished == std::vector<Job*>{&waiting, &moving});
  CHECK(moving.outcome == Cause::kShutDown);
  CHECK(moving.landed == 1000);
  CHECK(rig.executor.running() == 0);
  CHECK(rig.executor.slices_outstanding() == 0);
}

}  // namespace
}  // namespace spindrift::executor
