#include "config/read_topology.h"

#include <map>
#include <string>
#include <utility>

#include "config/suggest.h"
#include "config/text_rules.h"

namespace spindrift::config {
namespace {

using planner::Link;
using planner::Nic;
using planner::Node;
using planner::Topology;
using std::chrono::seconds;

constexpr std::size_t kNodesOfTopologyMax = 1024;
constexpr std::size_t kLinksMax = 16'384;
constexpr std::size_t kAddressesMax = 16;
constexpr int kNumaMax = 1023;
constexpr Choice<Transport> kNicTransports[] = {{"tcp", Transport::kTcp},
                                                {"rdma", Transport::kRdma}};

bool is_link_end(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != text.npos && kNodeName.valid(text.substr(0, slash)) &&
         kDeviceName.valid(text.substr(slash + 1));
}
const TextRule kLinkEnd{"NODE/NIC, like prefill-0/eth2", is_link_end};

// Names that were used, and where.
using Places = std::map<std::string, SourcePlace>;

void check_unique(MapReader& map, const char* key, const std::string& name, Places& places) {
  if (name.empty()) return;
  const auto [first, is_new] = places.emplace(name, map.place(key));
  if (is_new) return;
  map.error(key, quoted(name) + " is already used at " + to_string(first->second),
            "make them differ");
}

void read_nic(MapReader& map, Nic& out, Places& addresses) {
  map.required({"name"});
  map.text("name", out.name, kDeviceName);
  map.choice("transport", out.transport, kNicTransports);
  map.texts("addresses", out.addresses, kSubnet, kAddressesMax);
  for (const std::string& address : out.addresses) {
    check_unique(map, "addresses", address.substr(0, address.find('/')), addresses);
  }
  map.rate("rate", out.line_rate, {Rate{0}, Rate{125'000'000'000'000}});
  map.number("numa", out.numa, {-1, kNumaMax});
  map.text("pci", out.pci, kPciAddress);
  map.flag("up", out.up);
}

void read_node_of_topology(MapReader& map, Node& out, Places& addresses) {
  map.required({"name", "nics"});
  map.text("name", out.name, kNodeName);
  map.text("host", out.host, kNodeName);
  Places nics;
  map.each("nics", out.nics, kRailsPerPeerMax, [&](MapReader& nic, Nic& to) {
    read_nic(nic, to, addresses);
    check_unique(nic, "name", to.name, nics);
  });
  map.numbers("gpu_numa", out.gpu_numa, {-1, kNumaMax}, 64);
}

void split(const std::string& end, std::string& node, std::string& nic) {
  const std::size_t slash = end.find('/');
  if (slash == end.npos) return;
  node = end.substr(0, slash);
  nic = end.substr(slash + 1);
}

void check_end(MapReader& map, const char* key, const Topology& topology,
               const std::pair<std::string, std::string>& end) {
  if (end.first.empty()) return;
  std::vector<std::string> names;
  const Node* node = topology.find(end.first);
  if (!node) {
    for (const Node& n : topology.nodes) names.push_back(n.name);
    map.error(key, "names the unknown node " + quoted(end.first), "allowed: " + joined(names));
    return;
  }
  for (const Nic& nic : node->nics) {
    if (nic.name == end.second) return;
    names.push_back(nic.name);
  }
  map.error(key, "names the unknown NIC " + quoted(end.second) + " of " + end.first,
            "allowed: " + joined(names));
}

void read_link(MapReader& map, Link& out, const Topology& topology) {
  std::string from, to;
  map.required({"from", "to"});
  map.text("from", from, kLinkEnd);
  map.text("to", to, kLinkEnd);
  split(from, out.from_node, out.from_nic);
  split(to, out.to_node, out.to_nic);
  check_end(map, "from", topology, {out.from_node, out.from_nic});
  check_end(map, "to", topology, {out.to_node, out.to_nic});
  if (!from.empty() && out.from_node == out.to_node) {
    map.error("to", "is on the same node as `from`", "a link joins two nodes");
  }
  map.duration("round_trip", out.round_trip, {Duration(0), seconds(60)});
  map.flag("usable", out.usable);
  map.text("reason", out.reason, kSentence);
  if (out.usable && map.has("reason")) {
    map.warning("reason", "has no effect on a usable link", "say `usable: false`, or remove it");
  }
}

}  // namespace

void read_topology(MapReader& map, Topology& out) {
  map.required({"nodes"});
  map.text("name", out.name, kSentence);
  Places nodes, addresses, links;
  map.each("nodes", out.nodes, kNodesOfTopologyMax, [&](MapReader& item, Node& to) {
    read_node_of_topology(item, to, addresses);
    check_unique(item, "name", to.name, nodes);
  });
  map.each("links", out.links, kLinksMax, [&](MapReader& item, Link& to) {
    read_link(item, to, out);
    check_unique(item, "to",
                 to.from_node + "/" + to.from_nic + " > " + to.to_node + "/" + to.to_nic, links);
  });
  if (out.name.empty()) out.name = map.context().file;
}

}  // namespace spindrift::config
