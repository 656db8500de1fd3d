// A bounded first-in first-out queue for one thread. Capacity is rounded up to
// a power of two. Indexable from the front, which the lanes need.
#pragma once

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"

namespace spindrift {

template <typename T>
class Ring {
 public:
  explicit Ring(std::size_t capacity)
      : items_(std::bit_ceil(capacity == 0 ? std::size_t{1} : capacity)),
        mask_(items_.size() - 1) {}

  std::size_t size() const { return tail_ - head_; }
  std::size_t capacity() const { return items_.size(); }
  bool empty() const { return head_ == tail_; }
  bool full() const { return size() == items_.size(); }

  bool push(T item) {
    if (full()) return false;
    items_[tail_++ & mask_] = std::move(item);
    return true;
  }
  T& front() {
    SPINDRIFT_CHECK(!empty());
    return items_[head_ & mask_];
  }
  T& back() {
    SPINDRIFT_CHECK(!empty());
    return items_[(tail_ - 1) & mask_];
  }
  // The i-th from the front.
  T& operator[](std::size_t i) {
    SPINDRIFT_CHECK(i < size());
    return items_[(head_ + i) & mask_];
  }
  void pop() {
    SPINDRIFT_CHECK(!empty());
    items_[head_++ & mask_] = T();  // frees what the item held
  }
  void pop_back() {
    SPINDRIFT_CHECK(!empty());
    items_[--tail_ & mask_] = T();
  }
  void clear() {
    while (!empty()) pop();
  }

 private:
  std::vector<T> items_;
  std::size_t mask_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace spindrift
