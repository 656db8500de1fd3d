// A bounded queue from many threads to one: the door of a worker.
//
// Source of the algorithm: Dmitry Vyukov, "Bounded MPMC queue" (1024cores.net),
// used with one consumer. Every cell carries a sequence number; a producer
// claims a cell by advancing `tail_` and publishes it by storing the cell's
// sequence. push() is lock-free and never blocks; it fails when full, and the
// caller decides whether to wait. Items of one producer keep their order; of
// two producers, the order in which their claims succeeded.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace spindrift {

template <typename T>
class MpscQueue {
 public:
  explicit MpscQueue(std::size_t capacity)
      : mask_(std::bit_ceil(capacity < 2 ? std::size_t{2} : capacity) - 1),
        cells_(std::make_unique<Cell[]>(mask_ + 1)) {
    for (std::size_t i = 0; i <= mask_; ++i) cells_[i].sequence.store(i, std::memory_order_relaxed);
  }

  // From any thread. False, and `item` untouched, when full.
  bool push(T& item) {
    std::size_t position = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[position & mask_];
      const std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
      const auto lag = static_cast<std::ptrdiff_t>(sequence - position);
      if (lag == 0) {
        if (tail_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
          cell.item = std::move(item);
          cell.sequence.store(position + 1, std::memory_order_release);
          return true;
        }
      } else if (lag < 0) {
        return false;
      } else {
        position = tail_.load(std::memory_order_relaxed);
      }
    }
  }

  // Only from the consumer's thread.
  bool pop(T& out) {
    Cell& cell = cells_[head_ & mask_];
    if (cell.sequence.load(std::memory_order_acquire) != head_ + 1) return false;
    out = std::move(cell.item);
    cell.item = T();
    cell.sequence.store(head_ + mask_ + 1, std::memory_order_release);
    ++head_;
    return true;
  }

  // Only from the consumer's thread. An item that is being pushed right now may
  // or may not be seen.
  bool empty() const {
    return cells_[head_ & mask_].sequence.load(std::memory_order_acquire) != head_ + 1;
  }

 private:
  struct Cell {
    std::atomic<std::size_t> sequence;
    T item{};
  };

  const std::size_t mask_;
  const std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<std::size_t> tail_{0};  // producers
  alignas(64) std::size_t head_ = 0;              // consumer only
};

}  // namespace spindrift
