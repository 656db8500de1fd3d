#include "planner/candidates.h"

#include <algorithm>

#include "planner/pairing.h"

namespace spindrift::planner {
namespace {

Status unknown_node(const Topology& topology, const std::string& name) {
  std::string known;
  for (const Node& node : topology.nodes) known += (known.empty() ? "" : ", ") + node.name;
  return Status(Code::kNotFound,
                {.what = "node " + name,
                 .why = "topology " + topology.name +
                        " has no such node (it has: " + (known.empty() ? "none" : known) + ")",
                 .hint = "check the name"});
}

// The slower end decides; an unknown one is ignored.
Rate slower(Rate a, Rate b) {
  if (a.bytes_per_s == 0) return b;
  if (b.bytes_per_s == 0) return a;
  return std::min(a, b);
}

bool joins(const Link& link, const Node& from, const Nic& from_nic, const Node& to,
           const Nic& to_nic) {
  return link.from_node == from.name && link.from_nic == from_nic.name && link.to_node == to.name &&
         link.to_nic == to_nic.name;
}

// What the topology says of the link in this direction; else of the other one.
const Link* link_between(const Topology& topology, const Node& local, const Nic& local_nic,
                         const Node& remote, const Nic& remote_nic) {
  const Link* backwards = nullptr;
  for (const Link& link : topology.links) {
    if (joins(link, local, local_nic, remote, remote_nic)) return &link;
    if (backwards == nullptr && joins(link, remote, remote_nic, local, local_nic)) {
      backwards = &link;
    }
  }
  return backwards;
}

RailCandidate candidate(const Topology& topology, const Node& local, const Node& remote,
                        const NicPair& pair) {
  const Nic& here = local.nics[pair.local];
  const Nic& there = remote.nics[pair.remote];
  RailCandidate rail{.facts = {.transport = here.transport,
                               .local_device = here.name,
                               .remote_device = there.name,
                               .line_rate = slower(here.line_rate, there.line_rate),
                               .local_numa = here.numa,
                               .remote_numa = there.numa,
                               .pci = here.pci},
                     .capabilities = usual_capabilities(here.transport)};
  if (const Link* link = link_between(topology, local, here, remote, there)) {
    rail.round_trip = link->round_trip;
    rail.usable = link->usable;
    rail.reason = link->reason;
  }
  if (!rail.usable && rail.reason.empty()) rail.reason = "not usable, as the topology says";
  return rail;
}

}  // namespace

RailCapabilities usual_capabilities(Transport transport) {
  RailCapabilities can;
  switch (transport) {
    case Transport::kRdma:
      can.cuda_memory = true;
      can.needs_registration = true;
      break;
    case Transport::kNvlink:
      can.host_memory = false;
      can.cuda_memory = true;
      break;
    case Transport::kFile:
      can.file_memory = true;
      break;
    case Transport::kTcp:
    case Transport::kShm:
    case Transport::kSim:
      break;
  }
  return can;
}

Result<Candidates> candidates_between(const Topology& topology, const std::string& local,
                                      const std::string& remote) {
  const Node* here = topology.find(local);
  if (here == nullptr) return unknown_node(topology, local);
  const Node* there = topology.find(remote);
  if (there == nullptr) return unknown_node(topology, remote);
  const Pairing pairing = pair_nics(*here, *there);
  Candidates result;
  for (const NicPair& pair : pairing.pairs) {
    result.rails.push_back(candidate(topology, *here, *there, pair));
  }
  for (const Unpaired& unpaired : pairing.unpaired) {
    const Node& node = unpaired.local ? *here : *there;
    result.unused.push_back(node.name + " " + node.nics[unpaired.nic].name + ": " + unpaired.why);
  }
  return result;
}

}  // namespace spindrift::planner
