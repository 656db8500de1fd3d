// Two SimDrivers under virtual time, over one link.
#include "base/check.h"
#include "ground.h"
#include "rails/sim/sim_driver.h"

namespace spindrift::conformance {
namespace {

using rails::sim::EventQueue;
using rails::sim::LinkOptions;
using rails::sim::SimDriver;
using rails::sim::SimNetwork;

// The suite's own memory checks stand behind it.
class NoWitness final : public rails::sim::MemoryWitness {
  void on_source_read(const Attempt&, const std::byte*, std::uint64_t) override {}
  void on_destination_write(const Attempt&, std::byte*, std::uint64_t) override {}
};

class SimGround final : public Ground {
 public:
  SimGround() {
    network_.add_link("left", "right", LinkOptions{.jitter = std::chrono::microseconds(20)});
    responder_.on_adopted([this](rails::InboundLaneId, Generation, bool ok) {
      answer_ = ok ? LaneAnswer::kAdopted : LaneAnswer::kStaleGeneration;
    });
  }

  rails::RailDriver& initiator() override { return initiator_; }
  rails::RailDriver& responder() override { return responder_; }
  rails::RegionTable& regions() override { return responder_regions_; }
  Instant now() override { return queue_.now(); }

  // Time passes by jumping from event to event.
  bool wait(Duration most) override {
    const Instant end = after(queue_.now(), most);
    while (!woken_) {
      if (!queue_.step_until(end)) return false;
    }
    woken_ = false;
    return true;
  }

  Ends link(LaneIndex lane, rails::InboundLaneId id) override {
    answer_.reset();
    Ends ends;
    ends.initiator = initiator_.initiator_endpoint(responder_, id);
    ends.responder = responder_.responder_endpoint(initiator_, lane);
    return ends;
  }
  std::optional<LaneAnswer> answer(rails::LaneEndpoint&) override { return answer_; }
  bool inject(const LinkFault&) override { return false; }  // it breaks by chance only: LinkOptions

 private:
  EventQueue queue_;
  NoWitness witness_;
  SimNetwork network_{queue_, 1, witness_};
  rails::RegionTable initiator_regions_;
  rails::RegionTable responder_regions_;
  bool woken_ = false;
  std::optional<LaneAnswer> answer_;
  SimDriver initiator_{network_, initiator_regions_, [this] { woken_ = true; }};
  SimDriver responder_{network_, responder_regions_, [this] { woken_ = true; }};
};

}  // namespace

std::unique_ptr<Ground> make_ground() {
  return std::make_unique<SimGround>();
}

}  // namespace spindrift::conformance
