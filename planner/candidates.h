// Rails between two nodes of a topology, as the planner takes them: for plans on
// machines that are elsewhere. Pure. What it cannot know of a rail that does not
// exist here (which memory its NIC reaches) it takes from the transport's kind.
#pragma once

#include <string>
#include <vector>

#include "planner/plan.h"
#include "planner/topology.h"
#include "spindrift/status.h"

namespace spindrift::planner {

struct Candidates {
  // Index == ordinal. The same whatever the order of the NICs in the file.
  std::vector<RailCandidate> rails;
  std::vector<std::string> unused;  // "decode-0 eth4: link down"
};

// kNotFound when the topology has no such node, listing those that it has.
Result<Candidates> candidates_between(const Topology& topology, const std::string& local,
                                      const std::string& remote);

// What a transport can usually do. TCP moves host memory, RDMA and NVLink reach
// GPUs directly.
RailCapabilities usual_capabilities(Transport transport);

}  // namespace spindrift::planner
