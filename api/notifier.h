// Tells callers about finished transfers: callbacks on a thread of its own, so
// that a slow one never holds up a worker, and a descriptor for event loops.
// Thread-safe. What waits here is bounded by the transfers that may run: a place
// is given back only when the news was taken.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "api/transfer_state.h"
#include "base/file_descriptor.h"
#include "spindrift/status.h"

namespace spindrift::api {

class Notifier {
 public:
  // `taken` is called when a transfer's news reached the caller.
  explicit Notifier(std::function<void(std::uint32_t worker)> taken) : taken_(std::move(taken)) {}
  ~Notifier() { stop(); }

  Status start();
  // Delivers what waits, then joins. Idempotent.
  void stop();

  // From a worker's thread. True when somebody will be told and `taken` follows.
  bool post(std::shared_ptr<Transfer::State> state);

  Result<int> finished_fd();
  bool fd_in_use() const { return fd_in_use_.load(std::memory_order_acquire); }
  std::vector<Transfer> take_finished(std::size_t max);
  // Whether the caller is a callback, on whom the next places to become free wait.
  bool in_callback() const { return std::this_thread::get_id() == caller_.load(); }

 private:
  void run();
  static void deliver(Transfer::State& state);

  const std::function<void(std::uint32_t)> taken_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Transfer::State>> callbacks_;
  std::deque<std::shared_ptr<Transfer::State>> finished_;
  FileDescriptor fd_;
  std::atomic<bool> fd_in_use_{false};
  bool stopping_ = false;
  std::atomic<std::thread::id> caller_;
  std::thread thread_;
};

}  // namespace spindrift::api
