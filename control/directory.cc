#include "control/directory.h"

#include <utility>

namespace spindrift::control {
namespace {

constexpr std::size_t kNamesShown = 16;
constexpr std::size_t kNamesBytesMax = 1024;  // fits kTextMax of the codec

}  // namespace

void Directory::publish(PublishedRegion region) {
  withdraw(region.key);
  by_key_[region.key] = {region.segment, region.address};
  Segment& segment = segments_[region.segment];
  const std::pair key(region.address, region.key);
  segment.insert_or_assign(key, std::move(region));
  ++edition_;
}

void Directory::withdraw(std::uint32_t key) {
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return;
  const auto& [name, address] = it->second;
  const auto segment = segments_.find(name);
  segment->second.erase({address, key});
  if (segment->second.empty()) segments_.erase(segment);
  by_key_.erase(it);
  ++edition_;
}

void Directory::revoke(const std::string& peer, const std::string& segment) {
  revoked_.emplace(peer, segment);
  ++edition_;
}

Rights Directory::rights_of(const std::string& peer, const PublishedRegion& region) const {
  if (revoked_.contains({peer, region.segment})) return Rights::kLocal;
  for (const Grant& grant : region.grants) {
    if (grant.peer == peer) return grant.rights;
  }
  return region.rights;
}

LookUpReply Directory::look_up(const std::string& peer, const LookUp& request,
                               std::uint32_t regions_max) const {
  LookUpReply reply{.id = request.id, .edition = edition_};
  const auto segment = segments_.find(request.segment);
  if (segment == segments_.end()) {
    reply.why = not_found(peer);
    return reply;
  }
  reply.first = request.edition == edition_ ? request.first : 0;
  for (const auto& [key, region] : segment->second) {
    const Rights rights = rights_of(peer, region);
    if (rights == Rights::kLocal) continue;
    if (reply.total++ < reply.first || reply.regions.size() >= regions_max) continue;
    reply.regions.push_back({.address = region.address,
                             .length = region.length,
                             .rights = rights,
                             .location = region.location,
                             .key = region.key});
  }
  reply.found = reply.total > 0;
  if (!reply.found) reply.why = not_found(peer);
  // An index beyond the end is answered with the end.
  if (reply.first > reply.total) reply.first = reply.total;
  return reply;
}

std::string Directory::not_found(const std::string& peer) const {
  std::string names;
  std::size_t shown = 0;
  std::size_t visible = 0;
  for (const auto& [name, regions] : segments_) {
    bool any = false;
    for (const auto& [key, region] : regions)
      any = any || rights_of(peer, region) != Rights::kLocal;
    if (!any) continue;
    ++visible;
    if (shown == kNamesShown || names.size() + name.size() > kNamesBytesMax) continue;
    names += (names.empty() ? "" : ", ") + name;
    ++shown;
  }
  if (visible == 0) return "it has none that this node may use";
  if (shown < visible) names += " and " + std::to_string(visible - shown) + " more";
  return "it has: " + names;
}

}  // namespace spindrift::control
