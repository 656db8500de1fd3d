#include "executor/worker.h"

#include <algorithm>

#include "base/check.h"

namespace spindrift::executor {

namespace {
// Commands are rare next to events; a bound keeps a flood of submissions from
// holding up completions.
constexpr std::size_t kCommandsPerCycle = 256;
// A worker that runs so much later than it asked to was kept from it, and what it
// then finds says nothing about its rails.
constexpr Duration kBlackout = std::chrono::milliseconds(20);
}  // namespace

Worker::Worker(const ExecutorOptions& executor, const WorkerOptions& options, std::uint64_t seed,
               WorkerPorts& ports)
    : options_(options),
      ports_(ports),
      executor_(executor, seed),
      events_(options.events_per_cycle),
      inbox_(options.inbox_capacity) {}

Worker::~Worker() = default;

Status Worker::open() {
  return wakeup_.open();
}

void Worker::add_driver(std::unique_ptr<rails::RailDriver> driver) {
  drivers_.push_back(std::move(driver));
}

rails::RailDriver* Worker::driver_for(Transport transport) {
  for (const auto& driver : drivers_) {
    if (driver->transport() == transport) return driver.get();
  }
  return nullptr;
}

std::vector<int> Worker::wait_fds() const {
  std::vector<int> fds{wakeup_.fd()};
  for (const auto& driver : drivers_) {
    if (driver->wait_fd() >= 0) fds.push_back(driver->wait_fd());
  }
  return fds;
}

bool Worker::send(Command& command) {
  if (!inbox_.push(command)) return false;
  if (wakeup_.fd() >= 0) wakeup_.notify();
  return true;
}

std::size_t Worker::do_work(Instant now) {
  if (busy_ && last_cycle_ != kNever) {
    gaps_.on_gap(now - last_cycle_);
    executor_.set_jitter(gaps_.p99());
    if (wake_by_ != kNever && now - wake_by_ > kBlackout) executor_.on_blackout(now - wake_by_);
  }
  last_cycle_ = now;
  std::size_t work = take_commands(now);
  work += take_events(now);
  if (executor_.advance(now)) ++work;
  hand_over();
  busy_ = executor_.running() > 0;
  wake_by_ = work > 0 ? now : executor_.next_deadline();
  return work;
}

std::size_t Worker::take_commands(Instant now) {
  std::size_t count = 0;
  Command command;
  while (count < kCommandsPerCycle && inbox_.pop(command)) {
    std::visit([this, now](auto& c) { handle(c, now); }, command);
    ++count;
  }
  return count;
}

std::size_t Worker::take_events(Instant now) {
  std::size_t work = 0;
  for (const auto& driver : drivers_) {
    work += driver->poll(now, events_);
    for (const RailEvent& event : events_) executor_.on(event, now);
    work += events_.size();
    events_.clear();
  }
  return work;
}

// Drains the executor's sink.
void Worker::hand_over() {
  ExecutorOutput& out = executor_.output();
  for (const LaneIndex lane : out.dirty) {
    for (;;) {
      const std::span<const Attempt> attempts = executor_.unposted(lane);
      if (attempts.empty()) break;
      const std::size_t taken = driver_of(lane).post(lane, attempts);
      executor_.posted(lane, taken);
      if (taken < attempts.size()) break;
    }
  }
  for (const LaneAction& action : out.actions) perform(action);
  for (const HealthChange& change : out.health) {
    const LanePlace& place = lane_places_[change.lane];
    ports_.health_changed(place.peer, place.ordinal, place.direction, change);
  }
  for (Job* job : out.finished) ports_.finished(job);
  out.clear();
}

void Worker::perform(const LaneAction& action) {
  switch (action.kind) {
    case LaneAction::Kind::kOpen:
      ports_.connect_lane(lane_places_[action.lane].peer, lane_places_[action.lane].ordinal,
                          action);
      return;
    case LaneAction::Kind::kFenceLocal:
      driver_of(action.lane).fence_lane(action.lane, action.generation);
      return;
    case LaneAction::Kind::kFenceRemote:
      ports_.fence_peer(lane_places_[action.lane].peer, action.lane, action.generation + 1);
      return;
  }
}

void Worker::handle(AddPeer& command, Instant) {
  const Result<PeerIndex> peer = executor_.add_peer(command.rails);
  // The sender keeps the count of lanes and peers, so this cannot be full.
  SPINDRIFT_CHECK(peer.ok());
  SPINDRIFT_CHECK(*peer == peer_epochs_.size());
  peer_epochs_.push_back(command.epoch);
  for (const Operation direction : {Operation::kWrite, Operation::kRead}) {
    for (std::size_t i = 0; i < command.rails.size(); ++i) {
      const auto ordinal = static_cast<RailOrdinal>(i);
      const LaneIndex lane = executor_.lane_of(*peer, ordinal, direction);
      rails::RailDriver* driver = driver_for(command.rails[i].facts.transport);
      SPINDRIFT_CHECK(driver != nullptr);
      lane_drivers_.resize(std::max<std::size_t>(lane_drivers_.size(), lane + 1));
      lane_places_.resize(lane_drivers_.size());
      lane_drivers_[lane] = driver;
      lane_places_[lane] = {*peer, ordinal, direction, command.rails[i].facts.local_device};
      const Status added =
          driver->add_lane({.lane = lane, .direction = direction, .facts = command.rails[i].facts});
      SPINDRIFT_CHECK(added.ok());
    }
  }
}

void Worker::handle(StartJob& command, Instant now) {
  const PeerIndex peer = command.job->peer;
  SPINDRIFT_CHECK(peer < peer_epochs_.size());
  // It may overtake the news of a restart, but never come before it: addresses of
  // one process mean nothing to the next.
  if (command.epoch > peer_epochs_[peer]) peer_restarted(peer, command.epoch, now);
  const bool stale = command.epoch < peer_epochs_[peer];
  if (!stale && executor_.start(command.job, now).ok()) return;
  // Admission is bounded before the inbox, so a full executor is the last resort.
  command.job->outcome = stale ? Cause::kPeerRestarted : Cause::kNotPosted;
  command.job->unlanded = {{Cursor{}, command.job->bytes, false}};
  command.job->finished_at = now;
  ports_.finished(command.job);
}

void Worker::handle(CancelJob& command, Instant now) {
  if (command.job->group_slot != kNotInHeap) executor_.cancel(command.job, command.cause, now);
}

void Worker::handle(LaneConnected& command, Instant) {
  const Lane& lane = executor_.lane(command.lane);
  // A connection that was given up while it was being made: closed unused.
  if (lane.state != LaneState::kOpening || lane.generation != command.generation) return;
  driver_of(command.lane)
      .connect_lane(command.lane, command.generation, lane.next, std::move(command.endpoint));
}

void Worker::handle(LaneFailed& command, Instant now) {
  executor_.on({.kind = RailEventKind::kLaneDown,
                .cause = command.cause,
                .lane = command.lane,
                .generation = command.generation},
               now);
}

void Worker::handle(RemoteFenced& command, Instant now) {
  if (command.lane >= executor_.lane_count()) return;  // a peer's invention
  executor_.on_remote_fenced(command.lane, command.min_generation, command.report.settled_end,
                             command.report.refused, now);
}

void Worker::handle(PeerGone& command, Instant now) {
  std::uint64_t& epoch = peer_epochs_[command.peer];
  if (command.cause != Cause::kPeerRestarted) {
    if (command.epoch == epoch) executor_.on_peer_gone(command.peer, command.cause, now);
    return;
  }
  if (command.epoch > epoch) peer_restarted(command.peer, command.epoch, now);
}

void Worker::peer_restarted(PeerIndex peer, std::uint64_t epoch, Instant now) {
  peer_epochs_[peer] = epoch;
  executor_.on_peer_gone(peer, Cause::kPeerRestarted, now);
}

void Worker::handle(AdoptLane& command, Instant) {
  rails::RailDriver* driver = driver_for(command.transport);
  if (driver == nullptr) return;
  // Refusals were answered to the peer by the driver.
  (void)driver->adopt(std::move(command.lane)).ok();
}

void Worker::handle(FenceInbound& command, Instant) {
  // One driver knows the lane; the others report nothing placed.
  rails::InboundFenceReport report;
  for (const auto& driver : drivers_) {
    rails::InboundFenceReport part = driver->fence_inbound(command.lane, command.min_generation);
    if (part.settled_end >= report.settled_end) report = std::move(part);
  }
  ports_.inbound_fenced(command.lane, command.min_generation, report);
}

void Worker::handle(DropInbound& command, Instant) {
  for (const auto& driver : drivers_) driver->drop_inbound(command.peer);
}

void Worker::handle(ChangeRegions& command, Instant) {
  command.change(regions_);
  for (const auto& driver : drivers_) driver->regions_changed();
  command.done();
}

void Worker::handle(Inspect& command, Instant) {
  command.look(executor_, drivers_);
}

void Worker::handle(LinkChanged& command, Instant now) {
  for (LaneIndex lane = 0; lane < lane_places_.size(); ++lane) {
    if (lane_places_[lane].device == command.device) executor_.on_link(lane, command.up, now);
  }
}

void Worker::handle(PeerBack& command, Instant now) {
  executor_.on_peer_back(command.peer, now);
}

void Worker::handle(StopWorker&, Instant now) {
  executor_.stop(now);
  stopped_ = true;
}

}  // namespace spindrift::executor
