#include "executor/worker.h"

#include <string>

#include <catch2/catch.hpp>

#include "rig.h"

namespace spindrift::executor {
namespace {

// Writes down what a worker asks of it and reports the events that a test wants.
class ScriptedDriver final : public rails::RailDriver {
 public:
  explicit ScriptedDriver(Transport transport) : transport_(transport) {}

  Transport transport() const override { return transport_; }
  const RailCapabilities& capabilities() const override { return capabilities_; }
  Status add_lane(const rails::LaneSpec& spec) override {
    lanes.push_back(spec.lane);
    return {};
  }
  void remove_lane(LaneIndex) override {}
  void connect_lane(LaneIndex lane, Generation generation, AttemptSeq first_seq,
                    rails::LaneEndpoint) override {
    calls.push_back("connect " + std::to_string(lane) + " g" + std::to_string(generation) +
                    " from " + std::to_string(first_seq));
    events.push_back(
        {.kind = RailEventKind::kLaneUp, .lane = lane, .generation = generation, .value = 0});
  }
  std::size_t post(LaneIndex, std::span<const Attempt> attempts) override {
    ++posts;
    posted.insert(posted.end(), attempts.begin(), attempts.end());
    return attempts.size();
  }
  void fence_lane(LaneIndex lane, Generation generation) override {
    calls.push_back("fence " + std::to_string(lane) + " g" + std::to_string(generation));
    events.push_back(
        {.kind = RailEventKind::kLocalFenced, .lane = lane, .generation = generation, .value = 0});
  }
  Status adopt(rails::InboundLane lane) override {
    calls.push_back("adopt g" + std::to_string(lane.generation));
    return Status(Code::kProtocol, "refused");
  }
  rails::InboundFenceReport fence_inbound(rails::InboundLaneId, Generation min) override {
    calls.push_back("fence inbound below g" + std::to_string(min));
    return inbound;
  }
  void drop_inbound(std::uint32_t peer) override {
    calls.push_back("drop " + std::to_string(peer));
  }
  void regions_changed() override { calls.push_back("regions changed"); }
  std::size_t poll(Instant, BoundedVector<RailEvent>& out) override {
    std::size_t count = 0;
    while (!events.empty() && out.push(events.front())) {
      events.pop_front();
      ++count;
    }
    return count;
  }
  int wait_fd() const override { return -1; }

  void land(LaneIndex lane, AttemptSeq seq) {
    events.push_back({.kind = RailEventKind::kLanded, .lane = lane, .generation = 1, .value = seq});
  }

  std::vector<LaneIndex> lanes;
  std::vector<std::string> calls;
  std::vector<Attempt> posted;
  std::size_t posts = 0;
  std::deque<RailEvent> events;
  rails::InboundFenceReport inbound;

 private:
  const Transport transport_;
  RailCapabilities capabilities_;
};

struct Bench final : WorkerPorts {
  explicit Bench(const ExecutorOptions& options = Rig::options(), WorkerOptions shell = {})
      : worker(options, shell, 1, *this) {
    for (ScriptedDriver** driver : {&tcp, &sim}) {
      auto made =
          std::make_unique<ScriptedDriver>(driver == &tcp ? Transport::kTcp : Transport::kSim);
      *driver = made.get();
      worker.add_driver(std::move(made));
    }
    AddPeer peer;
    peer.rails.resize(2);
    peer.rails[1].facts.transport = Transport::kSim;
    send(std::move(peer));
  }

  void connect_lane(PeerIndex peer, RailOrdinal rail, const LaneAction& action) override {
    asked.push_back("connect peer " + std::to_string(peer) + " rail " + std::to_string(rail));
    opened.push_back(action);
  }
  void fence_peer(PeerIndex peer, LaneIndex lane, Generation min) override {
    asked.push_back("fence peer " + std::to_string(peer) + " lane " + std::to_string(lane) +
                    " below g" + std::to_string(min));
  }
  void inbound_fenced(rails::InboundLaneId, Generation min,
                      const rails::InboundFenceReport& report) override {
    asked.push_back("fenced below g" + std::to_string(min) + " end " +
                    std::to_string(report.settled_end));
  }
  void finished(Job* job) override { done.push_back(job); }

  void send(Command command) { REQUIRE(worker.send(command)); }
  void work() {
    for (int i = 0; i < 100 && worker.do_work(now) > 0; ++i) {
    }
  }
  // A transfer of one descriptor over the given rail.
  Job& start(std::uint64_t bytes, RailOrdinal rail = 0) {
    Job& job = jobs.emplace_back();
    job.id = TransferId{jobs.size()};
    job.descriptors.push_back({.length = bytes});
    job.bytes = bytes;
    job.plan = std::make_shared<planner::Plan>(plan_of({{rail}}, 1000, 1000));
    job.submitted = now;
    send(StartJob{&job, nullptr, epoch});
    work();
    return job;
  }
  void connect(const LaneAction& action) {
    send(LaneConnected{action.lane, action.generation, {}});
    work();
  }

  Instant now{seconds(1)};
  ScriptedDriver* tcp = nullptr;
  ScriptedDriver* sim = nullptr;
  std::vector<std::string> asked;
  std::vector<LaneAction> opened;
  std::uint64_t epoch = 0;  // of the peer, for what is started
  std::vector<Job*> done;
  std::deque<Job> jobs;
  Worker worker;
};

using Texts = std::vector<std::string>;

TEST_CASE("A transfer goes from the inbox over a connected lane to its end") {
  Bench bench;
  Job& job = bench.start(3000, 1);
  CHECK(bench.asked == Texts{"connect peer 0 rail 1"});
  REQUIRE(bench.opened.size() == 1);
  const LaneIndex lane = bench.opened[0].lane;
  bench.connect(bench.opened[0]);
  CHECK(bench.sim->calls == Texts{"connect " + std::to_string(lane) + " g1 from 0"});
  CHECK(bench.tcp->calls.empty());
  REQUIRE(bench.sim->posted.size() == 3);
  CHECK(bench.sim->posts == 1);  // a batch
  for (AttemptSeq seq = 0; seq < 3; ++seq) bench.sim->land(lane, seq);
  bench.work();
  CHECK(bench.done == std::vector<Job*>{&job});
  CHECK(bench.worker.do_work(bench.now) == 0);  // idle
}

TEST_CASE("Lanes are given to the driver of their rail's transport") {
  Bench bench;
  bench.work();
  CHECK(bench.tcp->lanes == std::vector<LaneIndex>{0, 2});
  CHECK(bench.sim->lanes == std::vector<LaneIndex>{1, 3});
}

TEST_CASE("A connection that nobody waits for any more is closed unused") {
  Bench bench;
  bench.start(1000);
  LaneAction stale = bench.opened[0];
  stale.generation = 0;
  bench.connect(stale);
  CHECK(bench.tcp->calls.empty());
  bench.send(LaneFailed{stale.lane, 1, Cause::kConnectFailed});
  bench.work();
  CHECK(bench.tcp->calls == Texts{"fence 0 g1"});
  bench.connect(bench.opened[0]);  // it came through after all
  CHECK(bench.tcp->calls.size() == 1);
}

TEST_CASE("A broken write lane is fenced at both ends, from the next generation on") {
  Bench bench;
  Job& job = bench.start(1000);
  bench.connect(bench.opened[0]);
  bench.tcp->events.push_back({.kind = RailEventKind::kLaneDown,
                               .cause = Cause::kConnectionReset,
                               .lane = 0,
                               .generation = 1});
  bench.work();
  CHECK(bench.tcp->calls.back() == "fence 0 g1");
  CHECK(bench.asked.back() == "fence peer 0 lane 0 below g2");
  CHECK(bench.done.empty());
  bench.send(RemoteFenced{0, 2, {.settled_end = 1}});
  bench.work();
  CHECK(bench.done == std::vector<Job*>{&job});
}

TEST_CASE("FENCED for a lane that does not exist is a peer's invention") {
  Bench bench;
  bench.send(RemoteFenced{12'345, 2, {}});
  bench.work();
  CHECK(bench.done.empty());
}

TEST_CASE("A transfer over the bound is given back unposted, and cancelling it does no harm") {
  ExecutorOptions options = Rig::options();
  options.transfers_max = 1;
  Bench bench(options);
  bench.start(1000);
  Job& second = bench.start(1000);
  REQUIRE(bench.done == std::vector<Job*>{&second});
  CHECK(second.outcome == Cause::kNotPosted);
  CHECK(second.finished_at == bench.now);
  bench.send(CancelJob{&second, Cause::kCancelled, nullptr});
  bench.work();
  CHECK(bench.done.size() == 1);
}

TEST_CASE("Cancelled transfers end with the cause; those that are over stay as they are") {
  Bench bench;
  Job& job = bench.start(1000);
  bench.send(CancelJob{&job, Cause::kCancelled, nullptr});
  bench.send(CancelJob{&job, Cause::kShutDown, nullptr});
  bench.work();
  CHECK(bench.done == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kCancelled);
}

TEST_CASE("A transfer that was made for an earlier process of the peer never starts") {
  Bench bench;
  Job& running = bench.start(1000);
  bench.send(PeerGone{0, Cause::kPeerRestarted, 5});
  bench.work();
  CHECK(bench.done == std::vector<Job*>{&running});
  Job& stale = bench.start(1000);
  CHECK(stale.outcome == Cause::kPeerRestarted);
  CHECK(bench.done.back() == &stale);
  REQUIRE(stale.unlanded.size() == 1);
  CHECK(stale.unlanded[0].bytes == 1000);
  CHECK_FALSE(stale.unlanded[0].posted);
}

TEST_CASE("A transfer for the peer's new process may overtake the news of it") {
  Bench bench;
  Job& old = bench.start(1000);
  bench.epoch = 7;
  Job& fresh = bench.start(1000);
  CHECK(bench.done == std::vector<Job*>{&old});
  CHECK(old.outcome == Cause::kPeerRestarted);
  bench.send(PeerGone{0, Cause::kPeerRestarted, 7});  // no news by now
  bench.send(PeerGone{0, Cause::kPeerGone, 3});       // of a process before
  bench.work();
  CHECK(bench.done.size() == 1);
  bench.send(PeerGone{0, Cause::kPeerGone, 7});
  bench.work();
  CHECK(bench.done.back() == &fresh);
}

TEST_CASE("A command's owner is let go once the command is done") {
  Bench bench;
  Job& job = bench.start(1000);
  auto owner = std::make_shared<int>(0);
  bench.send(CancelJob{&job, Cause::kCancelled, owner});
  CHECK(owner.use_count() == 2);
  bench.work();
  CHECK(owner.use_count() == 1);
}

TEST_CASE("A full inbox refuses a command and leaves it whole") {
  Bench bench(Rig::options(), {.inbox_capacity = 4});
  bench.work();
  for (int i = 0; i < 4; ++i) bench.send(DropInbound{1});
  auto owner = std::make_shared<int>(0);
  Command command = CancelJob{nullptr, Cause::kCancelled, owner};
  CHECK_FALSE(bench.worker.send(command));
  CHECK(std::get<CancelJob>(command).owner == owner);
  bench.work();
  CHECK(bench.tcp->calls == Texts(4, "drop 1"));
  Command next = DropInbound{2};
  CHECK(bench.worker.send(next));
}

TEST_CASE("A responder's fence reports what the lane's driver had placed") {
  Bench bench;
  bench.sim->inbound.settled_end = 7;
  bench.send(FenceInbound{{3, 4}, 9});
  bench.work();
  CHECK(bench.asked == Texts{"fenced below g9 end 7"});
  CHECK(bench.tcp->calls == Texts{"fence inbound below g9"});
}

TEST_CASE("An inbound lane goes to the driver of its transport") {
  Bench bench;
  bench.send(AdoptLane{Transport::kSim, {.generation = 5}});
  bench.send(AdoptLane{Transport::kRdma, {.generation = 6}});  // none here: dropped
  bench.work();
  CHECK(bench.sim->calls == Texts{"adopt g5"});
  CHECK(bench.tcp->calls.empty());
}

TEST_CASE("A change of rights holds in every driver before it is confirmed") {
  Bench bench;
  std::vector<std::size_t> told;
  bool changed = false;
  bench.send(ChangeRegions{[&](rails::RegionTable&) { changed = bench.tcp->calls.empty(); },
                           [&] {
                             told = {bench.tcp->calls.size(), bench.sim->calls.size()};
                           }});
  bench.work();
  CHECK(changed);
  CHECK(told == std::vector<std::size_t>{1, 1});
}

TEST_CASE("Events wait in the driver when there are more than a cycle takes") {
  Bench bench(Rig::options(), {.events_per_cycle = 2});
  Job& job = bench.start(5000);
  bench.connect(bench.opened[0]);
  REQUIRE(bench.tcp->posted.size() == 5);
  for (AttemptSeq seq = 0; seq < 5; ++seq) bench.tcp->land(0, seq);
  CHECK(bench.worker.do_work(bench.now) > 0);
  CHECK(job.landed == 2000);
  bench.work();
  CHECK(job.landed == 5000);
}

TEST_CASE("The wait until the next deadline is the executor's") {
  Bench bench;
  CHECK(bench.worker.next_deadline() == kNever);
  Job& job = bench.jobs.emplace_back();
  job.id = TransferId{1};
  job.plan = std::make_shared<planner::Plan>(plan_of({{0}}));
  job.descriptors.push_back({.length = 1});
  job.bytes = 1;
  job.deadline = bench.now + seconds(5);
  bench.send(StartJob{&job, nullptr});
  bench.work();
  CHECK(bench.worker.next_deadline() == job.deadline);
}

TEST_CASE("A stopped worker has given back its transfers and says so") {
  Bench bench;
  Job& job = bench.start(1000);
  CHECK_FALSE(bench.worker.stopped());
  bench.send(StopWorker{});
  bench.work();
  CHECK(bench.worker.stopped());
  CHECK(bench.done == std::vector<Job*>{&job});
  CHECK(job.outcome == Cause::kShutDown);
}

}  // namespace
}  // namespace spindrift::executor
