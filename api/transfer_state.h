// What a Transfer handle points to: the executor's job, who waits for it, and
// the report, which is put together by the first who asks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/peer.h"
#include "api/regions.h"
#include "executor/job.h"
#include "spindrift/transfer.h"

namespace spindrift {

// A job that finds its way back to its transfer.
struct TransferJob : executor::Job {
  Transfer::State* state = nullptr;
};

class Transfer::State {
 public:
  // --- constant once submitted ----------------------------------------------------
  TransferJob job;
  std::string peer;
  std::string what;                                            // "write of 64 MiB to segment kv"
  std::shared_ptr<const std::vector<std::string>> rail_names;  // by ordinal
  std::vector<std::uint32_t> original;  // descriptor index in the intent; empty: the same
  std::vector<api::LocalRegionPtr> regions;
  std::function<void(const TransferReport&)> on_finished;
  std::uint32_t worker = 0;
  bool to_fd = false;             // reported by take_finished()
  bool has_callback = false;      // on_finished was given; it is moved out when called
  std::shared_ptr<api::Peer> to;  // for what its rails say of themselves

  // On the worker's thread, once.
  void finish();
  bool finished() const { return finished_.load(std::memory_order_acquire); }
  // False on time-out.
  bool wait_until(std::chrono::steady_clock::time_point deadline);
  void wait();
  const TransferReport& report();

 private:
  void write_report();
  Status outcome() const;
  std::string causes() const;

  std::atomic<bool> finished_{false};
  std::mutex mutex_;
  std::condition_variable done_;
  std::once_flag written_;
  TransferReport report_;
};

}  // namespace spindrift
