#include "planner/pairing.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "planner/natural_order.h"
#include "planner/nic_matching.h"
#include "planner/subnet.h"

namespace spindrift::planner {
namespace {

// Fastest first: what is beyond kRailsPerPeerMax is cut off at the slow end.
constexpr std::array<Transport, 6> kTransports{Transport::kNvlink, Transport::kShm,
                                               Transport::kRdma,   Transport::kFile,
                                               Transport::kTcp,    Transport::kSim};
// NICs of one transport and node that take part: bounds the matching below for a
// topology file of any size. No machine has a quarter as many.
constexpr std::size_t kNicsMax = 256;

// Whether the NIC can take part at all; else why not.
std::optional<End> make_end(const Nic& nic, std::size_t index, const Node& peer, bool same,
                            std::string& why) {
  End end{.nic = index, .facts = &nic};
  if (!nic.up) {
    why = "link down";
    return {};
  }
  if (stays_on_host(nic.transport) && !same) {
    why = std::string(to_string(nic.transport)) + " stays on one host, and " + peer.name +
          " is another one";
    return {};
  }
  bool only_loopback = !nic.addresses.empty();
  for (const std::string& text : nic.addresses) {
    std::optional<Address> address = parse_address(text);
    if (!address) {
      why = "\"" + text + "\" is no address";
      return {};
    }
    only_loopback = only_loopback && is_loopback(*address);
    if (same || !is_loopback(*address)) end.addresses.push_back(std::move(*address));
  }
  end.loopback = only_loopback;
  if (only_loopback && !same) {
    why = "loopback stays on one host, and " + peer.name + " is another one";
    return {};
  }
  if (nic.addresses.empty() && nic.transport == Transport::kTcp) {
    why = "no address";
    return {};
  }
  return end;
}

// By name, so that the order of a file or of the kernel does not matter. One
// name can stand for several addresses of one device.
bool end_before(const End& x, const End& y) {
  if (x.facts->name != y.facts->name) return natural_less(x.facts->name, y.facts->name);
  return std::tie(x.facts->addresses, x.nic) < std::tie(y.facts->addresses, y.nic);
}

// One node's side of the work.
struct Side {
  const Node& node;
  std::array<std::vector<End>, kTransports.size()> ends;
  std::vector<Unpaired> unpaired;  // `local` is filled in at the end

  void collect(const Node& peer) {
    const bool same = on_one_host(node, peer);
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      std::string why;
      std::optional<End> end = make_end(node.nics[i], i, peer, same, why);
      if (!end) {
        unpaired.push_back({.nic = i, .why = std::move(why)});
        continue;
      }
      const auto* place = std::find(kTransports.begin(), kTransports.end(), node.nics[i].transport);
      ends[static_cast<std::size_t>(place - kTransports.begin())].push_back(std::move(*end));
    }
    for (std::vector<End>& list : ends) {
      std::sort(list.begin(), list.end(), end_before);
      while (list.size() > kNicsMax) {
        leave_out(list.back(), "more than " + std::to_string(kNicsMax) + " of one transport");
        list.pop_back();
      }
    }
  }
  void leave_out(const End& end, std::string why) {
    unpaired.push_back({.nic = end.nic, .why = std::move(why)});
  }
};

struct OrderedPair {
  std::size_t transport = 0;
  EndMatch match;
};

// Tells why the ends that `used` does not mark have no partner.
void leave_out_rest(Side& side, const Side& other, std::size_t transport,
                    const std::vector<bool>& used) {
  const std::string kind = to_string(kTransports[transport]);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    const bool none = other.ends[transport].empty();
    side.leave_out(side.ends[transport][i],
                   none ? other.node.name + " has no usable " + kind + " NIC"
                        : "no " + kind + " NIC left at " + other.node.name + " to pair it with");
  }
}

std::vector<OrderedPair> pair_sides(Side& a, Side& b) {
  std::vector<OrderedPair> pairs;
  for (std::size_t t = 0; t < kTransports.size(); ++t) {
    std::vector<bool> used_a(a.ends[t].size());
    std::vector<bool> used_b(b.ends[t].size());
    for (EndMatch& match : match_ends(a.ends[t], b.ends[t])) {
      used_a[match.a] = used_b[match.b] = true;
      if (pairs.size() < kRailsPerPeerMax) {
        pairs.push_back({t, std::move(match)});
        continue;
      }
      const std::string why = "a peer has at most " + std::to_string(kRailsPerPeerMax) + " rails";
      a.leave_out(a.ends[t][match.a], why);
      b.leave_out(b.ends[t][match.b], why);
    }
    leave_out_rest(a, b, t, used_a);
    leave_out_rest(b, a, t, used_b);
  }
  return pairs;
}

// The pairing is made from the side of the smaller node, whoever asks, so that
// both ends come to the same pairs.
bool before(const Node& x, const Node& y) {
  if (x.name != y.name) return x.name < y.name;
  if (x.host != y.host) return x.host < y.host;
  const auto names = [](const Node& node) {
    std::vector<std::pair<std::string, std::vector<std::string>>> list;
    for (const Nic& nic : node.nics) list.emplace_back(nic.name, nic.addresses);
    std::sort(list.begin(), list.end());
    return list;
  };
  return names(x) < names(y);
}

void take_unpaired(Pairing& pairing, Side& side, bool local) {
  std::sort(side.unpaired.begin(), side.unpaired.end(),
            [](const Unpaired& x, const Unpaired& y) { return x.nic < y.nic; });
  for (Unpaired& unpaired : side.unpaired) {
    unpaired.local = local;
    pairing.unpaired.push_back(std::move(unpaired));
  }
}

}  // namespace

Pairing pair_nics(const Node& local, const Node& remote) {
  Side here{.node = local};
  Side there{.node = remote};
  here.collect(remote);
  there.collect(local);
  const bool mirrored = before(remote, local);
  std::vector<OrderedPair> found = mirrored ? pair_sides(there, here) : pair_sides(here, there);
  if (mirrored) {
    for (OrderedPair& pair : found) {
      std::swap(pair.match.a, pair.match.b);
      std::swap(pair.match.a_address, pair.match.b_address);
    }
  }
  // In the order of the local names: these places become the rails' ordinals.
  std::sort(found.begin(), found.end(), [](const OrderedPair& x, const OrderedPair& y) {
    return std::tie(x.transport, x.match.a) < std::tie(y.transport, y.match.a);
  });
  Pairing pairing;
  for (OrderedPair& pair : found) {
    pairing.pairs.push_back({.local = here.ends[pair.transport][pair.match.a].nic,
                             .remote = there.ends[pair.transport][pair.match.b].nic,
                             .local_address = std::move(pair.match.a_address),
                             .remote_address = std::move(pair.match.b_address),
                             .routed = pair.match.routed});
  }
  take_unpaired(pairing, here, true);
  take_unpaired(pairing, there, false);
  return pairing;
}

}  // namespace spindrift::planner
