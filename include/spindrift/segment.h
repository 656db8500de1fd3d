// A peer's named memory, as this engine looked it up. Cheap to copy; safe to
// use from several threads. It belongs to one incarnation of the peer: when the
// peer restarts, transfers to it fail with kPeerRestarted and the segment is to
// be opened again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spindrift/export.h"
#include "spindrift/ids.h"
#include "spindrift/memory.h"

namespace spindrift {

struct SegmentRegion {
  std::uint64_t address = 0;       // in the peer's address space; descriptors name these
  std::uint64_t length = 0;        // bytes
  Rights rights = Rights::kLocal;  // what this engine may do
  Location location;
  std::uint32_t key = 0;  // opaque; names the registration on the wire
};

class SPINDRIFT_API Segment {
 public:
  struct Data {
    std::string peer;
    std::string name;
    Incarnation incarnation;
    std::uint32_t peer_slot = 0;         // opaque; which of this engine's peers
    std::vector<SegmentRegion> regions;  // sorted by address, never overlapping
  };

  Segment() = default;  // refers to nothing; submitting it is kInvalidArgument
  explicit Segment(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  explicit operator bool() const { return data_ != nullptr; }
  const std::string& peer() const { return data_->peer; }
  const std::string& name() const { return data_->name; }
  const std::vector<SegmentRegion>& regions() const { return data_->regions; }
  const Data& data() const { return *data_; }

 private:
  std::shared_ptr<const Data> data_;
};

}  // namespace spindrift
