// What a backend remembers, as responder, of the lanes that peers opened to it: for each the
// smallest generation that may still be adopted, and what was settled. It
// outlives the connections, so that a lane that broke by itself still answers
// the fence that comes later. Pure; owned by one thread. Lookups and allocation
// happen at adoption, at fences and at the first refusal, never per slice.
//
// Bounded: at most `records_per_peer` lanes per peer; sessions are bounded by who
// admits them. A peer over the bound keeps what it has and gets nothing new until
// its session ends: that never forgets a fence, and costs the other peers nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "base/rail_types.h"
#include "rails/rail.h"

namespace spindrift::rails {

using InboundSlot = std::uint32_t;  // a place in the driver's table of inbound lanes
inline constexpr InboundSlot kNoInboundSlot = std::numeric_limits<InboundSlot>::max();

class InboundRecord {
 public:
  explicit InboundRecord(std::uint32_t refused_max);

  InboundSlot slot = kNoInboundSlot;  // the live connection, if any
  Generation adopted = 0;             // its generation, or that of the last one

  // Whether a hello of `generation` may still be adopted.
  bool admits(Generation generation) const;
  // Attempts start with `first_seq`. False when that goes back: the peer is wrong.
  [[nodiscard]] bool adopt(Generation generation, AttemptSeq first_seq);
  // Everything below `generation` has ended; the caller closed its connection.
  void end_below(Generation generation);
  const InboundFenceReport& report() const { return report_; }

  AttemptSeq next() const { return settled_end_; }
  void settle() { ++settled_end_; }
  void refuse();  // the next attempt

 private:
  void push_refused(AttemptSeq seq);

  // Smallest generation that may be adopted; the report covers what is below.
  Generation below_ = 0;
  bool ever_adopted_ = false;
  AttemptSeq settled_end_ = 0;
  // The last refused ones, a ring: no initiator has more outstanding. Made when
  // the first one is refused, which few lanes ever see.
  const std::uint32_t refused_max_;
  std::vector<AttemptSeq> refused_;
  std::uint64_t refused_count_ = 0;
  InboundFenceReport report_;
};

class InboundRecords {
 public:
  InboundRecords(std::uint32_t records_per_peer, std::uint32_t refused_max)
      : records_per_peer_(records_per_peer), refused_max_(refused_max) {}

  InboundRecord* find(InboundLaneId id);
  // Makes it if need be; nullptr over the bound, and then for every new lane of
  // this peer from now on.
  InboundRecord* find_or_make(InboundLaneId id);

  // Calls visit(record) for all lanes of the peer, then forgets them.
  template <typename Visit>
  void drop(std::uint32_t peer, Visit visit) {
    const auto it = peers_.find(peer);
    if (it == peers_.end()) return;
    for (auto& [key, record] : it->second.lanes) visit(record);
    count_ -= it->second.lanes.size();
    peers_.erase(it);
  }
  std::size_t size() const { return count_; }

 private:
  struct Peer {
    std::unordered_map<std::uint32_t, InboundRecord> lanes;
    bool full = false;
  };
  const std::uint32_t records_per_peer_;
  const std::uint32_t refused_max_;
  std::unordered_map<std::uint32_t, Peer> peers_;
  std::size_t count_ = 0;
};

}  // namespace spindrift::rails
