// What submit() does for each descriptor before the executor sees it: found in its
// region and segment, checked for rights, overflow and overlap.
#pragma once

#include <cstdint>
#include <memory>

namespace spindrift::perf {

// Nanoseconds per descriptor of one intent with pieces of 4 KiB and gaps between
// them, in order or shuffled; the intent itself is made outside of the time.
class SubmitBench {
 public:
  SubmitBench();
  ~SubmitBench();
  double measure(std::uint32_t descriptors, bool shuffled);

 private:
  struct World;
  const std::unique_ptr<World> world_;
};

}  // namespace spindrift::perf
