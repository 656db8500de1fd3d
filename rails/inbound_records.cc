#include "rails/inbound_records.h"

#include <algorithm>

namespace spindrift::rails {

InboundRecord::InboundRecord(std::uint32_t refused_max) : refused_max_(refused_max) {}

bool InboundRecord::admits(Generation generation) const {
  if (generation < below_) return false;
  return !ever_adopted_ || generation > adopted;
}

bool InboundRecord::adopt(Generation generation, AttemptSeq first_seq) {
  if (ever_adopted_ && first_seq < settled_end_) return false;
  end_below(generation);
  if (ever_adopted_) {
    // Attempts lost between two generations: they were not placed.
    const AttemptSeq lost =
        std::max(settled_end_, first_seq - std::min<AttemptSeq>(first_seq, refused_max_));
    for (AttemptSeq seq = lost; seq < first_seq; ++seq) push_refused(seq);
  }
  settled_end_ = first_seq;
  adopted = generation;
  ever_adopted_ = true;
  return true;
}

void InboundRecord::end_below(Generation generation) {
  if (generation <= below_) return;
  below_ = generation;
  report_.settled_end = settled_end_;
  report_.refused.clear();
  const std::uint64_t kept = std::min<std::uint64_t>(refused_count_, refused_max_);
  for (std::uint64_t i = refused_count_ - kept; i < refused_count_; ++i) {
    report_.refused.push_back(refused_[i % refused_max_]);
  }
}

void InboundRecord::refuse() {
  push_refused(settled_end_++);
}

void InboundRecord::push_refused(AttemptSeq seq) {
  if (refused_.empty()) refused_.resize(refused_max_);
  refused_[refused_count_++ % refused_max_] = seq;
}

InboundRecord* InboundRecords::find(InboundLaneId id) {
  const auto peer = peers_.find(id.peer);
  if (peer == peers_.end()) return nullptr;
  const auto lane = peer->second.lanes.find(id.lane_key);
  return lane == peer->second.lanes.end() ? nullptr : &lane->second;
}

InboundRecord* InboundRecords::find_or_make(InboundLaneId id) {
  if (InboundRecord* known = find(id)) return known;
  Peer& peer = peers_[id.peer];
  if (peer.lanes.size() >= records_per_peer_) peer.full = true;
  if (peer.full) return nullptr;
  ++count_;
  return &peer.lanes.try_emplace(id.lane_key, refused_max_).first->second;
}

}  // namespace spindrift::rails
