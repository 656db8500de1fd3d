// A submitted intent: wait for it, poll it, read its report.
//
// A Transfer is a cheap handle, safe to copy and to use from several threads.
// Dropping it does not cancel anything. When a transfer is reported finished,
// in whatever way, no part of it touches the source or the destination again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spindrift/export.h"
#include "spindrift/ids.h"
#include "spindrift/status.h"

namespace spindrift {

enum class TransferState : std::uint8_t {
  kRunning,
  kCompleted,  // every byte landed
  kFailed,     // report.status says why, report.unconfirmed which bytes
};

// A part of one descriptor that is not confirmed to have landed.
struct UnconfirmedRange {
  std::uint64_t descriptor = 0;  // index into Intent::ranges
  std::uint64_t offset = 0;      // within that descriptor
  std::uint64_t length = 0;
  bool may_have_landed = false;  // false: certainly not written
};

struct RailReport {
  std::string rail;            // "tcp:eth2>eth2"
  std::uint64_t bytes = 0;     // confirmed landed over this rail
  std::uint64_t attempts = 0;  // postings of slices
  std::uint64_t failures = 0;  // attempts that did not land
};

class TransferReport {
 public:
  TransferId id;
  TransferState state = TransferState::kRunning;
  Status status;  // ok exactly when kCompleted; else the first cause
  std::string peer;
  std::uint64_t bytes = 0;         // asked for
  std::uint64_t landed_bytes = 0;  // confirmed
  std::uint64_t slices = 0;
  std::uint64_t retries = 0;
  std::chrono::nanoseconds queue_time{0};      // submit -> first slice posted
  std::chrono::nanoseconds transport_time{0};  // first slice posted -> finished
  std::string policy_rule;                     // which rule matched
  std::vector<RailReport> rails;               // those of the plan
  // Sorted, merged; every byte of the intent that is not in here has landed.
  std::vector<UnconfirmedRange> unconfirmed;
};

class SPINDRIFT_API Transfer {
 public:
  class State;  // internal

  Transfer() = default;
  explicit Transfer(std::shared_ptr<State> state) : state_(std::move(state)) {}

  TransferId id() const;
  bool finished() const;
  // Waits until finished, at most `timeout`; true when finished. Sleeps in the
  // kernel; burns no CPU.
  bool wait(std::chrono::nanoseconds timeout) const;
  // Waits for the outcome, which comes within the transfer's time budget; with one
  // limit as yet: a write to a peer that is silent, but not known to be dead, may
  // stay unfinished for longer (docs/ARCHITECTURE.md, "Fences"). wait(timeout) does
  // not wait for that.
  const TransferReport& wait() const;
  // Only once finished() is true; before, an empty report with kRunning.
  const TransferReport& report() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace spindrift
