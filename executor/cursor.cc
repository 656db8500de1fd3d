#include "executor/cursor.h"

#include <algorithm>

namespace spindrift::executor {

Cut cut_ranges(std::span<const ResolvedDescriptor> descriptors, Cursor& cursor,
               std::uint64_t target, std::uint32_t ranges_max) {
  Cut cut{.begin = cursor};
  while (cursor.descriptor < descriptors.size() && cut.bytes < target && cut.ranges < ranges_max) {
    const std::uint64_t rest = descriptors[cursor.descriptor].length - cursor.offset;
    const std::uint64_t taken = std::min(rest, target - cut.bytes);
    cut.bytes += taken;
    ++cut.ranges;
    if (taken == rest) {
      cursor = {cursor.descriptor + 1, 0};
    } else {
      cursor.offset += taken;
    }
  }
  return cut;
}

}  // namespace spindrift::executor
