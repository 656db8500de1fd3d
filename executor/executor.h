// The executor core: transfers in, slices bound to rails as late as possible,
// completions in, finished transfers out. Pure: no clock, no system call, no
// thread, no unseeded randomness; `now` is an argument and never goes back. One
// per worker, owned by its thread; the simulator drives the same object.
//
// What holds at every return (tests/sim checks it from outside):
//  - A slice exists only from the moment a lane with room takes it; unlanded
//    slices are either outstanding on a lane or in their transfer's retry queue.
//  - A transfer is finished only when each of its attempts is settled: landed,
//    refused before or at the peer, or fenced at every end that it could touch.
//  - Per lane at most `attempts_per_lane` attempts and one window plus one slice
//    of bytes are outstanding.
//
// The shell's duty cycle:
//
//   for each event: executor.on(event, now);
//   executor.advance(now);
//   for (LaneIndex lane : executor.output().dirty)      // hand attempts over
//     while (!(span = executor.unposted(lane)).empty())
//       executor.posted(lane, rail.post(span));         // fewer: again next cycle
//   perform output().actions, give output().finished back, output().clear();
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/indexed_heap.h"
#include "base/instant.h"
#include "base/prng.h"
#include "base/rail_types.h"
#include "base/slab.h"
#include "executor/executor_options.h"
#include "executor/job.h"
#include "executor/lane.h"
#include "health/lane_view.h"
#include "health/rail_health.h"
#include "policies/least_completion.h"
#include "spindrift/status.h"

namespace spindrift::executor {

// What the shell is asked to do for a lane.
struct LaneAction {
  enum class Kind : std::uint8_t {
    kOpen,         // connect it; answer with kLaneUp or kLaneDown
    kFenceLocal,   // RailDriver::fence_lane; answer with kLocalFenced
    kFenceRemote,  // FENCE over the control sessions; answer with on_remote_fenced
  };
  Kind kind = Kind::kOpen;
  LaneIndex lane = kNoLane;
  Generation generation = 0;  // to open; to fence: up to and including this one
  AttemptSeq first_seq = 0;   // kOpen
};

// What is thought of a lane has changed.
struct HealthChange {
  LaneIndex lane = kNoLane;
  health::HealthState from = health::HealthState::kHealthy;
  health::HealthState to = health::HealthState::kHealthy;
  Cause cause = Cause::kNone;  // kNone: good news
  std::uint32_t level = 0;     // of its flap memory
};

struct ExecutorOutput {
  std::vector<LaneIndex> dirty;  // lanes with attempts to hand over
  std::vector<LaneAction> actions;
  std::vector<Job*> finished;
  std::vector<HealthChange> health;

  void clear();
};

class Executor {
 public:
  Executor(const ExecutorOptions& options, std::uint64_t seed);

  // --- peers and rails ------------------------------------------------------------
  struct RailSpec {
    RailFacts facts;
    RailCapabilities capabilities;
  };
  // Two lanes per rail, one a direction: lane(peer, ordinal, direction). kBusy
  // over lanes_max; then nothing was added.
  Result<PeerIndex> add_peer(std::span<const RailSpec> rails);
  LaneIndex lane_of(PeerIndex peer, RailOrdinal ordinal, Operation direction) const;

  // --- transfers ------------------------------------------------------------------
  // kBusy over transfers_max; then the job was not touched.
  Status start(Job* job, Instant now);
  // Ends it early with this cause; it still finishes only when settled. Without
  // effect on one that does not run.
  void cancel(Job* job, Cause cause, Instant now);

  // --- events ---------------------------------------------------------------------
  void on(const RailEvent& event, Instant now);
  // The responder has ended every generation below `min_generation`; see
  // rails::InboundFenceReport.
  void on_remote_fenced(LaneIndex lane, Generation min_generation, AttemptSeq settled_end,
                        std::span<const AttemptSeq> refused, Instant now);
  // The peer's process is known to be dead: nothing of ours is placed there any
  // more. Its transfers fail with `cause`.
  void on_peer_gone(PeerIndex peer, Cause cause, Instant now);
  // The kernel says so of the link under the lane.
  void on_link(LaneIndex lane, bool up, Instant now);
  // The peer answers again: rails to it that failed are worth a try.
  void on_peer_back(PeerIndex peer, Instant now);
  // This worker did not run for so long: nobody else is to blame for it.
  void on_blackout(Duration span);
  // Ends everything at this end: transfers fail with kShutDown, lanes are fenced.
  void stop(Instant now);
  // J of the window formula.
  void set_jitter(Duration jitter);

  // --- time -----------------------------------------------------------------------
  // Fires due timers, then binds as many slices as windows, rings and
  // posts_per_cycle allow. True when it stopped for posts_per_cycle alone.
  bool advance(Instant now);
  Instant next_deadline() const;

  // --- the sink -------------------------------------------------------------------
  ExecutorOutput& output() { return output_; }
  std::span<const Attempt> unposted(LaneIndex lane);  // contiguous; more after posted()
  void posted(LaneIndex lane, std::size_t count);

  // --- for reports and tests ------------------------------------------------------
  const Lane& lane(LaneIndex index) const { return lanes_[index]; }
  std::size_t lane_count() const { return lanes_.size(); }
  std::size_t running() const { return running_; }
  std::size_t slices_outstanding() const { return slices_.used(); }
  health::LaneView view(LaneIndex index) const;

 private:
  struct Slice {
    Job* job = nullptr;
    Cursor begin;
    std::uint64_t bytes = 0;
    std::uint32_t ranges = 0;
    std::uint32_t attempts = 0;   // charged against the retry budget
    std::uint32_t live = 0;       // attempts not settled
    std::uint32_t hopeful = 0;    // of them: on lanes that are trusted
    RailOrdinal avoid = kNoRail;  // where it failed last
    bool landed = false;
    bool queued = false;  // in the retry queue
    bool posted = false;  // a settled attempt of it was on a rail
    SlabIndex retry_next = kNoSlab;
  };
  // One direction of one peer.
  struct Group {
    std::vector<LaneIndex> lanes;  // by ordinal
    std::vector<Job*> serving;     // by service order: those with bytes to bind
    std::vector<Job*> jobs;        // all that run; a job knows its place
    std::uint32_t retries = 0;     // slices in retry queues
    bool active = false;           // in active_
    bool hedging = false;          // transfers end; lanes with nothing else to do may help
    Instant last_use{};            // when bytes were last posted or asked for
  };
  struct LaneTimer {
    static std::pair<Instant, LaneIndex> key(const Lane* lane) {
      return {lane->timer, lane->index};
    }
    static std::uint32_t& slot(Lane* lane) { return lane->timer_slot; }
  };
  struct JobTimer {
    static std::pair<Instant, std::uint64_t> key(const Job* job) {
      return {job->timer, job->id.value};
    }
    static std::uint32_t& slot(Job* job) { return job->timer_slot; }
  };
  static constexpr RailOrdinal kNoRail = 0xffff;

  // serve.cc: binding
  // The lanes of one group that are up, as one serve() sees them; by place.
  struct Candidates {
    std::size_t count = 0;
    std::uint64_t rails = 0;  // bit mask of their ordinals
    std::uint64_t open = 0;   // bit mask by place: may still take slices in this pass
    Rate sum;
    std::array<LaneIndex, kRailsPerPeerMax> lanes{};
    std::array<policies::LaneLoad, kRailsPerPeerMax> loads{};
    std::array<std::uint64_t, kRailsPerPeerMax> windows{};
    std::array<Duration, kRailsPerPeerMax> finish{};  // of a typical slice; of open ones

    std::span<const policies::LaneLoad> all() const { return {loads.data(), count}; }
  };
  bool serve(std::uint32_t group, std::uint32_t& budget, Instant now);
  void gather(const Group& group, Candidates& out, Instant now);
  void weigh(Candidates& lanes, std::size_t place) const;
  std::size_t pick(const Candidates& lanes) const;
  std::uint64_t bind_one(Group& group, Candidates& lanes, std::size_t chosen, Instant now);
  std::uint64_t bind_retry(Group& group, const Candidates& lanes, Lane& lane, Instant now);
  std::uint64_t bind_fresh(Job& job, const Candidates& lanes, std::size_t chosen, Instant now);
  std::uint64_t dynamic_size(const Job& job, const Candidates& lanes, std::size_t chosen,
                             Instant now);
  bool is_single_choice(const Job& job, const Candidates& lanes, const Lane& lane) const;
  void post_slice(SlabIndex slice, Lane& lane, Instant now);
  void push_attempt(Lane& lane, SlabIndex slice, const Attempt& attempt, Instant now);
  std::uint64_t window_of(Lane& lane, Instant now);
  void refresh_window(Lane& lane) const;

  // hedge.cc: copies without a failure, at the end of transfers
  std::uint64_t bind_hedge(Group& group, const Candidates& lanes, std::size_t chosen, Instant now);
  void watch_tail(const Job& job);
  Duration hedge_after(const Lane& lane) const;
  bool is_overdue(const Lane& lane, Instant now) const;
  Duration finish_of(const Lane& lane, std::uint64_t bytes, Instant now) const;
  SlabIndex pick_hedge(Lane& lane, const Lane& helper, Duration cost, Instant now);
  void on_superseded(Job& job, Instant now);
  void end_wait_for(Lane& lane, Job& job, Instant now);

  // verdicts.cc: silence, quarantine, probes
  void on_lane_progress(Lane& lane, bool now_empty, Instant now);
  void on_silence(Lane& lane, Instant now);
  void distrust(Lane& lane);
  void trust(Lane& lane);
  bool others_moved(const Lane& lane, Duration since_last) const;
  void begin_probe(Lane& lane, Instant now);
  void post_probe(Lane& lane, Instant now);
  void on_probe_settled(Lane& lane, Cause cause, Instant now);
  void blame(Lane& lane, Cause cause, Instant now);
  void set_lane_timer(Lane& lane, Instant when);
  void on_lane_timer(Lane& lane, Instant now);
  // Calls change() and tells of what it did to the lane's health.
  template <typename Change>
  void judge(Lane& lane, Instant now, Change change);

  // static_shares.cc: round robin and weighted
  void prepare_shares(Job& job);
  Cut cut_static(Job& job, const Lane& lane);
  Cut cut_round_robin(Job& job, std::size_t place);
  Cut cut_weighted(Job& job, const Lane& lane, std::size_t place);

  // settle.cc: the ends of attempts, slices and transfers
  SlabIndex settle(Lane& lane, AttemptSeq seq);
  void settle_landed(Lane& lane, AttemptSeq seq, Instant now);
  void settle_failed(Lane& lane, AttemptSeq seq, Cause cause, Instant now);
  void settle_orphan(Lane& lane, AttemptSeq seq, Instant now);
  void settle_unposted(Lane& lane, Instant now);
  void note_cause(const Lane& lane, Job& job, Cause cause);
  void count_failure(Lane& lane, Job& job);
  void retry(SlabIndex slice, RailOrdinal failed_on, Instant now);
  SlabIndex pop_retry(Job& job);
  void drop_if_unused(SlabIndex slice);
  void fail(Job& job, Cause cause, Instant now);
  void finish_if_settled(Job& job, Instant now);
  void collect_unlanded(Job& job);
  void set_timer(Job& job, Instant when);
  void on_job_timer(Job& job, Instant now);

  // lanes.cc: connections and fences
  void open_lanes(const Job& job);
  void open(Lane& lane);
  // kFenced and kSuperseded: our own wish, of which the lane's health learns nothing.
  void begin_fence(Lane& lane, Cause cause, Instant now);
  void fence_part_done(Lane& lane, Instant now);
  void reopen_later(Lane& lane, Instant now);
  bool wanted(const Lane& lane) const;
  bool in_use(const Lane& lane, Instant now) const;
  void hurry_if_none_works(const Group& group, Instant now);
  std::uint64_t working_rails(const Group& group) const;
  static constexpr bool is_own_wish(Cause cause) {
    return cause == Cause::kFenced || cause == Cause::kSuperseded;
  }
  void choose_tiers(Group& group);
  bool choose_tier(Job& job) const;
  void on_lane_down(Lane& lane, const RailEvent& event, Instant now);
  void list(Job& job);
  void unlist(Job& job);
  void activate(std::uint32_t group);
  std::uint32_t group_of(PeerIndex peer, Operation direction) const {
    return 2 * peer + (direction == Operation::kRead ? 1 : 0);
  }
  Group& group_of(const Job& job) { return groups_[group_of(job.peer, job.operation)]; }

  const ExecutorOptions options_;
  Prng prng_;
  Duration jitter_ = std::chrono::milliseconds(1);
  std::vector<Lane> lanes_;
  std::vector<Group> groups_;          // 2 per peer
  std::vector<std::uint32_t> active_;  // groups with bytes to bind
  std::size_t turn_ = 0;               // which active group goes first
  Slab<Slice> slices_;
  std::size_t running_ = 0;
  IndexedHeap<Job*, JobTimer> job_timers_;
  IndexedHeap<Lane*, LaneTimer> lane_timers_;
  Candidates candidates_;                 // of the group that is being served
  std::vector<policies::LaneLoad> tier_;  // of them, those of one transfer's tier
  ExecutorOutput output_;
  bool stopping_ = false;
  std::vector<LaneIndex> leftover_;  // dirty lanes whose rail did not take all
  Instant next_probe_{};             // not before this
  // What probes move; where one is read to, nothing is read from.
  std::vector<std::byte> probe_source_, probe_sink_;
  ResolvedDescriptor probe_write_, probe_read_;
};

template <typename Change>
void Executor::judge(Lane& lane, Instant now, Change change) {
  const health::HealthState from = lane.health.state();
  const std::uint64_t before = lane.health.transitions();
  change();
  // Over the bound a change is not told of; the counters know it.
  if (lane.health.transitions() == before || output_.health.size() == output_.health.capacity()) {
    return;
  }
  output_.health.push_back({.lane = lane.index,
                            .from = from,
                            .to = lane.health.state(),
                            .cause = lane.health.cause(),
                            .level = lane.health.level(now, options_.health)});
}

}  // namespace spindrift::executor
