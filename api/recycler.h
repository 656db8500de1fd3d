// Keeps a few large vectors for their next user. Memory that malloc gave back to
// the kernel costs a page fault per 4 KiB when it is wanted again: for a transfer
// of many ranges that is more than everything else that submit() does.
// Thread-safe; bounded in number and bytes.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "base/units.h"

namespace spindrift::api {

template <typename T>
class Recycler {
 public:
  // An empty vector with room for `size`.
  std::vector<T> take(std::size_t size) {
    std::vector<T> found;
    if (worth_keeping(size)) found = find(size);
    found.reserve(size);
    return found;
  }

  void give(std::vector<T>&& used) {
    used.clear();
    if (!worth_keeping(used.capacity())) return;
    std::lock_guard lock(mutex_);
    if (kept_.size() == kKeptMax || kept_bytes_ + used.capacity() * sizeof(T) > kKeptBytesMax) {
      return;
    }
    kept_bytes_ += used.capacity() * sizeof(T);
    kept_.push_back(std::move(used));
  }

 private:
  static constexpr std::size_t kKeptMax = 8;
  static constexpr std::size_t kKeptBytesMax = 32 * kMiB;
  static constexpr std::size_t kSmall = 64 * kKiB;  // malloc keeps these itself

  static bool worth_keeping(std::size_t size) { return size >= kSmall / sizeof(T); }

  // The first that is large enough, and not wastefully so.
  std::vector<T> find(std::size_t size) {
    std::lock_guard lock(mutex_);
    for (std::vector<T>& kept : kept_) {
      if (kept.capacity() < size || kept.capacity() / 8 > size) continue;
      kept_bytes_ -= kept.capacity() * sizeof(T);
      std::swap(kept, kept_.back());
      std::vector<T> found = std::move(kept_.back());
      kept_.pop_back();
      return found;
    }
    return {};
  }

  std::mutex mutex_;
  std::vector<std::vector<T>> kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace spindrift::api
