// The matching inside of pairing.h: the NICs of one transport at two nodes. Pure.
#pragma once

#include <string>
#include <vector>

#include "planner/subnet.h"
#include "planner/topology.h"

namespace spindrift::planner {

// A NIC that can take part.
struct End {
  std::size_t nic = 0;
  const Nic* facts = nullptr;
  std::vector<Address> addresses;  // those that can reach the peer
  bool loopback = false;
};

struct EndMatch {
  std::size_t a = 0;  // index into the ends of one transport
  std::size_t b = 0;
  std::string a_address;
  std::string b_address;
  bool routed = false;
};

// NVLink, shared memory and files connect what is in one machine.
bool stays_on_host(Transport transport);

// Each end at most once; in order of `a`, those with a common subnet first. Costs
// at most a.size() * edges steps.
std::vector<EndMatch> match_ends(const std::vector<End>& a, const std::vector<End>& b);

}  // namespace spindrift::planner
