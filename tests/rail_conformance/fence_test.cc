// After a fence nothing of an older generation touches memory, and the report of
// the responder is the truth.
#include <catch2/catch.hpp>

#include <algorithm>

#include "rig.h"

namespace spindrift::conformance {
namespace {

constexpr std::size_t kSlice = 200 * kKiB;
constexpr std::size_t kSlices = 100;

Range slice_range(AttemptSeq seq) {
  const auto i = static_cast<std::size_t>(seq);
  return {i * kSlice, i * kSlice, kSlice};
}

// Posts all slices and stops somewhere in the middle.
void start_load(Rig& rig, std::size_t settled_wanted) {
  rig.connect();
  for (std::size_t i = 0; i < kSlices; ++i) {
    REQUIRE(rig.post_raw({rig.make_attempt({slice_range(i)})}) == 1);
  }
  rig.run_until([&] { return rig.checker.settled() >= settled_wanted; }, "some have landed");
}

TEST_CASE("a write that is fenced under load: the report is true and memory stays") {
  const std::size_t settled_wanted = GENERATE(0u, 1u, 7u, 40u);
  CAPTURE(settled_wanted);
  Rig rig(Operation::kWrite, kSlice * kSlices);
  const Memory before(kSlice * kSlices, 1);  // what local held when it was posted
  start_load(rig, settled_wanted);

  rig.fence_local(1);
  rig.local.fill(std::byte{0xdd});  // the source is the caller's again
  if (settled_wanted % 2 == 1) rig.poll_responder();
  const rails::InboundFenceReport report = rig.fence_remote(2);
  rig.remote.accept();
  CHECK(report.refused.empty());
  CHECK(report.settled_end <= kSlices);
  for (AttemptSeq seq = 0; seq < kSlices; ++seq) {
    const Range range = slice_range(seq);
    // What the initiator heard of as landed is in the report as well.
    if (rig.checker.outcome(seq) == Cause::kNone) CHECK(seq < report.settled_end);
    if (seq < report.settled_end) {
      CHECK(std::equal(rig.remote.at(range.remote), rig.remote.at(range.remote) + range.length,
                       const_cast<Memory&>(before).at(range.local)));
    }
  }
  CHECK_FALSE(rig.remote.holds_run_of(std::byte{0xdd}));
  for (int i = 0; i < 50; ++i) rig.step();
  CHECK(rig.remote.intact());

  const rails::InboundFenceReport again = rig.fence_remote(2);
  CHECK(again.settled_end == report.settled_end);
  CHECK(again.refused == report.refused);
  rig.verify();
}

TEST_CASE("a read that is fenced under load needs nobody else") {
  Rig rig(Operation::kRead, kSlice * kSlices);
  start_load(rig, 5);
  rig.fence_local(1);
  rig.local.fill(std::byte{0xcc});
  for (int i = 0; i < 50; ++i) rig.step();
  CHECK(rig.local.intact());
  rig.verify();
}

TEST_CASE("the responder alone fences a lane that its initiator still uses") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  Rig rig(direction, kSlice * kSlices);
  start_load(rig, 3);
  const rails::InboundFenceReport report = rig.fence_remote(2);
  rig.remote.accept();
  rig.run_until([&] { return rig.checker.down(); }, "the initiator noticed");
  CHECK(rig.remote.intact());
  if (direction == Operation::kWrite) CHECK(report.settled_end >= 3);
  rig.fence_local(1);
  rig.local.accept();
  rig.verify();
}

TEST_CASE("a fenced generation is never adopted again, nor one that waited in a queue") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  Rig rig(direction, 4096);
  // A hello on its way: connected, not yet adopted, when the fence comes.
  Ground::Ends queued = rig.ground().link(rig.lane(), rig.id());
  Ground::Ends late = rig.ground().link(rig.lane(), rig.id());
  const rails::InboundFenceReport report = rig.fence_remote(3);
  CHECK(report.settled_end == 0);
  CHECK(rig.adopt(2, std::move(queued.responder)).code() == Code::kProtocol);
  CHECK(rig.ground().answer(queued.initiator) == LaneAnswer::kStaleGeneration);
  CHECK(rig.adopt(0, std::move(late.responder)).code() == Code::kProtocol);
  CHECK(rig.ground().answer(late.initiator) == LaneAnswer::kStaleGeneration);
  rig.connect(3);
  REQUIRE(rig.post({{1, 2, 3000}}));
  rig.settle(1);
  rig.verify();
}

TEST_CASE("a generation is adopted once") {
  Rig rig(Operation::kWrite, 4096);
  rig.connect(5);
  Ground::Ends twin = rig.ground().link(rig.lane(), rig.id());
  CHECK(rig.adopt(5, std::move(twin.responder)).code() == Code::kProtocol);
  CHECK(rig.ground().answer(twin.initiator) == LaneAnswer::kStaleGeneration);
  REQUIRE(rig.post({{1, 2, 3000}}));
  rig.settle(1);
  rig.verify();
}

TEST_CASE("a newer generation takes the older one's place, and each has its report") {
  Rig rig(Operation::kWrite, 64 * kKiB);
  rig.connect(1);
  REQUIRE(rig.post({{0, 0, 100}}));
  REQUIRE(rig.post({{200, 200, 100}}));
  rig.settle(2);
  // Lost with the old generation, or placed just before its end.
  REQUIRE(rig.post({{200, 200, 100}}));
  REQUIRE(rig.post({{200, 200, 100}}));
  rig.fence_local(1);

  rig.connect(4);
  REQUIRE(rig.post({{400, 400, 100}}));
  rig.run_until([&] { return rig.checker.outcome(4).has_value(); }, "it landed");
  // Asked late for what was before generation 4: what came since is not in it.
  const rails::InboundFenceReport older = rig.fence_remote(2);
  CHECK(older.settled_end >= 2);
  CHECK(older.settled_end <= 4);
  CHECK(older.refused.empty());
  // The running generation is not disturbed by it.
  REQUIRE(rig.post({{600, 600, 100}}));
  rig.run_until([&] { return rig.checker.outcome(5).has_value(); }, "it landed");
  const rails::InboundFenceReport newer = rig.fence_remote(5);
  CHECK(newer.settled_end == 6);
  std::vector<AttemptSeq> lost;
  for (AttemptSeq seq = older.settled_end; seq < 4; ++seq) lost.push_back(seq);
  CHECK(newer.refused == lost);  // never placed, never will be
  rig.run_until([&] { return rig.checker.down(); }, "the fence was noticed");
  rig.verify();
}

TEST_CASE("a fence is answered on a lane that never connected, broke, or is fenced") {
  Rig rig(Operation::kWrite, 4096);
  rig.fence_local(3);
  rig.connect(4);
  (void)rig.fence_remote(5);
  rig.run_until([&] { return rig.checker.down(); }, "the lane broke");
  rig.fence_local(4);
  rig.fence_local(4);
  rig.connect(5);
  REQUIRE(rig.post({{0, 9, 99}}));
  rig.settle(1);
  rig.verify();
}

TEST_CASE("no event of the old generation comes after its fence") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  Rig rig(direction, kSlice * kSlices, 2);  // so that events are always waiting
  start_load(rig, 1);
  for (int i = 0; i < 10; ++i) rig.poll_responder();
  rig.fence_local(1);
  (void)rig.fence_remote(2);
  rig.local.accept();
  rig.remote.accept();
  rig.connect(2);
  REQUIRE(rig.post({{3, 4, 50'000}}));
  const AttemptSeq last = rig.next_seq() - 1;
  rig.run_until([&] { return rig.checker.outcome(last).has_value(); }, "the new one landed");
  rig.verify();
}

TEST_CASE("a session that ends takes its lanes along, and a new one starts afresh") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  Rig rig(direction, kSlice * kSlices);
  start_load(rig, 2);
  rig.responder().drop_inbound(kSession);
  rig.remote.accept();
  rig.run_until([&] { return rig.checker.down(); }, "the initiator noticed");
  CHECK(rig.remote.intact());
  rig.fence_local(1);
  rig.local.accept();
  CHECK(rig.fence_remote(0).settled_end == 0);  // nothing is remembered
  rig.connect(1 + 1);
  REQUIRE(rig.post({{3, 4, 50'000}}));
  const AttemptSeq last = rig.next_seq() - 1;
  rig.run_until([&] { return rig.checker.outcome(last).has_value(); }, "the new one landed");
  rig.verify();
}

TEST_CASE("news that no peer sends wakes a sleeping worker as well") {
  Rig rig(Operation::kWrite, 4096);
  rig.run_dry();
  rig.initiator().fence_lane(rig.lane(), 0);
  rig.checker.on_fence(0);
  CHECK(rig.ground().wait(std::chrono::seconds(1)));
  rig.poll_initiator();
  CHECK(rig.checker.fence_told());
  rig.connect_unawaited(1);
  CHECK(rig.ground().wait(Duration(0)));
  rig.poll_initiator();
  CHECK(rig.checker.up());
  rig.run_dry();  // and it sleeps again, or this would not end
  rig.verify();
}

TEST_CASE("a lane that was fenced before its connection arrived stays silent") {
  Rig rig(Operation::kWrite, 4096);
  Ground::Ends ends = rig.ground().link(rig.lane(), rig.id());
  REQUIRE(rig.adopt(1, std::move(ends.responder)).ok());
  REQUIRE(rig.ground().answer(ends.initiator) == LaneAnswer::kAdopted);
  rig.fence_local(1);
  rig.initiator().connect_lane(rig.lane(), 1, 0, std::move(ends.initiator));
  for (int i = 0; i < 5; ++i) rig.step();  // the checker allows no event now
  rig.connect(2);
  rig.verify();
}

}  // namespace
}  // namespace spindrift::conformance
