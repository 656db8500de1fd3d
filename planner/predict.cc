#include "planner/predict.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace spindrift::planner {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kSecond = 1'000'000'000;
// Keeps rate x round trip of 64 rails within 128 bits; no network is so slow.
constexpr Duration kRoundTripMax = std::chrono::hours(1);

std::uint64_t narrow(Wide value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return value > kMost ? kMost : static_cast<std::uint64_t>(value);
}

// All rails in use finish at the same time T: the sum over them of
// r * (T - rtt) is what there is to move. A rail whose round trip alone takes
// longer than that is not used.
std::vector<std::uint64_t> equal_finish(std::span<const RailSpeed> rails, std::uint64_t bytes) {
  std::vector<std::size_t> order(rails.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rails[a].round_trip < rails[b].round_trip;
  });
  Wide area = static_cast<Wide>(bytes) * kSecond;  // sum of r * T, in byte-nanoseconds per second
  Wide rates = 0;
  Wide finish = 0;
  std::size_t used = 0;
  for (; used < order.size(); ++used) {
    const RailSpeed& rail = rails[order[used]];
    const auto round_trip = static_cast<Wide>(rail.round_trip.count());
    if (used > 0 && round_trip >= finish) break;
    area += static_cast<Wide>(rail.rate.bytes_per_s) * round_trip;
    rates += rail.rate.bytes_per_s;
    finish = area / rates;
  }
  std::vector<std::uint64_t> shares(rails.size(), 0);
  std::uint64_t left = bytes;
  std::size_t fastest = order.front();
  for (std::size_t i = 0; i < used; ++i) {
    const RailSpeed& rail = rails[order[i]];
    const auto round_trip = static_cast<Wide>(rail.round_trip.count());
    if (rail.rate > rails[fastest].rate) fastest = order[i];
    if (round_trip >= finish) continue;
    shares[order[i]] = narrow(rail.rate.bytes_per_s * (finish - round_trip) / kSecond);
    left -= shares[order[i]];
  }
  // What was lost to whole nanoseconds goes out in proportion, the last few
  // bytes to the fastest.
  const Wide rounded = left;
  for (std::size_t i = 0; i < used; ++i) {
    const std::uint64_t more = narrow(rounded * rails[order[i]].rate.bytes_per_s / rates);
    shares[order[i]] += more;
    left -= more;
  }
  shares[fastest] += left;
  return shares;
}

std::vector<std::uint64_t> round_robin(std::size_t rails, std::uint64_t bytes,
                                       std::uint64_t slice) {
  std::vector<std::uint64_t> shares(rails, 0);
  if (bytes == 0) return shares;
  const std::uint64_t before_last = (bytes - 1) / slice;  // whole slices before the last one
  for (std::size_t i = 0; i < rails; ++i) {
    const std::uint64_t extra = i < before_last % rails ? 1 : 0;
    shares[i] = (before_last / rails + extra) * slice;
  }
  shares[before_last % rails] += bytes - before_last * slice;
  return shares;
}

std::vector<std::uint64_t> by_weight(std::span<const RailSpeed> rails, std::uint64_t bytes) {
  std::uint64_t sum = 0;
  std::size_t heaviest = 0;
  for (std::size_t i = 0; i < rails.size(); ++i) {
    sum += rails[i].weight;
    if (rails[i].weight > rails[heaviest].weight) heaviest = i;
  }
  std::vector<std::uint64_t> shares(rails.size(), 0);
  std::uint64_t left = bytes;
  for (std::size_t i = 0; sum > 0 && i < rails.size(); ++i) {
    shares[i] = mul_div(bytes, rails[i].weight, sum);
    left -= shares[i];
  }
  shares[heaviest] += left;
  return shares;
}

// In the long run, where round trips no longer count.
Rate long_run(policies::Spray spray, std::span<const RailSpeed> rails) {
  Wide sum = 0;
  std::uint64_t slowest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t weights = 0;
  for (const RailSpeed& rail : rails) {
    sum += rail.rate.bytes_per_s;
    slowest = std::min(slowest, rail.rate.bytes_per_s);
    weights += rail.weight;
  }
  switch (spray) {
    case policies::Spray::kSingle:
      return rails.front().rate;
    case policies::Spray::kRoundRobin:
      return Rate{mul_div(slowest, rails.size(), 1)};
    case policies::Spray::kLeastCompletion:
      return Rate{narrow(sum)};
    case policies::Spray::kWeighted:
      break;
  }
  std::uint64_t together = std::numeric_limits<std::uint64_t>::max();
  for (const RailSpeed& rail : rails) {
    if (rail.weight == 0) continue;
    together = std::min(together, mul_div(rail.rate.bytes_per_s, weights, rail.weight));
  }
  return Rate{weights == 0 ? rails.front().rate.bytes_per_s : together};
}

std::vector<std::uint64_t> shares_of(policies::Spray spray, std::span<const RailSpeed> rails,
                                     std::uint64_t bytes, std::uint64_t slice) {
  switch (spray) {
    case policies::Spray::kRoundRobin:
      return round_robin(rails.size(), bytes, slice);
    case policies::Spray::kWeighted:
      return by_weight(rails, bytes);
    case policies::Spray::kLeastCompletion:
      return equal_finish(rails, bytes);
    case policies::Spray::kSingle:
      break;
  }
  std::vector<std::uint64_t> shares(rails.size(), 0);
  shares.front() = bytes;
  return shares;
}

// Unknown rates become the average of the known ones, or all the same.
bool fill_unknown(std::vector<RailSpeed>& rails) {
  Wide sum = 0;
  std::uint64_t known = 0;
  for (const RailSpeed& rail : rails) {
    sum += rail.rate.bytes_per_s;
    known += rail.rate.bytes_per_s > 0 ? 1 : 0;
  }
  if (known == rails.size()) return false;
  const Rate average{known == 0 ? kSecond : narrow(sum / known)};
  for (RailSpeed& rail : rails) {
    if (rail.rate.bytes_per_s == 0) rail.rate = average;
    rail.round_trip = Duration(0);  // against a made-up rate it would mean nothing
  }
  return true;
}

}  // namespace

Forecast forecast(policies::Spray spray, std::span<const RailSpeed> given, std::uint64_t bytes,
                  std::uint64_t slice) {
  Forecast result;
  if (given.empty()) return result;
  std::vector<RailSpeed> rails(given.begin(), given.end());
  for (RailSpeed& rail : rails) {
    rail.round_trip = std::clamp(rail.round_trip, Duration(0), kRoundTripMax);
  }
  const bool guessed = fill_unknown(rails);
  result.shares = shares_of(spray, rails, bytes, std::max<std::uint64_t>(slice, 1));
  result.times.resize(rails.size(), Duration(0));
  if (guessed) return result;
  for (std::size_t i = 0; i < rails.size(); ++i) {
    if (result.shares[i] == 0) continue;
    result.times[i] = rails[i].round_trip + rails[i].rate.time_for(result.shares[i]);
    result.time = std::max(result.time, result.times[i]);
  }
  result.rate = long_run(spray, rails);
  return result;
}

}  // namespace spindrift::planner
