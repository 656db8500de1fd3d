// Binding: when lanes open, which lane takes which slice of which transfer, and
// how large it is.
#include "executor/executor.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "rig.h"

namespace spindrift::executor {
namespace {

using Kind = LaneAction::Kind;
using Sizes = std::vector<std::uint64_t>;

TEST_CASE("A transfer of no bytes is finished at once and opens no lane") {
  Rig rig(2);
  Job& job = rig.start(0, plan_of({{0, 1}}));
  CHECK(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kNone);
  CHECK(job.finished_at == rig.now);
  CHECK(rig.actions.empty());
  CHECK(rig.executor.running() == 0);
  CHECK(rig.executor.next_deadline() == kNever);
}

TEST_CASE("Lanes are opened by the first transfer that may use them") {
  Rig rig(3);
  CHECK(rig.actions.empty());
  Job& job = rig.start(1000, plan_of({{0, 2}}));
  CHECK(rig.asked(Kind::kOpen, rig.write(0)) == 1);
  CHECK(rig.asked(Kind::kOpen, rig.write(1)) == 0);  // not in the plan
  CHECK(rig.asked(Kind::kOpen, rig.write(2)) == 1);
  CHECK(rig.asked(Kind::kOpen, rig.read(0)) == 0);  // the other direction
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
  rig.start(1000, plan_of({{0, 2}}));
  CHECK(rig.asked(Kind::kOpen, rig.write(0)) == 1);  // still open
}

TEST_CASE("Nothing is cut before a lane is up") {
  Rig rig(1);
  rig.connects = false;
  Job& job = rig.start(5000, plan_of({{0}}));
  CHECK(rig.posted.empty());
  CHECK(rig.executor.slices_outstanding() == 0);
  CHECK(job.first_post == kNever);
  rig.up(rig.write(0));
  rig.pass(milliseconds(1));
  CHECK(rig.sizes_on(rig.write(0)) == Sizes{2000, 2000, 1000});
  CHECK(job.first_post == rig.now);
}

TEST_CASE("A transfer reports what it moved, over which rail") {
  Rig rig(2);
  Job& job = rig.start(8000, plan_of({{0, 1}}));
  rig.pass(milliseconds(3));
  rig.land_all();
  REQUIRE(rig.finished == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kNone);
  CHECK(job.landed == 8000);
  CHECK(job.unlanded.empty());
  CHECK(job.retries == 0);
  CHECK(job.finished_at == rig.now);
  CHECK(job.slices == job.tallies[0].attempts + job.tallies[1].attempts);
  CHECK(job.tallies[0].bytes + job.tallies[1].bytes == 8000);
  CHECK(job.tallies[0].bytes > 0);
  CHECK(job.tallies[1].bytes > 0);
  CHECK(rig.executor.slices_outstanding() == 0);
}

TEST_CASE("Attempts cover the transfer exactly, in order, and carry the lane's numbers") {
  Rig rig(1);
  rig.start(9000, plan_of({{0}}));
  rig.land_all();
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < rig.posted.size(); ++i) {
    const Attempt& attempt = rig.posted[i];
    CHECK(attempt.seq == i);
    CHECK(attempt.generation == 1);
    CHECK(attempt.offset == at);
    at += attempt.bytes;
  }
  CHECK(at == 9000);
}

TEST_CASE("A lane takes slices until its window is full, and one more for each that lands") {
  Rig rig(1);
  rig.start(1'000'000, plan_of({{0}}, 1000, 1000));
  const Lane& lane = rig.executor.lane(rig.write(0));
  CHECK(lane.window == 6250);
  CHECK(lane.outstanding == 7000);  // the last one began inside the window
  rig.land(rig.write(0), 0);
  CHECK(lane.outstanding == 7000);
  CHECK(rig.posted.size() == 8);
}

TEST_CASE("Progress inside a slice makes room as well") {
  Rig rig(1);
  rig.start(1'000'000, plan_of({{0}}, 7000, 7000));
  const LaneIndex lane = rig.write(0);
  CHECK(rig.sizes_on(lane) == Sizes{7000, 7000});  // two slices, though larger than 2 ms
  rig.event(lane, RailEventKind::kProgress, 1000);
  rig.cycle();
  CHECK(rig.posted.size() == 3);
  CHECK(rig.executor.lane(lane).queued() == 20'000);
}

TEST_CASE("A long round trip widens the window") {
  Rig rig(1);
  rig.start(1'000'000, plan_of({{0}}, 1000, 1000));
  rig.event(rig.write(0), RailEventKind::kRoundTrip, 8'000'000);
  rig.executor.set_jitter(milliseconds(3));
  rig.land(rig.write(0), 0);
  // 1.25 * 1 MB/s * (8 + 2 * 2 + 3) ms
  CHECK(rig.executor.lane(rig.write(0)).window == 18'750);
  CHECK(rig.executor.lane(rig.write(0)).outstanding == 19'000);
}

TEST_CASE("A lane keeps two slices in flight even if each takes long") {
  ExecutorOptions options = Rig::options();
  options.initial_rate = Rate{10};  // bytes per second
  Rig rig(1, options);
  rig.start(100'000, plan_of({{0}}, 5000, 5000));
  CHECK(rig.sizes_on(rig.write(0)) == Sizes{5000, 5000});
  rig.pass(seconds(500));
  rig.land(rig.write(0), 0);
  CHECK(rig.posted.size() == 3);
}

TEST_CASE("No more attempts are outstanding than the option and the rail allow") {
  struct Case {
    std::uint32_t option, rail;
    std::size_t outstanding;
  };
  for (const Case& c : {Case{5, 64, 5}, Case{64, 6, 6}, Case{1, 1, 1}}) {
    ExecutorOptions options = Rig::options();
    options.attempts_per_lane = c.option;
    RailCapabilities rail;
    rail.attempts_max = c.rail;
    Rig rig(1, options, rail);
    rig.start(100'000, plan_of({{0}}, 100, 100));
    CHECK(rig.posted.size() == c.outstanding);
    rig.land(rig.write(0), 0);
    CHECK(rig.posted.size() == c.outstanding + 1);
  }
}

TEST_CASE("Slices are as large as the lane's speed asks for, within the bounds") {
  Rig rig(2);
  rig.rate(rig.write(1), Rate{4'000'000});
  rig.start(1'000'000, plan_of({{0, 1}}, 100, 5000));
  CHECK(rig.sizes_on(rig.write(0)).front() == 2000);
  CHECK(rig.sizes_on(rig.write(1)).front() == 5000);  // 8000 but for the bound
}

TEST_CASE("No slice is larger than any rail of the plan can carry") {
  RailCapabilities rail;
  rail.slice_max = 700;
  rail.ranges_max = 3;
  Rig rig(1, Rig::options(), rail);
  for (const policies::Spray spray :
       {policies::Spray::kLeastCompletion, policies::Spray::kRoundRobin, policies::Spray::kWeighted,
        policies::Spray::kSingle}) {
    planner::Plan plan = plan_of({{0}}, 1000, 5000);  // a policy that asks for more
    plan.spray = spray;
    Job& job = rig.make({500, 10, 10, 10, 10, 5000, 1}, plan);
    rig.start(job);
    rig.land_all();
    CHECK(job.landed == 5541);
  }
  CHECK(rig.finished.size() == 4);
  for (const Attempt& attempt : rig.posted) {
    CHECK(attempt.bytes <= 700);
    CHECK(attempt.ranges <= 3);
  }
}

TEST_CASE("Slices shrink towards the end, so that equal rails finish together") {
  Rig rig(2);
  Job& job = rig.start(12'000, plan_of({{0, 1}}, 100, 1'000'000));
  rig.land_all();
  CHECK(job.outcome == Cause::kNone);
  std::vector<Attempt> cuts = rig.posted;  // in the order of cutting
  std::sort(cuts.begin(), cuts.end(),
            [](const Attempt& a, const Attempt& b) { return a.offset < b.offset; });
  Sizes sizes;
  for (const Attempt& attempt : cuts) sizes.push_back(attempt.bytes);
  CHECK(std::is_sorted(sizes.rbegin(), sizes.rend()));
  // A quarter of what is left each time: half of a rail's half.
  CHECK(Sizes(sizes.begin(), sizes.begin() + 5) == Sizes{2000, 2000, 2000, 1500, 1125});
  CHECK(sizes[sizes.size() - 2] == 100);
  CHECK(sizes.back() <= 100);
}

TEST_CASE("Small descriptors share a slice, up to the ranges that a rail takes") {
  RailCapabilities rail;
  rail.ranges_max = 4;
  Rig rig(1, Rig::options(), rail);
  Job& job = rig.make({50, 50, 50, 50, 50, 50, 50, 50, 50, 50}, plan_of({{0}}));
  rig.start(job);
  CHECK(rig.sizes_on(rig.write(0)) == Sizes{200, 200, 100});
  CHECK(rig.posted[1].ranges == 4);
  CHECK(rig.posted[1].descriptors == job.descriptors.data() + 4);
  CHECK(rig.posted[2].ranges == 2);
}

TEST_CASE("A slow rail gets no last slice; it is offered the next transfer instead") {
  Rig rig(2);
  const LaneIndex slow = rig.write(0), fast = rig.write(1);
  rig.rate(fast, Rate{10'000'000});
  // The fast rail's window is full when 9091 bytes are left, which the slow one
  // would finish after 9 ms and the fast one, its queue included, after 7.5.
  Job& first = rig.start(75'000, plan_of({{0, 1}}, 10'000));
  CHECK(first.unbound == 9091);
  CHECK(rig.on(slow).empty());
  rig.pass(milliseconds(1));
  Job& second = rig.start(100'000, plan_of({{0, 1}}, 1000));
  REQUIRE_FALSE(rig.on(slow).empty());
  for (const Attempt& attempt : rig.on(slow)) {
    CHECK(attempt.descriptors == second.descriptors.data());
  }
  rig.land(fast, 0);
  CHECK(first.unbound == 0);  // the fast one it was
}

TEST_CASE("Equal rails do not leave the last slice to each other") {
  for (std::size_t rails = 2; rails <= 8; ++rails) {
    Rig rig(rails);
    std::vector<RailOrdinal> tier(rails);
    std::iota(tier.begin(), tier.end(), RailOrdinal{0});
    Job& job = rig.start(1000, plan_of({tier}, 1000));
    INFO(rails << " rails");
    CHECK(rig.sizes_on(rig.write(0)) == Sizes{1000});
    rig.land_all();
    CHECK(rig.finished == std::vector<Job*>{&job});
  }
}

TEST_CASE("A rail that was not looked at for 100 ms gets one small slice, never in the tail") {
  Rig rig(2);
  const LaneIndex slow = rig.write(0), fast = rig.write(1);
  rig.rate(fast, Rate{100'000'000});
  // Four times both windows are 2.82 MB; more than that is left when the fast
  // rail is full. A slice of 40,000 bytes takes the slow rail 40 ms: refused.
  Job& job = rig.start(3'800'000, plan_of({{0, 1}}, 40'000));
  CHECK(job.unbound == 2'960'000);
  CHECK(rig.sizes_on(slow) == Sizes{40'000});  // never looked at before
  // The machine is to blame for the silence, so that no rail is suspect.
  const auto pass = [&rig](Duration span) {
    rig.executor.on_blackout(span);
    rig.pass(span);
  };
  pass(milliseconds(200));
  CHECK(rig.on(slow).size() == 1);  // one at a time
  rig.land(slow, 0);
  pass(milliseconds(99));
  CHECK(rig.on(slow).size() == 1);
  pass(milliseconds(1));
  CHECK(rig.sizes_on(slow) == Sizes{40'000, 40'000});
  rig.land(fast, 0);  // another slice of 200,000 bytes follows
  CHECK(job.unbound == 2'720'000);
  rig.land(slow, 1);
  pass(milliseconds(500));
  CHECK(rig.on(slow).size() == 2);
}

TEST_CASE("Short transfers pass long ones, and equal ones keep their order") {
  Rig rig(1);
  rig.connects = false;
  Job& elephant = rig.start(2'000'000'000, plan_of({{0}}, 1000, 1000));
  rig.pass(milliseconds(1));
  Job& second = rig.start(1000, plan_of({{0}}, 1000, 1000));
  Job& third = rig.start(1000, plan_of({{0}}, 1000, 1000));
  rig.up(rig.write(0));
  rig.cycle();
  REQUIRE(rig.posted.size() == 7);
  CHECK(rig.posted[0].descriptors == second.descriptors.data());
  CHECK(rig.posted[1].descriptors == third.descriptors.data());
  CHECK(rig.posted[2].descriptors == elephant.descriptors.data());
}

TEST_CASE("Transfers that wait for a dead rail hold up none that go elsewhere") {
  ExecutorOptions options = Rig::options();
  options.transfers_max = 300;
  Rig rig(2, options);
  rig.connects = false;
  for (int i = 0; i < 200; ++i) rig.start(1000, plan_of({{0}}, 1000, 1000));
  rig.pass(milliseconds(1));
  Job& other = rig.start(1000, plan_of({{1}}, 1000, 1000));
  rig.up(rig.write(1));
  rig.cycle();
  REQUIRE(rig.posted.size() == 1);
  CHECK(rig.posted[0].descriptors == other.descriptors.data());
}

TEST_CASE("Peers take turns when the cycle's posts do not suffice for all") {
  ExecutorOptions options = Rig::options();
  options.posts_per_cycle = 3;
  Rig rig(1, options);
  const std::vector<Executor::RailSpec> rail(1);
  const PeerIndex other = rig.executor.add_peer(rail).value();
  Job& a = rig.make({100'000}, plan_of({{0}}, 1000, 1000));
  Job& b = rig.make({100'000}, plan_of({{0}}, 1000, 1000));
  b.peer = other;
  rig.connects = false;
  rig.start(a);
  rig.start(b);
  for (const PeerIndex peer : {rig.peer, other}) {
    rig.up(rig.executor.lane_of(peer, 0, Operation::kWrite));
  }
  CHECK(rig.executor.advance(rig.now));  // there is more to do
  CHECK(rig.executor.slices_outstanding() == 3);
  CHECK(rig.executor.advance(rig.now));
  CHECK(rig.executor.slices_outstanding() == 6);
  CHECK(a.slices == 3);
  CHECK(b.slices == 3);
}

TEST_CASE("A rail that takes fewer attempts than it is offered gets the rest later, in order") {
  Rig rig(1);
  const LaneIndex lane = rig.write(0);
  rig.takes[lane] = 2;
  rig.start(7000, plan_of({{0}}, 1000, 1000));
  CHECK(rig.posted.size() == 2);
  rig.cycle();
  CHECK(rig.posted.size() == 4);
  rig.takes[lane] = 0;
  rig.cycle();
  CHECK(rig.posted.size() == 4);
  rig.takes.clear();
  rig.cycle();
  REQUIRE(rig.posted.size() == 7);
  for (std::size_t i = 0; i < 7; ++i) CHECK(rig.posted[i].seq == i);
}

TEST_CASE("Over transfers_max a transfer is refused untouched, and taken once there is room") {
  ExecutorOptions options = Rig::options();
  options.transfers_max = 2;
  Rig rig(1, options);
  rig.start(1000, plan_of({{0}}));
  rig.start(1000, plan_of({{0}}));
  Job& third = rig.make({1000}, plan_of({{0}}));
  CHECK(rig.executor.start(&third, rig.now).code() == Code::kBusy);
  CHECK(third.unbound == 0);
  rig.executor.cancel(&third, Cause::kCancelled, rig.now);  // no effect
  CHECK(third.outcome == Cause::kNone);
  CHECK(rig.executor.running() == 2);
  rig.land(rig.write(0), 0);
  CHECK(rig.executor.start(&third, rig.now).ok());
}

TEST_CASE("Over lanes_max, or with more rails than a peer may have, a peer is refused") {
  Rig rig(16);  // 32 of 64 lanes
  const std::vector<Executor::RailSpec> too_many(17), enough(16);
  CHECK(rig.executor.add_peer(too_many).code() == Code::kBusy);
  CHECK(rig.executor.lane_count() == 32);
  CHECK(rig.executor.add_peer(enough).ok());
  CHECK(rig.executor.lane_count() == 64);
  ExecutorOptions options = Rig::options();
  options.lanes_max = 4096;
  Executor roomy(options, 1);
  CHECK(roomy.add_peer(std::vector<Executor::RailSpec>(65)).code() == Code::kBusy);
  CHECK(roomy.add_peer(std::vector<Executor::RailSpec>(64)).ok());
}

TEST_CASE("Without slices left nothing is cut, and a landed slice makes room") {
  ExecutorOptions options = Rig::options();
  options.slices_max = 3;
  Rig rig(2, options);
  Job& job = rig.start(10'000, plan_of({{0, 1}}, 1000, 1000));
  CHECK(rig.executor.slices_outstanding() == 3);
  CHECK(rig.posted.size() == 3);
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
}

TEST_CASE("Slices that wait for a retry are retried when they are all that there are") {
  ExecutorOptions options = Rig::options();
  options.slices_max = 2;
  Rig rig(1, options);
  Job& job = rig.start(10'000, plan_of({{0}}, 1000, 1000));
  REQUIRE(rig.posted.size() == 2);
  rig.event(rig.write(0), RailEventKind::kFailed, 0, Cause::kChecksum);
  rig.event(rig.write(0), RailEventKind::kFailed, 1, Cause::kChecksum);
  rig.cycle();
  CHECK(rig.posted.size() == 4);
  rig.land_all();
  CHECK(rig.finished == std::vector<Job*>{&job});
}

}  // namespace
}  // namespace spindrift::executor
