// Where the bytes of an intent lie. Memory is divided into equal *slots*, one
// intent each; within a slot the intent's descriptors lie one after another, or
// scattered: in random order at each end, with gaps, so that no two can be merged.
// Bytes of a slot that no descriptor covers are canaries. Immutable; made once
// per point; safe from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/bench/pattern.h"

namespace spindrift::tools::bench {

struct LayoutOptions {
  std::uint64_t bytes = 0;        // of an intent, over all its descriptors
  std::uint64_t descriptors = 1;  // the first bytes % descriptors are a byte longer
  bool scatter = false;
  bool unaligned = false;  // descriptors begin at odd addresses, other ones at each end
  std::uint64_t seed = 1;
};

// One descriptor.
struct Piece {
  std::uint64_t logical = 0;  // its first byte within the intent; the pattern goes by it
  std::uint64_t local = 0;    // offset within the slot
  std::uint64_t remote = 0;
  std::uint64_t length = 0;
};

enum class End : std::uint8_t { kLocal, kRemote };

class Layout {
 public:
  // Not more than 2^32 descriptors, and bytes that fit a slot of 2^62.
  explicit Layout(const LayoutOptions& options);

  std::uint64_t slot_bytes() const { return slot_bytes_; }
  std::uint64_t bytes() const { return options_.bytes; }
  const std::vector<Piece>& pieces() const { return pieces_; }

  // Writes a slot as it is when `data` arrived there and nothing else happened:
  // descriptors hold the data's pattern, the rest the background's.
  void fill(std::byte* slot, End end, PatternKey data, PatternKey background) const;
  // How many bytes of the slot are otherwise.
  std::uint64_t differences(const std::byte* slot, End end, PatternKey data,
                            PatternKey background) const;

 private:
  struct Span;  // a part of a slot that is of one kind
  template <typename Visit>
  void for_each_span(End end, const Visit& visit) const;

  const LayoutOptions options_;
  std::uint64_t slot_bytes_ = 0;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> by_local_;  // indices of pieces_, by offset
  std::vector<std::uint32_t> by_remote_;
};

}  // namespace spindrift::tools::bench
