#include "api/peer.h"

#include <algorithm>

#include "planner/pairing.h"

namespace spindrift::api {

namespace {

// Endpoints of one device become one NIC with several addresses.
planner::Node to_node(const std::vector<control::DataEndpoint>& endpoints) {
  planner::Node node;
  for (const control::DataEndpoint& endpoint : endpoints) {
    const auto nic = std::find_if(node.nics.begin(), node.nics.end(), [&](const planner::Nic& n) {
      return n.name == endpoint.device && n.transport == endpoint.transport;
    });
    const std::string address = endpoint.address + "/" + std::to_string(endpoint.prefix);
    if (nic != node.nics.end()) {
      nic->addresses.push_back(address);
      continue;
    }
    node.nics.push_back({.name = endpoint.device,
                         .transport = endpoint.transport,
                         .addresses = {address},
                         .line_rate = endpoint.line_rate,
                         .numa = endpoint.numa,
                         .pci = endpoint.pci});
  }
  return node;
}

std::uint32_t find_endpoint(const std::vector<control::DataEndpoint>& endpoints,
                            const std::string& device, const std::string& address) {
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    if (endpoints[i].device == device && endpoints[i].address == address) {
      return static_cast<std::uint32_t>(i);
    }
  }
  return 0;
}

}  // namespace

std::vector<PeerRail> pair_endpoints(const std::vector<control::DataEndpoint>& local,
                                     const std::vector<control::DataEndpoint>& remote) {
  const planner::Node here = to_node(local);
  const planner::Node there = to_node(remote);
  std::vector<PeerRail> rails;
  for (const planner::NicPair& pair : planner::pair_nics(here, there).pairs) {
    const planner::Nic& from = here.nics[pair.local];
    const planner::Nic& to = there.nics[pair.remote];
    PeerRail& rail = rails.emplace_back();
    rail.facts.transport = from.transport;
    rail.facts.local_device = from.name;
    rail.facts.remote_device = to.name;
    rail.facts.local_numa = from.numa;
    rail.facts.remote_numa = to.numa;
    rail.facts.pci = from.pci;
    rail.facts.line_rate = from.line_rate.bytes_per_s == 0 ? to.line_rate : from.line_rate;
    if (to.line_rate.bytes_per_s != 0) {
      rail.facts.line_rate = std::min(rail.facts.line_rate, to.line_rate);
    }
    rail.name = rail.facts.name();
    rail.local_endpoint = find_endpoint(local, from.name, pair.local_address);
    rail.remote_endpoint = find_endpoint(remote, to.name, pair.remote_address);
  }
  return rails;
}

PeerView Peer::view() const {
  std::lock_guard lock(mutex_);
  return view_;
}

Peer::Change Peer::connected(const control::RemotePeer& remote, std::vector<PeerRail> rails,
                             const RailCapabilities& capabilities, bool same_host,
                             std::uint64_t epoch) {
  std::lock_guard lock(mutex_);
  const bool restarted = view_.incarnation && view_.incarnation != remote.incarnation;
  const bool same_rails =
      view_.rail_names != nullptr &&
      std::equal(rails.begin(), rails.end(), rails_.begin(), rails_.end(),
                 [](const PeerRail& a, const PeerRail& b) { return a.name == b.name; });
  view_.name = remote.name;
  view_.incarnation = remote.incarnation;
  view_.same_host = same_host;
  view_.status = Status();
  view_.worker = worker_;
  rails_ = std::move(rails);
  if (same_rails) view_.connected = true;
  if (same_rails && !restarted) return Change::kSame;
  view_.epoch = epoch;
  if (same_rails) return Change::kRestarted;
  auto names = std::make_shared<std::vector<std::string>>();
  auto candidates = std::make_shared<std::vector<planner::RailCandidate>>();
  for (const PeerRail& rail : rails_) {
    names->push_back(rail.name);
    candidates->push_back({.facts = rail.facts, .capabilities = capabilities});
  }
  view_.rail_names = nullptr;  // set_index() shows them
  view_.candidates = nullptr;
  new_names_ = std::move(names);
  new_candidates_ = std::move(candidates);
  return Change::kNewRails;
}

void Peer::set_index(executor::PeerIndex index, LaneIndex first_lane) {
  std::lock_guard lock(mutex_);
  view_.rail_names = std::move(new_names_);
  view_.candidates = std::move(new_candidates_);
  view_.index = index;
  view_.connected = true;
  first_lane_ = first_lane;
}

void Peer::lost(const Status& why) {
  std::lock_guard lock(mutex_);
  view_.connected = false;
  view_.status = why;
}

void Peer::refused(const Status& why) {
  std::lock_guard lock(mutex_);
  view_.status = why;
  rails_.clear();
}

void Peer::lane_result(LaneIndex lane, const std::string& failure) {
  std::lock_guard lock(mutex_);
  if (lane < first_lane_ || rails_.empty() || lane - first_lane_ >= 2 * rails_.size()) return;
  rails_[(lane - first_lane_) % rails_.size()].down_reason = failure;
}

std::string Peer::rail_reasons() const {
  std::lock_guard lock(mutex_);
  std::string text;
  for (const PeerRail& rail : rails_) {
    if (rail.down_reason.empty()) continue;
    text += (text.empty() ? "" : "; ") + rail.name + ": " + rail.down_reason;
  }
  return text;
}

PeerRail Peer::rail(RailOrdinal ordinal) const {
  std::lock_guard lock(mutex_);
  return ordinal < rails_.size() ? rails_[ordinal] : PeerRail{};
}

std::vector<PeerRail> Peer::rails() const {
  std::lock_guard lock(mutex_);
  return rails_;
}

LaneIndex Peer::first_lane() const {
  std::lock_guard lock(mutex_);
  return first_lane_;
}

executor::PeerIndex Peer::index() const {
  std::lock_guard lock(mutex_);
  return view_.index;
}

}  // namespace spindrift::api
