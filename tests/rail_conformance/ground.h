// What the conformance suite needs of a backend: two drivers that can reach each
// other, and the means to let time pass. One file per backend implements it and
// defines make_ground(); the suite is linked with that file into one program.
//
// The suite is one thread. It calls poll() of both drivers itself, so that a
// test decides who runs when; wait() is only for when neither found work.
#pragma once

#include <memory>
#include <optional>

#include "base/instant.h"
#include "base/lane_answer.h"
#include "rails/rail.h"
#include "rails/region_table.h"

namespace spindrift::conformance {

// Something that happens to one link, once, at a byte of one direction. Bytes
// are counted from the first one after the answer to the hello.
struct LinkFault {
  enum class Kind : std::uint8_t {
    kFlip,  // one bit of that byte arrives changed
    kCut,   // everything before it arrives, then the connection ends
  };
  Kind kind = Kind::kCut;
  bool towards_responder = true;
  std::uint64_t at_byte = 0;
};

class Ground {
 public:
  virtual ~Ground() = default;

  virtual rails::RailDriver& initiator() = 0;
  virtual rails::RailDriver& responder() = 0;
  // The responder's.
  virtual rails::RegionTable& regions() = 0;

  virtual Instant now() = 0;
  // Until something may have happened; false when `most` passed without.
  virtual bool wait(Duration most) = 0;

  // What connects the initiator's lane with the responder's inbound lane.
  struct Ends {
    rails::LaneEndpoint initiator;
    rails::LaneEndpoint responder;
  };
  virtual Ends link(LaneIndex lane, rails::InboundLaneId id) = 0;
  // What adopt() answered over that link; nothing when it only closed it.
  virtual std::optional<LaneAnswer> answer(rails::LaneEndpoint& initiator_end) = 0;

  // Arranges for the next link to have this fault. False: this ground has none.
  virtual bool inject(const LinkFault& fault) = 0;
};

std::unique_ptr<Ground> make_ground();

}  // namespace spindrift::conformance
