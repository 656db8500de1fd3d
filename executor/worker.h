// One worker: an executor, the drivers of its backends, and the one door
// through which everybody else talks to it. It owns its lanes; workers share
// nothing. do_work() is one duty cycle and is called by a Runner's thread, or by
// the simulator with a clock that jumps.
//
// Thread-safety: send() from any thread; everything else from the owner's.
// Bounds: the inbox holds `inbox_capacity` commands; send() says false when it
// is full, and the sender decides whether to wait. A duty cycle takes a bounded
// number of commands and events, so that none starves the others.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/bounded_vector.h"
#include "base/mpsc_queue.h"
#include "base/wakeup.h"
#include "executor/executor.h"
#include "executor/executor_options.h"
#include "health/poll_gap.h"
#include "rails/rail.h"
#include "rails/region_table.h"

namespace spindrift::executor {

// --- commands -------------------------------------------------------------------

// Peers are numbered in the order in which these arrive; the sender counts along.
struct AddPeer {
  std::vector<Executor::RailSpec> rails;
  std::uint64_t epoch = 0;  // of the peer's process: grows when it restarts
};
// `owner` keeps the job alive until the worker has let go of it. A job that was
// made for an earlier process of the peer than the one known by now ends at once.
struct StartJob {
  Job* job = nullptr;
  std::shared_ptr<void> owner;
  std::uint64_t epoch = 0;
};
struct CancelJob {
  Job* job = nullptr;
  Cause cause = Cause::kCancelled;
  std::shared_ptr<void> owner;
};
struct LaneConnected {
  LaneIndex lane = kNoLane;
  Generation generation = 0;
  rails::LaneEndpoint endpoint;
};
struct LaneFailed {
  LaneIndex lane = kNoLane;
  Generation generation = 0;
  Cause cause = Cause::kConnectFailed;
};
struct RemoteFenced {
  LaneIndex lane = kNoLane;
  Generation min_generation = 0;
  rails::InboundFenceReport report;
};
// The peer's process is gone; `epoch` is that of the process known by now: a newer
// one when the peer has restarted.
struct PeerGone {
  PeerIndex peer = 0;
  Cause cause = Cause::kPeerGone;
  std::uint64_t epoch = 0;
};
struct AdoptLane {
  Transport transport = Transport::kTcp;
  rails::InboundLane lane;
};
struct FenceInbound {
  rails::InboundLaneId lane;
  Generation min_generation = 0;
};
struct DropInbound {
  std::uint32_t peer = 0;
};
// A change of what peers may touch. `done` is called when it holds.
struct ChangeRegions {
  std::function<void(rails::RegionTable&)> change;
  std::function<void()> done;
};
// A look at the worker from its own thread, for reports and metrics.
struct Inspect {
  std::function<void(const Executor&, std::span<const std::unique_ptr<rails::RailDriver>>)> look;
};
// The kernel says that a link of this host went down or up.
struct LinkChanged {
  std::string device;
  bool up = false;
};
// The peer answers again after it did not.
struct PeerBack {
  PeerIndex peer = 0;
};
// Ends everything at this end: cancels transfers with kShutDown, fences lanes.
struct StopWorker {};

using Command =
    std::variant<std::monostate, AddPeer, StartJob, CancelJob, LaneConnected, LaneFailed,
                 RemoteFenced, PeerGone, AdoptLane, FenceInbound, DropInbound, ChangeRegions,
                 Inspect, LinkChanged, PeerBack, StopWorker>;

// --- what a worker asks of the others; called on its thread, must not block -------

class WorkerPorts {
 public:
  virtual ~WorkerPorts() = default;
  // Answer with LaneConnected or LaneFailed.
  virtual void connect_lane(PeerIndex peer, RailOrdinal rail, const LaneAction& lane) = 0;
  // Answer with RemoteFenced.
  virtual void fence_peer(PeerIndex peer, LaneIndex lane, Generation min_generation) = 0;
  virtual void inbound_fenced(rails::InboundLaneId lane, Generation min_generation,
                              const rails::InboundFenceReport& report) = 0;
  virtual void finished(Job* job) = 0;
  // What is thought of a rail, in one direction, has changed.
  virtual void health_changed(PeerIndex peer, RailOrdinal rail, Operation direction,
                              const HealthChange& change) {
    (void)peer, (void)rail, (void)direction, (void)change;
  }
};

class Worker {
 public:
  // `regions` is handed to the drivers that place for peers; it outlives them.
  Worker(const ExecutorOptions& executor, const WorkerOptions& options, std::uint64_t seed,
         WorkerPorts& ports);
  ~Worker();

  // Before the first do_work().
  Status open();  // the wake-up descriptor; not needed in the simulator
  void add_driver(std::unique_ptr<rails::RailDriver> driver);
  rails::RegionTable& regions() { return regions_; }

  // From any thread.
  bool send(Command& command);

  // One duty cycle; how much work it did. 0: nothing to do before
  // next_deadline() or a wake-up.
  std::size_t do_work(Instant now);
  Instant next_deadline() const { return executor_.next_deadline(); }
  bool stopped() const { return stopped_; }
  // Descriptors that become readable when there is work; for epoll.
  std::vector<int> wait_fds() const;
  Wakeup& wakeup() { return wakeup_; }
  // After Wakeup::prepare(): true if a sleep would miss something.
  bool has_commands() const { return !inbox_.empty(); }

  const Executor& executor() const { return executor_; }

 private:
  std::size_t take_commands(Instant now);
  std::size_t take_events(Instant now);
  void hand_over();
  void perform(const LaneAction& action);
  rails::RailDriver& driver_of(LaneIndex lane) { return *lane_drivers_[lane]; }
  rails::RailDriver* driver_for(Transport transport);

  void handle(std::monostate&, Instant) {}
  void handle(AddPeer& command, Instant now);
  void handle(StartJob& command, Instant now);
  void handle(CancelJob& command, Instant now);
  void handle(LaneConnected& command, Instant now);
  void handle(LaneFailed& command, Instant now);
  void handle(RemoteFenced& command, Instant now);
  void handle(PeerGone& command, Instant now);
  void peer_restarted(PeerIndex peer, std::uint64_t epoch, Instant now);
  void handle(AdoptLane& command, Instant now);
  void handle(FenceInbound& command, Instant now);
  void handle(DropInbound& command, Instant now);
  void handle(ChangeRegions& command, Instant now);
  void handle(Inspect& command, Instant now);
  void handle(LinkChanged& command, Instant now);
  void handle(PeerBack& command, Instant now);
  void handle(StopWorker& command, Instant now);

  const WorkerOptions options_;
  WorkerPorts& ports_;
  rails::RegionTable regions_;
  Executor executor_;
  std::vector<std::unique_ptr<rails::RailDriver>> drivers_;
  std::vector<rails::RailDriver*> lane_drivers_;  // by LaneIndex
  struct LanePlace {
    PeerIndex peer;
    RailOrdinal ordinal;
    Operation direction;
    std::string device;  // of this host
  };
  std::vector<std::uint64_t> peer_epochs_;  // by PeerIndex
  std::vector<LanePlace> lane_places_;      // by LaneIndex
  BoundedVector<RailEvent> events_;
  health::PollGap gaps_;
  Instant last_cycle_ = kNever;
  Instant wake_by_ = kNever;  // when the last cycle asked to run again
  bool busy_ = false;         // bytes were outstanding
  bool stopped_ = false;
  MpscQueue<Command> inbox_;
  Wakeup wakeup_;
};

}  // namespace spindrift::executor
