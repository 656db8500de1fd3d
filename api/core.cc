#include "api/core.h"

#include <sys/random.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

#include "api/endpoints.h"
#include "api/worker_seat.h"
#include "base/log.h"

namespace spindrift {

namespace {

constexpr std::size_t kPlansMax = 4096;     // a few per peer and rule
constexpr std::uint32_t kWorkersMax = 255;  // one byte of a lane's key

std::uint64_t random_word() {
  std::uint64_t word = 0;
  // Eight bytes never come short once the kernel's pool is seeded; until then it
  // waits, which is what an incarnation needs.
  while (::getrandom(&word, sizeof word, 0) != static_cast<ssize_t>(sizeof word)) {
  }
  return word;
}

// Equal for all processes of one running machine, containers included.
std::string read_host_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

// Two engines of one host that leave their name out are still two: a peer takes
// a second one of the same name for the first one's next process.
std::string default_name() {
  char host[49] = {};
  if (::gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') std::strcpy(host, "node");
  char number[16];
  std::snprintf(number, sizeof number, "-%08x", static_cast<std::uint32_t>(random_word()));
  return std::string(host) + number;
}

config::NodeConfig completed(config::NodeConfig config) {
  if (config.name.empty()) config.name = default_name();
  return config;
}

LogLevel to_level(config::LogVerbosity verbosity) {
  switch (verbosity) {
    case config::LogVerbosity::kDebug:
      return LogLevel::kDebug;
    case config::LogVerbosity::kInfo:
      return LogLevel::kInfo;
    case config::LogVerbosity::kWarn:
      return LogLevel::kWarn;
    case config::LogVerbosity::kError:
      return LogLevel::kError;
    case config::LogVerbosity::kOff:
      return LogLevel::kOff;
  }
  return LogLevel::kWarn;
}

}  // namespace

Engine::Core::Core(config::NodeConfig config)
    : config_(completed(std::move(config))),
      incarnation_{random_word(), random_word()},
      host_id_(read_host_id()),
      regions_(static_cast<std::uint32_t>(random_word())),
      notifier_([this](std::uint32_t worker) { give_place_back(worker); }),
      plans_(std::make_shared<policies::PolicySet>(config_.policy), kPlansMax) {
  alive_->core = this;
}

Result<std::unique_ptr<Engine::Core>> Engine::Core::start(config::NodeConfig config) {
  set_log_level(to_level(config.log));
  std::unique_ptr<Core> core(new Core(std::move(config)));
  Status status = core->notifier_.start();
  if (status.ok()) status = core->start_workers();
  if (status.ok()) status = core->start_control();
  if (status.ok()) status = core->start_metrics();
  if (!status.ok()) return status;
  return core;
}

Status Engine::Core::start_workers() {
  const executor::WorkerOptions& options = config_.workers;
  if (options.count == 0 || options.count > kWorkersMax) {
    return Status(Code::kInvalidArgument, "workers.count must be between 1 and 255");
  }
  for (std::uint32_t i = 0; i < options.count; ++i) {
    auto seat = std::make_unique<WorkerSeat>(*this, i, random_word());
    if (Status status = seat->worker.open(); !status.ok()) return status;
    if (Status status = seat->add_drivers(config_); !status.ok()) return status;
    const int cpu = i < options.affinity.size() ? static_cast<int>(options.affinity[i]) : -1;
    seat->runner = std::make_unique<executor::Runner>(seat->worker, options.spin, cpu);
    seats_.push_back(std::move(seat));
  }
  for (const auto& seat : seats_) {
    if (Status status = seat->runner->start(); !status.ok()) return status;
  }
  return {};
}

Status Engine::Core::start_control() {
  Result<std::vector<control::DataEndpoint>> endpoints =
      api::data_endpoints(config_.tcp, config_.control);
  if (!endpoints.ok()) return endpoints.status();
  control::LocalIdentity identity{.name = config_.name,
                                  .incarnation = incarnation_,
                                  .host_id = host_id_,
                                  .endpoints = std::move(*endpoints)};
  auto control = control::ControlPlane::start(config_.control, config_.tcp.port_min,
                                              config_.tcp.port_max, std::move(identity), *this);
  if (!control.ok()) return control.status();
  control_ = std::move(*control);
  started_.store(true, std::memory_order_release);
  started_.notify_all();
  return {};
}

Status Engine::Core::start_metrics() {
  if (!config_.metrics.enabled) return {};
  auto server = api::MetricsServer::start(config_.metrics, [this] { return metrics(); });
  if (!server.ok()) return server.status();
  metrics_ = std::move(*server);
  return {};
}

const std::string& Engine::Core::metrics_address() const {
  static const std::string kOff;
  return metrics_ ? metrics_->address() : kOff;
}

Engine::Core::~Core() {
  stop();
}

// Transfers first, so that they settle in order; then nothing new can come in
// (metrics, control), then the threads that touched memory, then the news.
void Engine::Core::stop() {
  shutting_down_.store(true);
  {
    std::lock_guard lock(alive_->mutex);
    alive_->core = nullptr;
  }
  if (started_.load()) {
    for (std::uint32_t i = 0; i < seats_.size(); ++i) send(i, executor::StopWorker{});
    std::unique_lock lock(running_mutex_);
    place_free_.notify_all();
    place_free_.wait_for(lock, config_.shutdown_grace, [this] { return running_.empty(); });
    lock.unlock();
    end_inbound();
  }
  metrics_.reset();
  if (control_) control_->stop();
  {
    std::unique_lock gate(gate_);
    workers_ended_ = true;
  }
  for (const auto& seat : seats_) {
    if (seat->runner) seat->runner->stop();
  }
  abandon_running();
  notifier_.stop();
}

// Nothing of any peer touches memory after this, and no lane is adopted any more
// (lane_accepted() looks at shutting_down_). Only then may peers be told goodbye,
// or find the port closed: both count as proof that we place nothing.
void Engine::Core::end_inbound() {
  {
    std::lock_guard lock(peers_mutex_);
    for (const auto& [session, name] : session_names_) {
      send(placing_worker(name), executor::DropInbound{session});
    }
    session_names_.clear();
  }
  change_regions([](rails::RegionTable&) {});  // returns when all have done it
}

// Transfers whose peer did not confirm its fence in time. The workers' threads
// are gone, so nothing touches memory at this end; what the peer's kernel holds
// it may still place, and the report says so.
void Engine::Core::abandon_running() {
  std::unordered_map<std::uint64_t, std::shared_ptr<Transfer::State>> left;
  {
    std::lock_guard lock(running_mutex_);
    left.swap(running_);
  }
  for (auto& [id, state] : left) {
    executor::Job& job = state->job;
    job.outcome = Cause::kShutDown;
    job.finished_at = std::max(job.submitted, job.finished_at);
    job.unlanded = {{executor::Cursor{}, job.bytes, true}};
    job.landed = 0;
    state->finish();
    notifier_.post(state);
  }
}

void Engine::Core::await_started() {
  started_.wait(false, std::memory_order_acquire);
}

bool Engine::Core::try_send(std::uint32_t worker, executor::Command& command) {
  return seats_[worker]->worker.send(command);
}

// For commands that must not be lost. A worker never waits for anybody, so a
// full inbox is empty again soon.
void Engine::Core::send(std::uint32_t worker, executor::Command command) {
  while (!try_send(worker, command)) std::this_thread::yield();
}

}  // namespace spindrift
