// What an engine is made of, wired together: workers with their drivers, the
// control plane, the planner, registrations and peers. It routes between them:
// control events become commands of the worker they concern, and what workers
// ask for becomes calls of the control plane. It decides nothing else.
//
// Threads: one per worker, one of the control plane, one for callbacks, the
// metrics server's, and the callers'. All are joined by the destructor.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/fork_guard.h"
#include "api/metrics.h"
#include "api/name_table.h"
#include "api/notifier.h"
#include "api/peer.h"
#include "api/rail_details.h"
#include "api/regions.h"
#include "api/submit.h"
#include "api/transfer_state.h"
#include "config/node_config.h"
#include "control/control_plane.h"
#include "executor/runner.h"
#include "executor/worker.h"
#include "planner/plan_cache.h"
#include "spindrift/engine.h"

namespace spindrift {

class Engine::Core final : public control::ControlEvents {
 public:
  static Result<std::unique_ptr<Core>> start(config::NodeConfig config);
  ~Core() override;

  const std::string& name() const { return config_.name; }
  const std::string& control_address() const { return control_->address(); }
  const std::string& metrics_address() const;
  const config::NodeConfig& config() const { return config_; }
  const api::ForkGuard& fork_guard() const { return fork_guard_; }
  bool in_child() const { return fork_guard_.in_child(); }

  // memory.cc
  Result<Region> register_memory(const MemoryOptions& options);
  Status unregister_memory(RegionId id);
  Result<QuiesceGuard> quiesce(void* address, std::uint64_t length);
  Status revoke(const std::string& peer, const std::string& segment);
  void resume(std::uint64_t token);

  // transfers.cc
  Result<Segment> open_segment(const std::string& peer, const std::string& segment,
                               Duration timeout);
  Result<Transfer> submit(Intent intent);
  Result<int> finished_fd() { return notifier_.finished_fd(); }
  std::vector<Transfer> take_finished(std::size_t max) { return notifier_.take_finished(max); }

  // reports.cc
  std::vector<RailStatus> rails() const;
  std::vector<api::RailDetails> rail_reports() const;
  api::MetricsSnapshot metrics() const;

  // events.cc: from the control plane, on its thread
  void peer_connected(control::PeerSlot peer, const control::RemotePeer& remote) override;
  void peer_lost(control::PeerSlot peer, const Status& why) override;
  void peer_gone(control::PeerSlot peer, const Status& why) override;
  void lane_connected(const control::LaneRequest& lane, FileDescriptor socket) override;
  void lane_failed(const control::LaneRequest& lane, const Status& why) override;
  void fenced(control::PeerSlot peer, const control::FenceReply& reply) override;
  void link_changed(const std::string& device, bool up) override;
  void session_opened(control::InboundSession session, const control::RemotePeer& remote) override;
  void session_closed(control::InboundSession session) override;
  void lane_accepted(control::AcceptedLane lane) override;
  void fence_requested(control::InboundSession session,
                       const control::FenceRequest& request) override;

 private:
  struct WorkerSeat;  // a worker, its thread, and what it asks for

  explicit Core(config::NodeConfig config);
  Status start_workers();
  Status start_control();
  Status start_metrics();
  void stop();
  void end_inbound();
  void abandon_running();
  void await_started();

  void send(std::uint32_t worker, executor::Command command);
  bool try_send(std::uint32_t worker, executor::Command& command);
  // Runs `change` on every worker's table and waits until all obey it.
  void change_regions(const std::function<void(rails::RegionTable&)>& change);
  // Runs `look` on a worker's thread and waits for it; false when it is gone.
  bool inspect(std::uint32_t worker, executor::Inspect look) const;

  api::Peer& peer(control::PeerSlot slot);
  std::vector<std::shared_ptr<api::Peer>> peers() const;
  Result<control::PeerSlot> find_peer(const std::string& name_or_address);
  void add_to_worker(api::Peer& peer);
  std::uint32_t placing_worker(std::uint32_t name) const;

  Status take_place(const Intent& intent, std::uint32_t worker);
  void give_place_back(std::uint32_t worker);
  void finished(executor::Job* job);

  api::ForkGuard fork_guard_;  // first: born before any thread
  const config::NodeConfig config_;
  Incarnation incarnation_;
  const std::string host_id_;
  api::NameTable names_;
  api::Regions regions_;
  const std::shared_ptr<api::SubmitBuffers> submit_buffers_ =
      std::make_shared<api::SubmitBuffers>();
  api::Notifier notifier_;
  std::vector<std::unique_ptr<WorkerSeat>> seats_;
  std::unique_ptr<control::ControlPlane> control_;
  std::unique_ptr<api::MetricsServer> metrics_;
  std::atomic<bool> started_{false};  // control_ is set; events wait for it
  std::atomic<bool> shutting_down_{false};
  // Held by whoever sends a worker something that must be answered; closed
  // before the workers' threads end.
  mutable std::shared_mutex gate_;
  bool workers_ended_ = false;    // under gate_
  std::uint64_t last_epoch_ = 0;  // of any peer's process; the control thread's

  mutable std::mutex peers_mutex_;
  std::vector<std::shared_ptr<api::Peer>> peers_;  // by PeerSlot
  std::unordered_map<control::InboundSession, std::uint32_t> session_names_;

  std::mutex plan_mutex_;
  planner::PlanCache plans_;

  std::mutex revoked_mutex_;
  struct Revoked {
    std::string peer;
    std::string segment;
    friend bool operator==(const Revoked&, const Revoked&) = default;
  };
  std::vector<Revoked> revoked_;  // each once: bounded by what the owner asks for
  std::atomic<std::uint64_t> next_quiesce_token_{1};

  std::mutex running_mutex_;  // also guards the seats' places
  std::condition_variable place_free_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Transfer::State>> running_;
  std::uint64_t next_transfer_ = 1;

  // Guards that outlive the engine find it gone through this.
  struct Alive {
    std::mutex mutex;
    Core* core = nullptr;
  };
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
  friend class QuiesceGuard::State;

  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> bytes_written_{0};
  std::atomic<std::uint64_t> bytes_read_{0};
  std::atomic<std::uint64_t> retries_{0};
  std::atomic<std::uint64_t> rejected_{0};
};

class QuiesceGuard::State {
 public:
  State(std::shared_ptr<Engine::Core::Alive> alive, std::uint64_t token)
      : alive_(std::move(alive)), token_(token) {}
  ~State();

 private:
  std::shared_ptr<Engine::Core::Alive> alive_;
  std::uint64_t token_;
};

}  // namespace spindrift
