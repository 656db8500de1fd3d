// A vector whose capacity is fixed at construction, so that pushing never
// allocates. The sink that cores fill and shells drain. Not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"

namespace spindrift {

template <typename T>
class BoundedVector {
 public:
  explicit BoundedVector(std::size_t capacity) : capacity_(capacity) { items_.reserve(capacity); }

  std::size_t size() const { return items_.size(); }
  std::size_t room() const { return capacity_ - items_.size(); }
  bool empty() const { return items_.empty(); }
  bool full() const { return room() == 0; }
  void clear() { items_.clear(); }

  // False, and nothing pushed, when full.
  bool push(T item) {
    if (full()) return false;
    items_.push_back(std::move(item));
    return true;
  }

  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::span<T> span() { return items_; }

 private:
  std::size_t capacity_;
  std::vector<T> items_;
};

}  // namespace spindrift
