// The static strategies, which divide a transfer before it starts: round robin,
// the blind baseline, and weighted. Neither allocates per slice, so that a huge
// transfer costs no more than a small one.
#include <algorithm>

#include "base/check.h"
#include "executor/executor.h"

namespace spindrift::executor {

// Shares are kept by place in the first tier, the one that they divide.
void Executor::prepare_shares(Job& job) {
  const std::vector<RailOrdinal>& tier = job.plan->tiers.front();
  if (job.plan->spray == policies::Spray::kRoundRobin) {
    // Rail k starts at slice k.
    Cursor cursor;
    job.shares.assign(tier.size(), StaticShare{});
    for (StaticShare& share : job.shares) {
      share.cursor = cursor;
      share.left =
          cut_slice(job.descriptors, cursor, job.slice_min, job.ranges_max).bytes > 0 ? 1 : 0;
    }
    return;
  }
  if (job.plan->spray != policies::Spray::kWeighted) return;
  const auto weight_of = [&job](RailOrdinal ordinal) -> std::uint64_t {
    return ordinal < job.plan->weights.size() ? job.plan->weights[ordinal] : 1;
  };
  std::uint64_t sum = 0;
  for (const RailOrdinal ordinal : tier) sum += weight_of(ordinal);
  std::uint64_t left = job.bytes;
  for (const RailOrdinal ordinal : tier) {
    const std::uint64_t quota = std::min(left, mul_div(job.bytes, weight_of(ordinal), sum));
    job.shares.push_back({.left = quota});
    left -= quota;
  }
  job.shares.front().left += left;  // what rounding left over
}

// The next slice of the lane's own share; when that is used up or the lane is
// of a later tier, of the share of a rail that does not work.
Cut Executor::cut_static(Job& job, const Lane& lane) {
  const std::vector<RailOrdinal>& tier = job.plan->tiers.front();
  const Group& group = groups_[lane.group];
  std::size_t place = tier.size();
  for (std::size_t i = 0; i < tier.size(); ++i) {
    if (job.shares[i].left == 0) continue;
    if (tier[i] == lane.ordinal) {
      place = i;
      break;
    }
    if (place == tier.size() && !lanes_[group.lanes[tier[i]]].works()) place = i;
  }
  if (place == tier.size()) return {};
  return job.plan->spray == policies::Spray::kRoundRobin ? cut_round_robin(job, place)
                                                         : cut_weighted(job, lane, place);
}

Cut Executor::cut_round_robin(Job& job, std::size_t place) {
  StaticShare& share = job.shares[place];
  const std::uint64_t size = job.slice_min;
  const Cut cut = cut_slice(job.descriptors, share.cursor, size, job.ranges_max);
  // On to this rail's next slice, over those of the others.
  for (std::size_t i = 1; i < job.shares.size(); ++i) {
    (void)cut_slice(job.descriptors, share.cursor, size, job.ranges_max);
  }
  if (share.cursor.descriptor >= job.descriptors.size()) share.left = 0;
  return cut;
}

Cut Executor::cut_weighted(Job& job, const Lane& lane, std::size_t place) {
  StaticShare& share = job.shares[place];
  const std::uint64_t wanted =
      std::clamp(lane.rate.rate().bytes_in(options_.service_time), job.slice_min, job.slice_max);
  const Cut cut =
      cut_slice(job.descriptors, job.cursor, std::min(wanted, share.left), job.ranges_max);
  share.left -= cut.bytes;
  return cut;
}

}  // namespace spindrift::executor
