// The engine: one process's part in moving data. Start here.
//
// Thread-safe: every method may be called from any thread at any time, except
// the destructor. Several engines may live in one process. An engine owns its
// threads; the destructor ends running transfers (kShutDown), joins the threads
// and returns within `shutdown_grace` of the configuration. After fork() the
// child's copy refuses every call with kUnsupported.
//
// The smallest use; examples/first_transfer.cc is a whole program:
//
//   auto engine = Engine::from_file("node.yaml");
//   auto region = (*engine)->register_memory({.address = p, .length = n});
//   auto segment = (*engine)->open_segment("10.0.0.2:7400", "kv");
//   auto transfer = (*engine)->submit(intent);
//   const TransferReport& report = transfer->wait();
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spindrift/export.h"
#include "spindrift/intent.h"
#include "spindrift/memory.h"
#include "spindrift/segment.h"
#include "spindrift/status.h"
#include "spindrift/transfer.h"

namespace spindrift {

// While it lives, peers are refused access to the range it was made for.
class SPINDRIFT_API QuiesceGuard {
 public:
  class State;  // internal

  QuiesceGuard() = default;
  explicit QuiesceGuard(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

// One rail to one peer, for people and tools.
struct RailStatus {
  std::string peer;
  std::string rail;  // "tcp:eth2>eth2"
  bool usable = false;
  std::string reason;  // why not, when not usable
  // What is thought of it as a carrier of writes and of reads: "healthy", "suspect",
  // "quarantined", "probing" or "ramping".
  std::string health_out = "healthy";
  std::string health_in = "healthy";
  std::uint64_t rate_out_bps = 0;  // measured, bytes per second; 0: not yet
  std::uint64_t rate_in_bps = 0;
  std::uint64_t bytes_out = 0;  // landed by this engine's writes
  std::uint64_t bytes_in = 0;   // landed by this engine's reads
  std::uint64_t failures = 0;   // attempts that did not land
};

class SPINDRIFT_API Engine {
 public:
  class Core;  // internal

  // `path` is a node file (docs/CONFIG.md). Fails with kConfig and every
  // problem of the file, one per line, or with what could not be started.
  static Result<std::unique_ptr<Engine>> from_file(const std::string& path);
  // The same from text; `name` stands for the file in messages, and relative
  // paths inside the text are relative to the working directory.
  static Result<std::unique_ptr<Engine>> from_yaml(std::string_view text,
                                                   const std::string& name = "<config>");

  explicit Engine(std::unique_ptr<Core> core);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const std::string& name() const;
  // "IP:PORT" where peers reach this engine.
  const std::string& control_address() const;
  // "IP:PORT" of the metrics endpoint; empty when it is off.
  const std::string& metrics_address() const;

  // kAlreadyExists when the range overlaps another region; kBusy over the bound.
  Result<Region> register_memory(const MemoryOptions& options);
  // kBusy while running transfers of this engine use it, naming how many; peers
  // are refused from the call on. After ok nothing touches the memory.
  Status unregister_memory(RegionId region);
  // Returns when no inbound access can touch the range; peers are refused
  // (kPermissionDenied at their end) while the guard lives.
  Result<QuiesceGuard> quiesce(void* address, std::uint64_t length);
  // Takes a peer's rights on a local segment away, for good. Returns when no
  // access of that peer can touch it.
  Status revoke(const std::string& peer, const std::string& segment);

  // `peer` is a configured name or "IP:PORT". Connects when necessary, and tries
  // again until the timeout also where the port is closed: it may be starting.
  Result<Segment> open_segment(const std::string& peer, const std::string& segment,
                               std::chrono::nanoseconds timeout = std::chrono::seconds(10));

  // Checks everything about the intent before anything moves.
  Result<Transfer> submit(Intent intent);

  // For one's own event loop: readable while finished transfers are waiting to
  // be taken. Owned by the engine. Only transfers submitted after the first
  // call of finished_fd() are reported here.
  Result<int> finished_fd();
  std::vector<Transfer> take_finished(std::size_t max = 64);

  std::vector<RailStatus> rails() const;

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace spindrift
