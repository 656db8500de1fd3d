// The public face: refuses forked children, then hands on to the core.
#include "spindrift/engine.h"

#include "api/core.h"
#include "config/load.h"

namespace spindrift {

namespace {

Result<std::unique_ptr<Engine>> start(config::Loaded<config::NodeConfig> loaded) {
  if (!loaded.ok()) return loaded.status();
  Result<std::unique_ptr<Engine::Core>> core = Engine::Core::start(std::move(loaded.value));
  if (!core.ok()) return core.status();
  return std::make_unique<Engine>(std::move(*core));
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::from_file(const std::string& path) {
  return start(config::load_node_file(path));
}

Result<std::unique_ptr<Engine>> Engine::from_yaml(std::string_view text, const std::string& name) {
  return start(config::load_node_text(text, name));
}

Engine::Engine(std::unique_ptr<Core> core) : core_(std::move(core)) {}

Engine::~Engine() {
  // A child has none of the threads to join and must not touch the parent's
  // sockets; what it holds goes with its process.
  if (core_ != nullptr && core_->fork_guard().in_child()) (void)core_.release();
}

const std::string& Engine::name() const {
  return core_->name();
}
const std::string& Engine::control_address() const {
  return core_->control_address();
}
const std::string& Engine::metrics_address() const {
  return core_->metrics_address();
}

Result<Region> Engine::register_memory(const MemoryOptions& options) {
  if (Status status = core_->fork_guard().check(); !status.ok()) return status;
  return core_->register_memory(options);
}

Status Engine::unregister_memory(RegionId region) {
  if (Status status = core_->fork_guard().check(); !status.ok()) return status;
  return core_->unregister_memory(region);
}

Result<QuiesceGuard> Engine::quiesce(void* address, std::uint64_t length) {
  if (Status status = core_->fork_guard().check(); !status.ok()) return status;
  return core_->quiesce(address, length);
}

Status Engine::revoke(const std::string& peer, const std::string& segment) {
  if (Status status = core_->fork_guard().check(); !status.ok()) return status;
  return core_->revoke(peer, segment);
}

Result<Segment> Engine::open_segment(const std::string& peer, const std::string& segment,
                                     std::chrono::nanoseconds timeout) {
  if (Status status = core_->fork_guard().check(); !status.ok()) return status;
  return core_->open_segment(peer, segment, timeout);
}

Result<Transfer> Engine::submit(Intent intent) {
  if (Status status = core_->fork_guard().check(); !status.ok()) return status;
  return core_->submit(std::move(intent));
}

Result<int> Engine::finished_fd() {
  if (Status status = core_->fork_guard().check(); !status.ok()) return status;
  return core_->finished_fd();
}

std::vector<Transfer> Engine::take_finished(std::size_t max) {
  return core_->fork_guard().in_child() ? std::vector<Transfer>{} : core_->take_finished(max);
}

std::vector<RailStatus> Engine::rails() const {
  return core_->fork_guard().in_child() ? std::vector<RailStatus>{} : core_->rails();
}

}  // namespace spindrift
