#include "policies/service_order.h"

#include <catch2/catch.hpp>

namespace spindrift::policies {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kGB = 1'000'000'000;

TEST_CASE("A short intent passes an elephant, until the elephant has waited for its size") {
  const Instant elephant = virtual_finish(Instant(seconds(10)), 5 * kGB);
  CHECK(virtual_finish(Instant(seconds(11)), 1000) < elephant);
  CHECK(virtual_finish(Instant(seconds(14)), kGB / 2) < elephant);
  CHECK(virtual_finish(Instant(seconds(15)), 1000) > elephant);
}

TEST_CASE("Equal sizes are served in the order of submission") {
  CHECK(virtual_finish(Instant(seconds(1)), kGB) < virtual_finish(Instant(seconds(2)), kGB));
}

TEST_CASE("Absurd sizes and times do not wrap around") {
  CHECK(virtual_finish(Instant(seconds(1)), ~std::uint64_t{0}) >
        virtual_finish(Instant(seconds(1)), 1ull << 59));
  CHECK(virtual_finish(kNever, 1) == kNever);
}

}  // namespace
}  // namespace spindrift::policies
