// The machines that a plan is made for: discovered from this host and its
// peers, or read from a topology file to plan for machines that are elsewhere.
// Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/rail_types.h"
#include "base/units.h"

namespace spindrift::planner {

struct Nic {
  std::string name;  // "eth2", "mlx5_0"
  Transport transport = Transport::kTcp;
  std::vector<std::string> addresses;  // with prefix length: "10.0.2.1/24"
  Rate line_rate;                      // 0: unknown
  int numa = -1;                       // -1: unknown
  std::string pci;
  bool up = true;
};

struct Node {
  std::string name;
  std::string host;  // nodes of one host share it; empty: a host of its own
  std::vector<Nic> nics;
  std::vector<int> gpu_numa;  // NUMA node of cuda:0, cuda:1, ...
};

// What a person may know of a link that is no property of either NIC.
struct Link {
  std::string from_node, from_nic, to_node, to_nic;
  Duration round_trip{0};  // 0: unknown
  bool usable = true;
  std::string reason;  // why not usable
};

struct Topology {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Link> links;  // only where something is to be said

  const Node* find(const std::string& node) const;
};

// Two processes of one machine.
bool on_one_host(const Node& a, const Node& b);

}  // namespace spindrift::planner
