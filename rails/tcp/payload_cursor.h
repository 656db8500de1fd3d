// A place in the local memory of an attempt, moving forward. A value; the
// descriptors belong to the transfer. Never looks beyond the descriptor that
// holds the next byte, so advance() by no more than what is left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/rail_types.h"

namespace spindrift::rails::tcp {

class PayloadCursor {
 public:
  PayloadCursor() = default;
  PayloadCursor(const ResolvedDescriptor* descriptors, std::uint64_t offset)
      : descriptor_(descriptors), offset_(offset) {}

  // The contiguous memory at the cursor, at most `bytes_max` (> 0) bytes. Only
  // while bytes are left.
  std::span<std::byte> piece(std::uint64_t bytes_max) {
    settle();
    const std::uint64_t bytes = std::min(bytes_max, descriptor_->length - offset_);
    return {descriptor_->local + offset_, static_cast<std::size_t>(bytes)};
  }
  std::uint64_t remote() const { return descriptor_->remote + offset_; }
  std::uint32_t remote_key() const { return descriptor_->remote_key; }

  void advance(std::uint64_t bytes) {
    while (bytes > 0) {
      settle();
      const std::uint64_t step = std::min(bytes, descriptor_->length - offset_);
      offset_ += step;
      bytes -= step;
    }
  }

 private:
  // Steps over descriptors that are used up or empty. Not done eagerly: behind
  // the last one there may be nothing to look at.
  void settle() {
    while (offset_ == descriptor_->length) {
      ++descriptor_;
      offset_ = 0;
    }
  }

  const ResolvedDescriptor* descriptor_ = nullptr;
  std::uint64_t offset_ = 0;
};

}  // namespace spindrift::rails::tcp
