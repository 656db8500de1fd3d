// Plays the rails to an Executor: drains its sink as a worker does, remembers
// what was posted and asked for, and hands in the events that a test wants.
#pragma once

#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "executor/executor.h"
#include "rails/region_table.h"

namespace spindrift::executor {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A rate of 1 MB/s is a byte per microsecond: slices of 2000 bytes and windows
// of 6250, with the service time of 2 ms and the initial jitter of 1 ms.
inline constexpr Rate kByteRate{1'000'000};

inline planner::Plan plan_of(std::vector<std::vector<RailOrdinal>> tiers,
                             std::uint64_t slice_min = 100, std::uint64_t slice_max = 1'000'000) {
  planner::Plan plan;
  plan.tiers = std::move(tiers);
  plan.slice_min = slice_min;
  plan.slice_max = slice_max;
  plan.attempts_max = 8;
  return plan;
}

class Rig {
 public:
  static ExecutorOptions options() {
    ExecutorOptions options;
    options.initial_rate = kByteRate;
    options.slices_max = 256;
    options.transfers_max = 16;
    options.lanes_max = 64;
    return options;
  }

  explicit Rig(std::size_t rails, const ExecutorOptions& options = Rig::options(),
               const RailCapabilities& capabilities = {})
      : executor(options, 1) {
    const std::vector<Executor::RailSpec> specs(rails, {.facts = {}, .capabilities = capabilities});
    peer = executor.add_peer(specs).value();
  }

  // --- transfers --------------------------------------------------------------------
  Job& make(std::vector<std::uint64_t> lengths, planner::Plan plan,
            Operation operation = Operation::kWrite) {
    Job& job = jobs_.emplace_back();
    job.id = TransferId{jobs_.size()};
    job.peer = peer;
    job.operation = operation;
    for (const std::uint64_t length : lengths) {
      job.descriptors.push_back({.local = nullptr, .remote = job.bytes, .length = length});
      job.bytes += length;
    }
    job.plan = std::make_shared<planner::Plan>(std::move(plan));
    job.submitted = now;
    return job;
  }
  Job& start(std::uint64_t bytes, planner::Plan plan, Operation operation = Operation::kWrite) {
    std::vector<std::uint64_t> lengths;
    if (bytes > 0) lengths.push_back(bytes);
    Job& job = make(lengths, std::move(plan), operation);
    start(job);
    return job;
  }
  void start(Job& job) {
    if (!executor.start(&job, now).ok()) ++refused;
    cycle();
  }

  // --- time and the duty cycle --------------------------------------------------------
  // Cycles until the executor asks for nothing more.
  void cycle() {
    bool again = true;
    while (again) {
      again = executor.advance(now);
      hand_over();
      std::vector<LaneAction> asked = executor.output().actions;
      for (Job* job : executor.output().finished) finished.push_back(job);
      executor.output().clear();
      for (const LaneAction& action : asked) {
        actions.push_back(action);
        if (action.kind != LaneAction::Kind::kOpen || !connects) continue;
        up(action.lane);
        again = true;
      }
    }
  }
  void pass(Duration span) {
    now += span;
    cycle();
  }

  // --- events -----------------------------------------------------------------------
  void event(LaneIndex lane, RailEventKind kind, std::uint64_t value = 0,
             Cause cause = Cause::kNone) {
    executor.on({.kind = kind,
                 .cause = cause,
                 .lane = lane,
                 .generation = executor.lane(lane).generation,
                 .value = value},
                now);
  }
  void up(LaneIndex lane) { event(lane, RailEventKind::kLaneUp); }
  void down(LaneIndex lane, Cause cause = Cause::kConnectionReset) {
    event(lane, RailEventKind::kLaneDown, 0, cause);
    cycle();
  }
  void land(LaneIndex lane, AttemptSeq seq) {
    event(lane, RailEventKind::kLanded, seq);
    cycle();
  }
  void fail(LaneIndex lane, AttemptSeq seq, Cause cause) {
    event(lane, RailEventKind::kFailed, seq, cause);
    cycle();
  }
  void fenced_here(LaneIndex lane) {
    event(lane, RailEventKind::kLocalFenced);
    cycle();
  }
  // FENCED from the peer for the lane's current generation.
  void fenced_there(LaneIndex lane, AttemptSeq settled_end,
                    std::initializer_list<AttemptSeq> refused_seqs = {}) {
    executor.on_remote_fenced(lane, executor.lane(lane).generation + 1, settled_end,
                              {refused_seqs.begin(), refused_seqs.size()}, now);
    cycle();
  }
  // A lane in quarantine comes back: its hold passes, it connects, its probes land.
  void recover(LaneIndex lane) {
    now = std::max(now, executor.lane(lane).timer);
    cycle();
    if (executor.lane(lane).state == LaneState::kOpening) up(lane);
    cycle();
    for (int probe = 0; probe < 2; ++probe) land(lane, executor.lane(lane).head);
  }
  // The estimate of a lane that was never opened: it can only be raised.
  void rate(LaneIndex lane, Rate rate) {
    event(lane, RailEventKind::kProgress,
          rate.bytes_in(now.time_since_epoch()));  // all since the beginning of time
  }
  // Lands everything outstanding on lanes that are up, oldest first, until
  // nothing is.
  void land_all() {
    for (bool any = true; any;) {
      any = false;
      for (LaneIndex i = 0; i < executor.lane_count(); ++i) {
        while (executor.lane(i).state == LaneState::kUp &&
               executor.lane(i).head < executor.lane(i).posted) {
          land(i, executor.lane(i).head);
          any = true;
        }
      }
    }
  }

  // --- what happened ----------------------------------------------------------------
  LaneIndex write(RailOrdinal rail) const {
    return executor.lane_of(peer, rail, Operation::kWrite);
  }
  LaneIndex read(RailOrdinal rail) const { return executor.lane_of(peer, rail, Operation::kRead); }
  std::vector<Attempt> on(LaneIndex lane) const {
    std::vector<Attempt> found;
    for (const Attempt& attempt : posted) {
      if (attempt.lane == lane && !is_probe(attempt)) found.push_back(attempt);
    }
    return found;
  }
  static bool is_probe(const Attempt& attempt) {
    return attempt.descriptors->remote_key == rails::kScratchKey;
  }
  std::vector<std::uint64_t> sizes_on(LaneIndex lane) const {
    std::vector<std::uint64_t> sizes;
    for (const Attempt& attempt : on(lane)) sizes.push_back(attempt.bytes);
    return sizes;
  }
  // How often that was asked for, for the lane.
  std::size_t asked(LaneAction::Kind kind, LaneIndex lane) const {
    std::size_t count = 0;
    for (const LaneAction& action : actions) count += action.kind == kind && action.lane == lane;
    return count;
  }

  PeerIndex peer = 0;
  Instant now{seconds(1)};
  Executor executor;
  bool connects = true;                    // an asked-for lane is up at once
  std::map<LaneIndex, std::size_t> takes;  // attempts per cycle; all where not named
  std::vector<Attempt> posted;             // all that rails took, in order
  std::vector<LaneAction> actions;         // all that was asked for
  std::vector<Job*> finished;
  int refused = 0;

 private:
  void hand_over() {
    for (const LaneIndex lane : executor.output().dirty) {
      const auto limit = takes.find(lane);
      std::size_t room = limit == takes.end() ? ~std::size_t{0} : limit->second;
      for (;;) {
        const std::span<const Attempt> offered = executor.unposted(lane);
        if (offered.empty()) break;
        const std::size_t taken = std::min(room, offered.size());
        posted.insert(posted.end(), offered.begin(), offered.begin() + taken);
        room -= taken;
        const bool all = taken == offered.size();
        executor.posted(lane, taken);
        if (!all) break;
      }
    }
  }

  std::deque<Job> jobs_;
};

}  // namespace spindrift::executor
