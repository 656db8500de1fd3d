// Opening segments, submitting intents, and their ends.
#include <algorithm>
#include <future>

#include "api/core.h"
#include "api/worker_seat.h"
#include "base/clock.h"
#include "base/units.h"

namespace spindrift {

namespace {

constexpr Duration kPlaceWaitMax = std::chrono::hours(24 * 365);  // adds up to a time point

Status shut_down() {
  return Status(Code::kShutDown, "the engine is being destroyed");
}

}  // namespace

api::Peer& Engine::Core::peer(control::PeerSlot slot) {
  std::lock_guard lock(peers_mutex_);
  while (peers_.size() <= slot) {
    const auto next = static_cast<control::PeerSlot>(peers_.size());
    peers_.push_back(
        std::make_shared<api::Peer>(next, next % static_cast<std::uint32_t>(seats_.size())));
  }
  return *peers_[slot];
}

std::vector<std::shared_ptr<api::Peer>> Engine::Core::peers() const {
  std::lock_guard lock(peers_mutex_);
  return peers_;
}

Result<control::PeerSlot> Engine::Core::find_peer(const std::string& name_or_address) {
  for (const config::PeerOptions& known : config_.peers) {
    if (known.name == name_or_address) return control_->open_peer(known.name, known.addresses);
  }
  const std::size_t colon = name_or_address.rfind(':');
  if (colon != std::string::npos && colon + 1 < name_or_address.size() &&
      std::all_of(name_or_address.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                  name_or_address.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return control_->open_peer("", {name_or_address});
  }
  std::string known_names;
  for (const config::PeerOptions& known : config_.peers) {
    known_names += (known_names.empty() ? "" : ", ") + known.name;
  }
  return Status(Code::kNotFound, {.what = "peer " + name_or_address,
                                  .why = "it is neither a configured name nor IP:PORT",
                                  .hint = known_names.empty() ? "the configuration names no peers"
                                                              : "configured: " + known_names});
}

Result<Segment> Engine::Core::open_segment(const std::string& name, const std::string& segment,
                                           Duration timeout) {
  if (shutting_down_.load()) return shut_down();
  if (timeout.count() <= 0) {
    return Status(Code::kInvalidArgument, "open_segment: the timeout must be above zero");
  }
  Result<control::PeerSlot> slot = find_peer(name);
  if (!slot.ok()) return slot.status();
  (void)peer(*slot);
  // The control plane calls back in time, also when it is being stopped.
  const auto promise = std::make_shared<std::promise<Result<Segment::Data>>>();
  std::future<Result<Segment::Data>> future = promise->get_future();
  control_->look_up(*slot, segment, timeout, [promise](Result<Segment::Data> found) {
    promise->set_value(std::move(found));
  });
  Result<Segment::Data> found = future.get();
  if (!found.ok()) return found.status();
  Segment::Data data = std::move(*found);
  data.peer_slot = *slot;
  std::sort(data.regions.begin(), data.regions.end(),
            [](const SegmentRegion& a, const SegmentRegion& b) { return a.address < b.address; });
  return Segment(std::make_shared<const Segment::Data>(std::move(data)));
}

Result<Transfer> Engine::Core::submit(Intent intent) {
  const Instant now = read_monotonic_clock();
  if (shutting_down_.load()) return shut_down();
  if (!intent.target) {
    return Status(Code::kInvalidArgument,
                  {.what = "an intent without a target", .hint = "open_segment() gives one"});
  }
  std::shared_ptr<api::Peer> to;
  {
    std::lock_guard lock(peers_mutex_);
    if (intent.target.data().peer_slot < peers_.size()) to = peers_[intent.target.data().peer_slot];
  }
  if (to == nullptr) {
    return Status(Code::kInvalidArgument, "the segment was opened by another engine");
  }
  const api::PeerView view = to->view();
  if (view.rail_names == nullptr || (view.rail_names->empty())) {
    return Status(Code::kPeerUnreachable,
                  {.what = "no rail leads to this peer",
                   .why = view.status.ok() ? "its devices and ours could not be paired"
                                           : view.status.to_string(),
                   .hint = "spindrift topo --peer shows both sides",
                   .peer = view.name});
  }
  const std::shared_ptr<const api::RegionList> regions = regions_.snapshot();
  Result<std::shared_ptr<Transfer::State>> prepared =
      api::prepare(intent, view, *regions, submit_buffers_);
  if (!prepared.ok()) {
    rejected_.fetch_add(1, std::memory_order_relaxed);
    return prepared.status();
  }
  const std::shared_ptr<Transfer::State> state = std::move(*prepared);
  state->to = to;
  planner::PlanRequest request{.operation = intent.operation,
                               .klass = intent.klass.empty() ? "default" : intent.klass,
                               .bytes = state->job.bytes,
                               .descriptors = state->job.descriptors.size(),
                               .same_host = view.same_host,
                               .peer = view.name,
                               .integrity = intent.integrity};
  Status status;
  {
    std::lock_guard lock(plan_mutex_);
    auto plan = plans_.find_or_make(request, *view.candidates, view.epoch);
    if (plan.ok()) {
      state->job.plan = std::move(*plan);
    } else {
      status = plan.status();
    }
  }
  if (status.ok()) status = take_place(intent, state->worker);
  if (!status.ok()) {
    rejected_.fetch_add(1, std::memory_order_relaxed);
    api::release(*state);
    return status;
  }

  state->to_fd = notifier_.fd_in_use();
  state->has_callback = state->on_finished != nullptr;
  state->job.submitted = now;
  const Duration budget =
      intent.budget.count() > 0
          ? intent.budget
          : config_.executor.budget_base + config_.executor.budget_rate.time_for(state->job.bytes);
  state->job.deadline = after(now, budget);
  const std::shared_lock gate(gate_);
  if (workers_ended_) {
    api::release(*state);
    return shut_down();
  }
  {
    std::lock_guard lock(running_mutex_);
    state->job.id = TransferId{next_transfer_++};
    running_.emplace(state->job.id.value, state);
  }
  send(state->worker, executor::StartJob{&state->job, state, view.epoch});
  return Transfer(state);
}

// A place among the transfers that may run on a worker.
Status Engine::Core::take_place(const Intent& intent, std::uint32_t worker) {
  const auto free = [this, worker] {
    return shutting_down_.load() || seats_[worker]->places_taken < config_.executor.transfers_max;
  };
  std::unique_lock lock(running_mutex_);
  // A callback that waited would wait for itself.
  if (!free() && intent.on_full == OnFull::kWait && !notifier_.in_callback()) {
    const Duration longest =
        intent.budget.count() > 0 ? intent.budget : config_.executor.budget_base;
    place_free_.wait_for(lock, std::min<Duration>(longest, kPlaceWaitMax), free);
  }
  if (shutting_down_.load()) return shut_down();
  if (!free()) {
    return Status(Code::kBusy, {.what = std::to_string(config_.executor.transfers_max) +
                                        " transfers run on this worker already",
                                .hint = "wait for some, submit with OnFull::kWait, or raise "
                                        "executor.transfers_max"});
  }
  ++seats_[worker]->places_taken;
  return {};
}

void Engine::Core::give_place_back(std::uint32_t worker) {
  std::lock_guard lock(running_mutex_);
  --seats_[worker]->places_taken;
  place_free_.notify_all();
}

// On a worker's thread: the transfer is over, its memory is the caller's again.
void Engine::Core::finished(executor::Job* job) {
  const executor::Job& done = *job;
  std::shared_ptr<Transfer::State> state;
  {
    std::lock_guard lock(running_mutex_);
    const auto found = running_.find(done.id.value);
    if (found == running_.end()) return;
    state = std::move(found->second);
    running_.erase(found);
  }
  (done.outcome == Cause::kNone ? completed_ : failed_).fetch_add(1, std::memory_order_relaxed);
  (done.operation == Operation::kWrite ? bytes_written_ : bytes_read_)
      .fetch_add(done.landed, std::memory_order_relaxed);
  retries_.fetch_add(done.retries, std::memory_order_relaxed);
  const std::uint32_t worker = state->worker;
  state->finish();
  if (!notifier_.post(std::move(state))) give_place_back(worker);
  place_free_.notify_all();
}

}  // namespace spindrift
