// An intent as a file describes it, for planning without moving anything:
// `spindrift plan --intent`. Plain value.
#pragma once

#include <cstdint>
#include <string>

#include "planner/plan.h"
#include "planner/topology.h"
#include "spindrift/intent.h"
#include "spindrift/memory.h"
#include "spindrift/status.h"

namespace spindrift::config {

struct IntentFile {
  std::string from;  // the node that holds the bytes
  std::string to;    // the node that gets them
  Operation operation = Operation::kWrite;
  std::string klass = "default";
  std::uint64_t size = 0;         // bytes in all
  std::uint64_t descriptors = 1;  // ranges they are in
  Location source;
  Location destination;
  int source_numa = -1;  // NUMA node of the memory; -1: of the GPU, else unknown
  int destination_numa = -1;
  Integrity integrity = Integrity::kPolicy;

  // The node that submits the intent: `from` writes, `to` reads.
  const std::string& initiator() const { return operation == Operation::kWrite ? from : to; }
  const std::string& peer() const { return operation == Operation::kWrite ? to : from; }
};

// kNotFound, listing what there is, when the topology has no such node or GPU.
Result<planner::PlanRequest> to_plan_request(const IntentFile& intent,
                                             const planner::Topology& topology);

// "host", "cuda:3", "file"
std::string to_string(const Location& location);

}  // namespace spindrift::config
