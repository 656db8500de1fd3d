#include "planner/topology.h"

namespace spindrift::planner {

const Node* Topology::find(const std::string& node) const {
  for (const Node& candidate : nodes) {
    if (candidate.name == node) return &candidate;
  }
  return nullptr;
}

bool on_one_host(const Node& a, const Node& b) {
  return a.name == b.name || (!a.host.empty() && a.host == b.host);
}

}  // namespace spindrift::planner
