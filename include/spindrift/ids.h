// Identities that cross the API. Strong types: a peer is not a region.
// Compared for equality only; their numbers carry no order and no meaning.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace spindrift {

template <typename Tag, typename Rep = std::uint64_t>
struct StrongId {
  Rep value = 0;

  friend constexpr bool operator==(StrongId, StrongId) = default;
  friend constexpr auto operator<=>(StrongId, StrongId) = default;  // for ordered containers
  constexpr explicit operator bool() const { return value != 0; }   // 0 is "none"
};

using TransferId = StrongId<struct TransferTag>;  // unique within one engine
using RegionId = StrongId<struct RegionTag>;      // unique within one engine

// One run of one process: 128 random bits, so that a restarted peer is never
// mistaken for the old one. Clocks step and pids repeat; this does neither.
struct Incarnation {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend constexpr bool operator==(const Incarnation&, const Incarnation&) = default;
  friend constexpr auto operator<=>(const Incarnation&, const Incarnation&) = default;
  constexpr explicit operator bool() const { return (high | low) != 0; }
};

}  // namespace spindrift

template <typename Tag, typename Rep>
struct std::hash<spindrift::StrongId<Tag, Rep>> {
  std::size_t operator()(spindrift::StrongId<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value);
  }
};
template <>
struct std::hash<spindrift::Incarnation> {
  std::size_t operator()(const spindrift::Incarnation& id) const noexcept {
    return static_cast<std::size_t>(id.high ^ (id.low * 0x9e3779b97f4a7c15ULL));
  }
};
