// Bytes and rates with overflow-safe arithmetic. Decisions use integers so that
// two compilers agree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/instant.h"

namespace spindrift {

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;

// True when [offset, offset + length) lies within [0, size); never overflows.
constexpr bool fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
  return offset <= size && length <= size - offset;
}

// True when base + length stays representable.
constexpr bool adds_up(std::uint64_t base, std::uint64_t length) {
  return length <= std::numeric_limits<std::uint64_t>::max() - base;
}

// a * b / c, saturating; in 128 bits only when it must, since that division is
// some ten times slower.
constexpr std::uint64_t mul_div(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  __extension__ using Wide = unsigned __int128;
  if (c == 0) return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product / c;
  const Wide result = static_cast<Wide>(a) * b / c;
  return result > std::numeric_limits<std::uint64_t>::max()
             ? std::numeric_limits<std::uint64_t>::max()
             : static_cast<std::uint64_t>(result);
}

// Bytes per second.
struct Rate {
  std::uint64_t bytes_per_s = 0;

  friend constexpr bool operator==(Rate, Rate) = default;
  friend constexpr auto operator<=>(Rate, Rate) = default;

  // Bytes that pass in `span`; a negative span passes none.
  constexpr std::uint64_t bytes_in(Duration span) const {
    return span.count() <= 0
               ? 0
               : mul_div(bytes_per_s, static_cast<std::uint64_t>(span.count()), 1'000'000'000);
  }
  // Time that `bytes` take, at most kLongest, also at rate 0.
  constexpr Duration time_for(std::uint64_t bytes) const {
    const std::uint64_t ns = mul_div(bytes, 1'000'000'000, bytes_per_s);
    return Duration(static_cast<std::int64_t>(std::min<std::uint64_t>(ns, kLongest)));
  }
  // 73 years: a few of them still add up without overflow.
  static constexpr std::uint64_t kLongest = std::numeric_limits<std::int64_t>::max() / 4;
  static constexpr Rate of(std::uint64_t bytes, Duration span) {
    return Rate{span.count() <= 0
                    ? 0
                    : mul_div(bytes, 1'000'000'000, static_cast<std::uint64_t>(span.count()))};
  }
};

}  // namespace spindrift
