// A fixed number of objects, taken and given back by index without allocation.
// The bound is the memory bound of whatever lives in it. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace spindrift {

using SlabIndex = std::uint32_t;
inline constexpr SlabIndex kNoSlab = std::numeric_limits<SlabIndex>::max();

template <typename T>
class Slab {
 public:
  explicit Slab(std::size_t capacity)
      : capacity_(capacity), free_count_(capacity), items_(capacity), free_(capacity) {
    for (std::size_t i = 0; i < capacity; ++i) {
      free_[i] = static_cast<SlabIndex>(capacity - 1 - i);
    }
  }

  std::size_t capacity() const { return capacity_; }
  std::size_t used() const { return capacity_ - free_count_; }
  bool full() const { return free_count_ == 0; }

  // A freshly constructed object, or one with that value; kNoSlab when full.
  SlabIndex take(T value = T()) {
    if (free_count_ == 0) return kNoSlab;
    const SlabIndex index = free_[--free_count_];
    items_[index] = std::move(value);
    return index;
  }
  void give_back(SlabIndex index) {
    SPINDRIFT_CHECK(index < capacity_ && free_count_ < capacity_);
    free_[free_count_++] = index;
  }
  T& operator[](SlabIndex index) {
    SPINDRIFT_CHECK(index < capacity_);
    return items_[index];
  }

 private:
  const std::size_t capacity_;  // vector::size() would divide, at each access
  std::size_t free_count_;
  std::vector<T> items_;
  std::vector<SlabIndex> free_;  // the first free_count_ of them
};

}  // namespace spindrift
