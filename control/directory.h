// What this node has published, and what each peer may see of it. Pure; owned
// by one thread. The memory itself is guarded elsewhere (rails/region_table.h):
// this decides only what a look-up shows.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/messages.h"

namespace spindrift::control {

class Directory {
 public:
  void publish(PublishedRegion region);  // replaces the region of the same key
  void withdraw(std::uint32_t key);
  // For good: also regions published under this segment later stay hidden.
  void revoke(const std::string& peer, const std::string& segment);

  // One page of what `peer`, by its node name, may see: at most `regions_max`
  // regions from request.first on, sorted by address. When the directory changed
  // since the edition of the first page, the reply starts again at 0. A segment
  // that shows the peer nothing is answered like one that does not exist.
  LookUpReply look_up(const std::string& peer, const LookUp& request,
                      std::uint32_t regions_max) const;

 private:
  Rights rights_of(const std::string& peer, const PublishedRegion& region) const;
  std::string not_found(const std::string& peer) const;

  // By address: the order in which a segment is told.
  using Segment = std::map<std::pair<std::uint64_t, std::uint32_t>, PublishedRegion>;
  std::map<std::string, Segment> segments_;
  std::map<std::uint32_t, std::pair<std::string, std::uint64_t>> by_key_;  // segment, address
  std::set<std::pair<std::string, std::string>> revoked_;                  // peer, segment
  std::uint64_t edition_ = 1;
};

}  // namespace spindrift::control
