// The pieces of memory of one sendmsg or recvmsg call, and an arena for the
// small parts (heads, trailers) that exist for one call only. One per driver,
// reused for every call, so that nothing is allocated per slice.
//
// Neighbouring pieces are merged: the kernel's cost is per piece.
// Owned by one thread. The bounds are checks: callers ask room() first.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"

namespace spindrift::rails::tcp {

class IoBatch {
 public:
  static constexpr std::size_t kPiecesMax = 1024;  // the kernel's UIO_MAXIOV
  static constexpr std::size_t kArenaBytes = 64 * 1024;

  IoBatch() : arena_(kArenaBytes) {}

  void clear() {
    count_ = 0;
    bytes_ = 0;
    arena_used_ = 0;
  }

  // Pieces that can certainly be added.
  std::size_t room() const { return kPiecesMax - count_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t count() const { return count_; }
  const iovec* pieces() const { return pieces_.data(); }

  void add(const void* data, std::size_t bytes) {
    if (bytes == 0) return;
    bytes_ += bytes;
    auto* base = static_cast<std::byte*>(const_cast<void*>(data));
    if (count_ > 0) {
      iovec& last = pieces_[count_ - 1];
      if (static_cast<std::byte*>(last.iov_base) + last.iov_len == base) {
        last.iov_len += bytes;
        return;
      }
    }
    SPINDRIFT_CHECK(count_ < kPiecesMax);
    pieces_[count_++] = {base, bytes};
  }

  // Memory that lives until clear(); empty when there is not enough.
  std::span<std::byte> arena(std::size_t bytes) {
    if (kArenaBytes - arena_used_ < bytes) return {};
    const std::span<std::byte> part(arena_.data() + arena_used_, bytes);
    arena_used_ += bytes;
    return part;
  }
  // Returns the unused end of the last part taken.
  void give_back(std::size_t bytes) {
    SPINDRIFT_CHECK(bytes <= arena_used_);
    arena_used_ -= bytes;
  }

 private:
  std::size_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::size_t arena_used_ = 0;
  std::array<iovec, kPiecesMax> pieces_{};
  std::vector<std::byte> arena_;
};

}  // namespace spindrift::rails::tcp
