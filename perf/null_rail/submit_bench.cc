#include "submit_bench.h"

#include <utility>

#include "api/submit.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/prng.h"
#include "base/units.h"

namespace spindrift::perf {

namespace {

constexpr std::uint64_t kPage = 4 * kKiB;
constexpr std::uint64_t kBase = 1ull << 40;  // an address that nobody follows
constexpr std::uint64_t kLength = 1ull << 40;

Segment make_segment() {
  Segment::Data data;
  data.peer = "peer";
  data.name = "kv";
  data.regions.push_back(
      {.address = kBase, .length = kLength, .rights = Rights::kRemoteWrite, .key = 7});
  return Segment(std::make_shared<const Segment::Data>(std::move(data)));
}

}  // namespace

struct SubmitBench::World {
  api::Regions regions{1};
  Segment segment = make_segment();
  std::shared_ptr<api::SubmitBuffers> buffers = std::make_shared<api::SubmitBuffers>();
  api::PeerView peer;
};

SubmitBench::SubmitBench() : world_(std::make_unique<World>()) {
  const auto added =
      world_->regions.add({.address = reinterpret_cast<void*>(kBase), .length = kLength});
  SPINDRIFT_CHECK(added.ok());
  world_->peer.name = "peer";
}

SubmitBench::~SubmitBench() = default;

double SubmitBench::measure(std::uint32_t descriptors, bool shuffled) {
  Intent intent;
  intent.target = world_->segment;
  for (std::uint64_t i = 0; i < descriptors; ++i) {
    const std::uint64_t at = kBase + 2 * i * kPage;
    intent.ranges.push_back({reinterpret_cast<void*>(at), at, kPage});
  }
  Prng prng(1);
  for (std::size_t i = descriptors; shuffled && i > 1; --i) {
    std::swap(intent.ranges[i - 1], intent.ranges[prng.below(i)]);
  }
  const auto regions = world_->regions.snapshot();
  const Instant begin = read_monotonic_clock();
  const auto state = api::prepare(intent, world_->peer, *regions, world_->buffers);
  const Duration took = read_monotonic_clock() - begin;
  SPINDRIFT_CHECK(state.ok());
  api::release(**state);
  return static_cast<double>(to_ns(took)) / descriptors;
}

}  // namespace spindrift::perf
