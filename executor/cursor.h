// A place in an intent's list of descriptors, and the cutting of slices from
// there. Pure values. Descriptors are never empty here (the submitter drops
// those), so every cut makes progress.
#pragma once

#include <cstdint>
#include <span>

#include "base/rail_types.h"

namespace spindrift::executor {

struct Cursor {
  std::uint32_t descriptor = 0;
  std::uint64_t offset = 0;  // within it
};

struct Cut {
  Cursor begin;
  std::uint64_t bytes = 0;
  std::uint32_t ranges = 0;
};

// The general case of cut_slice().
Cut cut_ranges(std::span<const ResolvedDescriptor> descriptors, Cursor& cursor,
               std::uint64_t target, std::uint32_t ranges_max);

// Takes `target` bytes from `cursor` on, over as many descriptors as it takes but
// at most `ranges_max`, and advances the cursor. Fewer bytes only when the
// ranges or the list end; none only at the end of the list.
inline Cut cut_slice(std::span<const ResolvedDescriptor> descriptors, Cursor& cursor,
                     std::uint64_t target, std::uint32_t ranges_max) {
  // Of a large descriptor a slice is a part, which costs next to nothing.
  if (cursor.descriptor < descriptors.size() && ranges_max > 0 && target > 0 &&
      target < descriptors[cursor.descriptor].length - cursor.offset) {
    const Cut cut{.begin = cursor, .bytes = target, .ranges = 1};
    cursor.offset += target;
    return cut;
  }
  return cut_ranges(descriptors, cursor, target, ranges_max);
}

}  // namespace spindrift::executor
