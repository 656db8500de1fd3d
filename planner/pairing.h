// Which local NIC talks to which NIC of the peer: n pairs, not n x n. Pure.
//
// NICs that share a subnet are paired with each other, in order of their names;
// what is left on both sides is paired in order and marked as routed, to be
// verified by connecting. Never more than kRailsPerPeerMax pairs. Deterministic.
#pragma once

#include <string>
#include <vector>

#include "base/rail_types.h"
#include "planner/topology.h"

namespace spindrift::planner {

struct NicPair {
  std::size_t local = 0;      // index into the local node's nics
  std::size_t remote = 0;     // index into the remote node's nics
  std::string local_address;  // without the prefix length
  std::string remote_address;
  bool routed = false;  // no subnet in common
};

struct Unpaired {
  bool local = true;
  std::size_t nic = 0;
  std::string why;  // "link down", "no NIC of this transport left at the peer"
};

struct Pairing {
  std::vector<NicPair> pairs;
  std::vector<Unpaired> unpaired;
};

Pairing pair_nics(const Node& local, const Node& remote);

}  // namespace spindrift::planner
