// A binary min-heap of elements that know their place in it, so that any of
// them can be moved or removed in O(log n): timers, mostly. `T` is a pointer;
// `Traits` gives key(T) -> a totally ordered value, and slot(T) -> a reference
// to a std::uint32_t inside the element, kNotInHeap when outside. Equal keys are
// to be avoided by putting an id into the key: the order is then the same in
// every run. Allocates only beyond what reserve() set aside. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace spindrift {

inline constexpr std::uint32_t kNotInHeap = std::numeric_limits<std::uint32_t>::max();

template <typename T, typename Traits>
class IndexedHeap {
 public:
  void reserve(std::size_t n) { items_.reserve(n); }
  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  T top() const { return items_.front(); }

  // Inserts, or moves to where its changed key belongs.
  void put(T item) {
    std::uint32_t& slot = Traits::slot(item);
    if (slot == kNotInHeap) {
      slot = static_cast<std::uint32_t>(items_.size());
      items_.push_back(item);
    }
    sift_down(sift_up(slot));
  }

  // Harmless when outside.
  void remove(T item) {
    const std::uint32_t slot = std::exchange(Traits::slot(item), kNotInHeap);
    if (slot == kNotInHeap) return;
    const T last = items_.back();
    items_.pop_back();
    if (slot == items_.size()) return;
    items_[slot] = last;
    Traits::slot(last) = slot;
    sift_down(sift_up(slot));
  }

 private:
  bool less(std::size_t a, std::size_t b) const {
    return Traits::key(items_[a]) < Traits::key(items_[b]);
  }
  void exchange(std::size_t a, std::size_t b) {
    std::swap(items_[a], items_[b]);
    Traits::slot(items_[a]) = static_cast<std::uint32_t>(a);
    Traits::slot(items_[b]) = static_cast<std::uint32_t>(b);
  }
  std::size_t sift_up(std::size_t i) {
    while (i > 0 && less(i, (i - 1) / 2)) {
      exchange(i, (i - 1) / 2);
      i = (i - 1) / 2;
    }
    return i;
  }
  void sift_down(std::size_t i) {
    for (;;) {
      std::size_t least = i;
      for (const std::size_t child : {2 * i + 1, 2 * i + 2}) {
        if (child < items_.size() && less(child, least)) least = child;
      }
      if (least == i) return;
      exchange(i, least);
      i = least;
    }
  }

  std::vector<T> items_;
};

}  // namespace spindrift
