// A rail that costs nothing: whatever is posted has landed at the next poll. No
// memory is touched. What remains is what the executor itself costs.
#pragma once

#include "base/ring.h"
#include "rails/rail.h"

namespace spindrift::perf {

class NullDriver final : public rails::RailDriver {
 public:
  // `attempts_max`: over all lanes.
  explicit NullDriver(std::size_t attempts_max) : landed_(attempts_max) {
    capabilities_.ranges_max = 512;
    capabilities_.attempts_max = 512;
  }

  Transport transport() const override { return Transport::kSim; }
  const RailCapabilities& capabilities() const override { return capabilities_; }
  Status add_lane(const rails::LaneSpec&) override { return {}; }
  void remove_lane(LaneIndex) override {}
  void connect_lane(LaneIndex lane, Generation generation, AttemptSeq,
                    rails::LaneEndpoint) override {
    (void)landed_.push({.kind = RailEventKind::kLaneUp, .lane = lane, .generation = generation});
  }
  std::size_t post(LaneIndex lane, std::span<const Attempt> attempts) override {
    std::size_t count = 0;
    for (const Attempt& attempt : attempts) {
      if (!landed_.push({.kind = RailEventKind::kLanded,
                         .lane = lane,
                         .generation = attempt.generation,
                         .value = attempt.seq})) {
        break;
      }
      ++count;
    }
    return count;
  }
  void fence_lane(LaneIndex lane, Generation generation) override {
    landed_.clear();
    (void)landed_.push(
        {.kind = RailEventKind::kLocalFenced, .lane = lane, .generation = generation});
  }
  Status adopt(rails::InboundLane) override {
    return Status(Code::kUnsupported, "the null rail has no responder");
  }
  rails::InboundFenceReport fence_inbound(rails::InboundLaneId, Generation) override { return {}; }
  void drop_inbound(std::uint32_t) override {}
  void regions_changed() override {}
  std::size_t poll(Instant, BoundedVector<RailEvent>& events) override {
    std::size_t count = 0;
    while (!landed_.empty() && events.push(landed_.front())) {
      landed_.pop();
      ++count;
    }
    return count;
  }
  int wait_fd() const override { return -1; }

 private:
  RailCapabilities capabilities_;
  Ring<RailEvent> landed_;
};

}  // namespace spindrift::perf
