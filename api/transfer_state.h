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
#include "api/recycler.h"
#include "api/regions.h"
#include "executor/job.h"
#include "spindrift/transfer.h"

namespace spindrift {

// A job that finds its way back to its transfer.
struct TransferJob : executor::Job {
  Transfer::State* state = nullptr;
};

namespace api {

// What large submissions use again and again.
struct Span {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  friend bool operator<(const Span& a, const Span& b) { return a.begin < b.begin; }
};
struct SubmitBuffers {
  Recycler<ResolvedDescriptor> descriptors;
  Recycler<Span> spans;
};

}  // namespace api

class Transfer::State {
 public:
  explicit State(std::shared_ptr<api::SubmitBuffers> buffers) : buffers_(std::move(buffers)) {}
  ~State() { buffers_->descriptors.give(std::move(job.descriptors)); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

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

  const std::shared_ptr<api::SubmitBuffers> buffers_;
  std::atomic<bool> finished_{false};
  std::mutex mutex_;
  std::condition_variable done_;
  std::once_flag written_;
  TransferReport report_;
};

}  // namespace spindrift
