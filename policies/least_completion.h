// Which lane should carry the next slice, and whether a lane is too slow to help
// at all. Pure. With F_i = rtt_i + (q_i + s) / r_i the time at which lane i would
// finish the slice, the next slice goes to the lane with the smallest F; and lane
// i is refused it when the other lanes can move all R remaining bytes before F_i:
// sum over j of max(0, r_j * (F_i - rtt_j) - q_j) >= R. So the last slice of an
// intent never sits on the slow rail (earliest completion first, as MPTCP's ECF
// and BLEST schedulers seek for paths; there per packet, here per slice).
//
// The lane that would finish the slice first is never refused it: between like
// lanes each could leave it to the others for ever, and a slice cannot be split
// among them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/instant.h"
#include "base/units.h"

namespace spindrift::policies {

// One lane as the choice sees it.
struct LaneLoad {
  Rate rate;
  Duration round_trip{0};
  std::uint64_t queued = 0;  // q: bytes outstanding
};

constexpr Duration completion_time(const LaneLoad& lane, std::uint64_t slice) {
  return lane.round_trip + lane.rate.time_for(lane.queued + slice);
}

// False: refuses() is false for certain. A quick look, for far from the end.
// `others`: their rates together.
constexpr bool may_refuse(const LaneLoad& lane, Rate others, std::uint64_t slice,
                          std::uint64_t unbound) {
  return others.bytes_in(completion_time(lane, slice)) >= unbound;
}

// `lane` is an index into `lanes`, the usable lanes of the tier.
constexpr bool refuses(std::span<const LaneLoad> lanes, std::size_t lane, std::uint64_t slice,
                       std::uint64_t unbound) {
  const Duration finish = completion_time(lanes[lane], slice);
  std::uint64_t others = 0;
  bool sooner = false;  // another lane finishes the slice first; of equals, the first listed
  for (std::size_t j = 0; j < lanes.size(); ++j) {
    if (j == lane) continue;
    const std::uint64_t reach = lanes[j].rate.bytes_in(finish - lanes[j].round_trip);
    if (reach <= lanes[j].queued) continue;
    const std::uint64_t moved = reach - lanes[j].queued;
    sooner |= j < lane ? moved >= slice : moved > slice;
    others += std::min(moved, unbound - std::min(others, unbound));
    if (sooner && others >= unbound) return true;
  }
  return false;
}

}  // namespace spindrift::policies
