#include "config/intent_file.h"

#include <vector>

#include "config/suggest.h"

namespace spindrift::config {
namespace {

Status unknown_node(const planner::Topology& topology, const std::string& name) {
  std::vector<std::string> names;
  for (const planner::Node& node : topology.nodes) names.push_back(node.name);
  return Status(Code::kNotFound, Status::Detail{.what = "node " + quoted(name) + " of the intent",
                                                .why = "the topology has no such node",
                                                .hint = "it has: " + joined(names)});
}

// A node that lists no GPUs says nothing about them.
Status check_gpu(const planner::Node& node, const Location& memory) {
  if (memory.kind != MemoryKind::kCuda || node.gpu_numa.empty()) return {};
  if (memory.device < node.gpu_numa.size()) return {};
  return Status(Code::kNotFound,
                Status::Detail{.what = to_string(memory) + " on node " + node.name,
                               .why = "it has " + std::to_string(node.gpu_numa.size()) + " GPUs",
                               .hint = "count from cuda:0"});
}

int numa_of(const planner::Node& node, const Location& memory, int written) {
  const bool gpu_known = memory.kind == MemoryKind::kCuda && memory.device < node.gpu_numa.size();
  return written < 0 && gpu_known ? node.gpu_numa[memory.device] : written;
}

}  // namespace

Result<planner::PlanRequest> to_plan_request(const IntentFile& intent,
                                             const planner::Topology& topology) {
  const planner::Node* from = topology.find(intent.from);
  const planner::Node* to = topology.find(intent.to);
  if (!from) return unknown_node(topology, intent.from);
  if (!to) return unknown_node(topology, intent.to);
  if (Status status = check_gpu(*from, intent.source); !status) return status;
  if (Status status = check_gpu(*to, intent.destination); !status) return status;
  return planner::PlanRequest{
      .operation = intent.operation,
      .klass = intent.klass,
      .bytes = intent.size,
      .descriptors = intent.descriptors,
      .source = intent.source,
      .destination = intent.destination,
      .same_host = planner::on_one_host(*from, *to),
      .peer = intent.peer(),
      .integrity = intent.integrity,
      .source_numa = numa_of(*from, intent.source, intent.source_numa),
      .destination_numa = numa_of(*to, intent.destination, intent.destination_numa)};
}

std::string to_string(const Location& location) {
  switch (location.kind) {
    case MemoryKind::kHost:
      return "host";
    case MemoryKind::kCuda:
      return "cuda:" + std::to_string(location.device);
    case MemoryKind::kFile:
      return "file";
  }
  return "unknown";
}

}  // namespace spindrift::config
