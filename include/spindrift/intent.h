// A declared transfer: what must move. It names no rail, no NIC, no slice size;
// the policy and the planner decide those.
//
//   Intent intent;
//   intent.operation = Operation::kWrite;
//   intent.target = segment;
//   intent.ranges = {{buffer, segment.regions()[0].address, 64 << 20}};
//   Result<Transfer> transfer = engine->submit(std::move(intent));
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spindrift/segment.h"

namespace spindrift {

class TransferReport;

enum class Operation : std::uint8_t {
  kWrite,  // put: local -> peer
  kRead,   // get: peer -> local
};

// One pair of equally long ranges. Zero length is allowed and is complete at
// once. `remote` is an address within one region of the target segment.
struct Descriptor {
  void* local = nullptr;
  std::uint64_t remote = 0;
  std::uint64_t length = 0;
};

enum class Integrity : std::uint8_t {
  kPolicy,  // as the matching policy rule says
  kNone,    // what the transport checks by itself
  kCrc32c,  // a checksum per slice, end to end; a mismatch is retried
};

// What submit() does when a configured bound is reached: says kBusy, or waits for
// room within the intent's budget. A callback never waits: it would for itself.
enum class OnFull : std::uint8_t { kBusy, kWait };

struct Intent {
  Operation operation = Operation::kWrite;
  Segment target;
  std::vector<Descriptor> ranges;  // destination ranges must not overlap
  std::string klass;               // the policy class; empty: "default"
  // Time from submit to the outcome. 0: the configured default, scaled by size.
  std::chrono::nanoseconds budget{0};
  Integrity integrity = Integrity::kPolicy;
  OnFull on_full = OnFull::kBusy;
  // Called once, on the engine's callback thread, after the transfer finished.
  // It may submit again; it must not destroy the engine.
  std::function<void(const TransferReport&)> on_finished;
};

}  // namespace spindrift
