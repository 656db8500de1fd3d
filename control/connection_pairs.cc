#include "control/connection_pairs.h"

#include <algorithm>
#include <optional>

#include "control/socket_address.h"

namespace spindrift::control {
namespace {

std::vector<std::optional<SocketAddress>> addresses_of(const std::vector<DataEndpoint>& endpoints) {
  std::vector<std::optional<SocketAddress>> addresses;
  for (const DataEndpoint& endpoint : endpoints) {
    auto address = SocketAddress::of(endpoint.address, endpoint.port);
    const bool usable = endpoint.transport == Transport::kTcp && endpoint.port != 0 && address;
    addresses.push_back(usable ? std::optional(*address) : std::nullopt);
  }
  return addresses;
}

}  // namespace

std::vector<EndpointPair> choose_pairs(const std::vector<DataEndpoint>& local,
                                       const std::vector<DataEndpoint>& remote, bool same_host,
                                       std::size_t count) {
  const auto from = addresses_of(local);
  const auto to = addresses_of(remote);
  std::vector<EndpointPair> chosen;
  std::vector<bool> local_used(local.size());
  std::vector<bool> remote_used(remote.size());

  const auto pass = [&](bool same_subnet, bool fresh_ends) {
    for (std::uint32_t i = 0; i < from.size(); ++i) {
      for (std::uint32_t j = 0; j < to.size() && chosen.size() < count; ++j) {
        if (!from[i] || !to[j] || from[i]->is_v6() != to[j]->is_v6()) continue;
        if (from[i]->is_loopback() != to[j]->is_loopback()) continue;
        if (to[j]->is_loopback() && !same_host) continue;
        if (from[i]->same_subnet(*to[j], local[i].prefix) != same_subnet) continue;
        if (fresh_ends && (local_used[i] || remote_used[j])) continue;
        const EndpointPair pair{i, j};
        if (std::find(chosen.begin(), chosen.end(), pair) != chosen.end()) continue;
        local_used[i] = remote_used[j] = true;
        chosen.push_back(pair);
      }
    }
  };
  pass(true, true);
  pass(false, true);
  pass(true, false);
  return chosen;
}

}  // namespace spindrift::control
