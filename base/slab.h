// A fixed number of objects, taken and given back by index without allocation.
// The bound is the memory bound of whatever lives in it. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/check.h"

namespace spindrift {

using SlabIndex = std::uint32_t;
inline constexpr SlabIndex kNoSlab = std::numeric_limits<SlabIndex>::max();

template <typename T>
class Slab {
 public:
  explicit Slab(std::size_t capacity) : items_(capacity) {
    free_.reserve(capacity);
    for (std::size_t i = capacity; i > 0; --i) free_.push_back(static_cast<SlabIndex>(i - 1));
  }

  std::size_t capacity() const { return items_.size(); }
  std::size_t used() const { return items_.size() - free_.size(); }
  bool full() const { return free_.empty(); }

  // A freshly constructed object; kNoSlab when full.
  SlabIndex take() {
    if (free_.empty()) return kNoSlab;
    const SlabIndex index = free_.back();
    free_.pop_back();
    items_[index] = T();
    return index;
  }
  void give_back(SlabIndex index) {
    SPINDRIFT_CHECK(index < items_.size() && free_.size() < items_.size());
    free_.push_back(index);
  }
  T& operator[](SlabIndex index) {
    SPINDRIFT_CHECK(index < items_.size());
    return items_[index];
  }

 private:
  std::vector<T> items_;
  std::vector<SlabIndex> free_;
};

}  // namespace spindrift
