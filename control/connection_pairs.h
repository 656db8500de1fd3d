// Over which pairs of addresses a session runs besides its first connection:
// as many different rails as there are, so that it survives the loss of any.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "control/control_plane.h"

namespace spindrift::control {

struct EndpointPair {
  std::uint32_t local = 0;   // index
  std::uint32_t remote = 0;  // index

  friend constexpr bool operator==(const EndpointPair&, const EndpointPair&) = default;
};

// At most `count`, best first: pairs of one subnet whose ends no better pair
// uses, then such that cross subnets, then pairs of one subnet that share an
// end. Only TCP endpoints with a port, loopback only within one host; equal input
// gives equal output.
std::vector<EndpointPair> choose_pairs(const std::vector<DataEndpoint>& local,
                                       const std::vector<DataEndpoint>& remote, bool same_host,
                                       std::size_t count);

}  // namespace spindrift::control
