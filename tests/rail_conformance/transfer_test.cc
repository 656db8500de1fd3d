// What every backend must move, byte for byte, with canaries at both ends.
#include <catch2/catch.hpp>

#include "rig.h"

namespace spindrift::conformance {
namespace {

TEST_CASE("every size arrives, at every alignment, and nothing around it is touched") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  const bool checksum = GENERATE(false, true);
  const std::size_t sizes[] = {1, 3, 511, 512, 513, 4095, 4097, kMiB + 1, 8 * kMiB - 37};
  const std::pair<std::size_t, std::size_t> shifts[] = {{0, 0}, {1, 0}, {3, 61}, {63, 7}};
  for (const std::size_t size : sizes) {
    CAPTURE(direction == Operation::kWrite, checksum, size);
    Rig rig(direction, size + 512);
    rig.connect();
    for (const auto& [local, remote] : shifts) {
      REQUIRE(rig.post({{128 + local, 128 + remote, size}}, {.checksum = checksum}));
      rig.settle(rig.next_seq());
      CHECK(rig.checker.outcome(rig.next_seq() - 1) == Cause::kNone);
    }
    CHECK(rig.checker.progress() == size * std::size(shifts));
    rig.verify();
  }
}

// Ranges with gaps of odd sizes, in an order of their own at each end.
std::vector<Range> scattered(std::size_t count, std::size_t length) {
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t mirrored = count - 1 - i;
    ranges.push_back({64 + i * (length + 13), 64 + mirrored * (length + 29), length + i % 3});
  }
  return ranges;
}

TEST_CASE("an attempt may have many ranges") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  const bool checksum = GENERATE(false, true);
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{2}, std::size_t{511}, std::size_t{512}}) {
    for (const std::size_t length : {std::size_t{1}, std::size_t{777}, std::size_t{4096}}) {
      CAPTURE(direction == Operation::kWrite, checksum, count, length);
      Rig rig(direction, count * (length + 32) + 256);
      rig.connect();
      REQUIRE(rig.post(scattered(count, length), {.checksum = checksum}));
      rig.settle(1);
      CHECK(rig.checker.outcome(0) == Cause::kNone);
      rig.verify();
    }
  }
}

TEST_CASE("ranges that continue each other at one end or both are still ranges") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  Rig rig(direction, 64 * kKiB);
  rig.connect();
  std::vector<Range> both, remote_only, local_only;
  for (std::size_t i = 0; i < 50; ++i) {
    both.push_back({1 + i * 100, 2 + i * 100, 100});
    remote_only.push_back({8000 + (49 - i) * 101, 8001 + i * 100, 100});
    local_only.push_back({16001 + i * 100, 16000 + (49 - i) * 103, 100});
  }
  REQUIRE(rig.post(both));
  REQUIRE(rig.post(remote_only));
  REQUIRE(rig.post(local_only, {.checksum = true}));
  rig.settle(3);
  rig.verify();
}

TEST_CASE("an attempt may begin inside its first descriptor") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  Rig rig(direction, 64 * kKiB);
  rig.connect();
  REQUIRE(rig.post({{100, 200, 5000}, {6000, 7000, 10}}, {.offset = 4321}));
  rig.settle(1);
  rig.verify();
}

TEST_CASE("post takes what fits, and the rest fits later") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  constexpr std::size_t kLength = 100;
  Rig rig(direction, 2 * kMiB);
  rig.connect();
  const std::size_t bound = rig.initiator().capabilities().attempts_max;
  std::vector<Attempt> attempts;
  for (std::size_t i = 0; i < bound + 40; ++i) {
    const std::vector<Range> ranges = {{i * 200, i * 200 + 17, kLength}};
    Attempt attempt = rig.make_attempt(ranges);
    attempt.seq = i;
    attempts.push_back(attempt);
    rig.expect(ranges);
  }
  const std::size_t taken = rig.post_raw(attempts);
  CHECK(taken == bound);
  CHECK(rig.post_raw({attempts[bound]}) == 0);
  rig.settle(bound);
  attempts.erase(attempts.begin(), attempts.begin() + static_cast<std::ptrdiff_t>(taken));
  CHECK(rig.post_raw(attempts) == 40);
  rig.settle(bound + 40);
  rig.verify();
}

TEST_CASE("many attempts of all sizes are outstanding at once") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  Prng prng(seed);
  Rig rig(direction, 24 * kMiB);
  rig.connect();
  std::size_t at = 0;
  for (std::size_t i = 0; i < 400;) {
    std::vector<Range> ranges;
    for (std::uint64_t k = prng.between(1, 6); k > 0; --k) {
      const std::size_t length =
          prng.chance(30) ? prng.between(1, 200 * kKiB) : prng.between(1, 900);
      ranges.push_back({at + prng.below(7), at + prng.below(7), length});
      at += length + 7;
    }
    REQUIRE(at < 24 * kMiB);
    if (!rig.post(ranges, {.checksum = prng.chance(500)})) FAIL("400 attempts must fit");
    ++i;
    if (prng.chance(100)) rig.step();
  }
  rig.settle(400);
  for (AttemptSeq seq = 0; seq < 400; ++seq) CHECK(rig.checker.outcome(seq) == Cause::kNone);
  rig.verify();
}

TEST_CASE("events that do not fit are told later, none lost, none twice") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  Rig rig(direction, 64 * kKiB, 1);
  rig.connect();
  for (std::size_t i = 0; i < 100; ++i) REQUIRE(rig.post({{i * 300, i * 300 + 5, 250}}));
  rig.settle(100);
  rig.verify();
}

TEST_CASE("an endpoint that is no connection is a lane that is down") {
  Rig rig(Operation::kWrite, 4096);
  rig.checker.on_connect(1);
  rig.initiator().connect_lane(rig.lane(), 1, 0, {});
  rig.run_until([&] { return rig.checker.down(); }, "the lane is down");
  CHECK(rig.checker.down_cause() == Cause::kConnectFailed);
  rig.verify();
}

}  // namespace
}  // namespace spindrift::conformance
