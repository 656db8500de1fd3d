// Connections that end or change bytes, at every step of a frame.
#include <catch2/catch.hpp>

#include "rig.h"

namespace spindrift::conformance {
namespace {

constexpr std::size_t kMemory = 512 * kKiB;
constexpr std::size_t kAttempts = 12;

// A mix of sizes, so that a byte count falls on every part of a frame.
std::vector<Range> mixed(std::size_t i) {
  const std::size_t at = i * 40'000;
  if (i % 3 == 0) return {{at, at + 3, 1 + i}};
  if (i % 3 == 1) return {{at, at, 700}, {at + 900, at + 1000, 300}, {at + 2000, at + 5000, 64}};
  return {{at + 1, at + 2, 30'000}};
}

bool post_mix(Rig& rig, bool checksum) {
  for (std::size_t i = 0; i < kAttempts; ++i) {
    if (rig.post_raw({rig.make_attempt(mixed(i), {.checksum = checksum})}) == 0) return false;
  }
  return true;
}

bool holds(Rig& rig, std::size_t i) {
  for (const Range& range : mixed(i)) {
    if (!std::equal(rig.local.at(range.local), rig.local.at(range.local) + range.length,
                    rig.remote.at(range.remote))) {
      return false;
    }
  }
  return true;
}

TEST_CASE("a connection that ends at any byte is one lane down and nothing after") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  const bool towards_responder = GENERATE(true, false);
  Prng prng(direction == Operation::kWrite ? 11 : 12);
  for (int round = 0; round < 120; ++round) {
    // Small frames first, then anywhere in the payload-carrying direction.
    const std::uint64_t at =
        round < 70 ? static_cast<std::uint64_t>(round) : prng.below(round < 100 ? 600 : 60'000);
    CAPTURE(direction == Operation::kWrite, towards_responder, at);
    Rig rig(direction, kMemory);
    if (!rig.ground().inject({LinkFault::Kind::kCut, towards_responder, at})) {
      WARN("this backend cannot cut a connection");
      rig.verify();
      return;
    }
    rig.connect_unawaited(1);
    rig.run_until([&] { return rig.checker.up() || rig.checker.down(); }, "it was tried");
    const bool posted = post_mix(rig, round % 2 == 0);
    rig.run_until([&] { return rig.checker.down() || rig.checker.settled() == kAttempts; },
                  "down, or all of it came through before");
    if (posted && rig.checker.down()) CHECK(rig.checker.settled() <= kAttempts);
    rig.run_dry();
    const std::size_t settled = rig.checker.settled();
    for (std::size_t i = 0; i < settled; ++i) {
      CHECK(rig.checker.outcome(i) == Cause::kNone);
      CHECK(holds(rig, i));
    }
    // The responder remembers, though its lane broke by itself.
    const rails::InboundFenceReport report = rig.fence_remote(2);
    if (direction == Operation::kWrite) {
      CHECK(report.settled_end >= settled);
      for (std::size_t i = 0; i < report.settled_end; ++i) CHECK(holds(rig, i));
    }
    rig.fence_local(1);
    rig.local.accept();
    rig.remote.accept();
    // And the lane is as good as new.
    rig.connect(2);
    REQUIRE(rig.post({{9, 10, 100'000}}));
    const AttemptSeq last = rig.next_seq() - 1;
    rig.run_until([&] { return rig.checker.outcome(last).has_value(); }, "it landed");
    CHECK(rig.checker.outcome(last) == Cause::kNone);
    rig.verify();
  }
}

TEST_CASE("a changed byte in a checked payload fails that attempt alone") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  constexpr std::size_t kLength = 100'000;
  Rig rig(direction, kMemory);
  // Far behind the head and before the trailer of the first attempt.
  if (!rig.ground().inject({LinkFault::Kind::kFlip, direction == Operation::kWrite, kLength / 2})) {
    WARN("this backend cannot change a byte");
    rig.verify();
    return;
  }
  rig.connect();
  const std::vector<Range> damaged = {{0, 0, kLength}};
  REQUIRE(rig.post_raw({rig.make_attempt(damaged, {.checksum = true})}) == 1);
  REQUIRE(rig.post({{200'000, 200'000, kLength}}, {.checksum = true}));
  rig.settle(2);
  CHECK(rig.checker.outcome(0) == Cause::kChecksum);
  CHECK(rig.checker.outcome(1) == Cause::kNone);
  // Sent again, it is whole.
  REQUIRE(rig.post(damaged, {.checksum = true}));
  rig.settle(3);
  CHECK(rig.checker.outcome(2) == Cause::kNone);
  rig.verify();
  if (direction == Operation::kWrite) {
    CHECK(rig.fence_remote(2).refused == std::vector<AttemptSeq>{0});
  }
}

TEST_CASE("a changed byte anywhere never moves memory outside the ranges asked for") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  const bool towards_responder = GENERATE(true, false);
  Prng prng(towards_responder ? 21 : 22);
  for (int round = 0; round < 100; ++round) {
    const std::uint64_t at = round < 60 ? static_cast<std::uint64_t>(round) : prng.below(40'000);
    CAPTURE(direction == Operation::kWrite, towards_responder, at);
    Rig rig(direction, kMemory);
    if (!rig.ground().inject({LinkFault::Kind::kFlip, towards_responder, at})) {
      WARN("this backend cannot change a byte");
      rig.verify();
      return;
    }
    rig.connect();
    REQUIRE(post_mix(rig, true));
    rig.run_until([&] { return rig.checker.down() || rig.checker.settled() == kAttempts; },
                  "down, or all settled");
    rig.run_dry();
    Memory& destination = rig.destination();
    for (std::size_t i = 0; i < kAttempts; ++i) {
      if (rig.checker.outcome(i) == Cause::kNone) CHECK(holds(rig, i));
      for (const Range& range : mixed(i)) {
        const std::size_t to = direction == Operation::kWrite ? range.remote : range.local;
        destination.expect(to, destination.at(to), range.length);
      }
    }
    rig.verify();
  }
}

TEST_CASE("a responder that restarts knows nothing, and the lane can be made again") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  Rig rig(direction, kMemory);
  rig.connect(1);
  REQUIRE(rig.post({{1, 1, 1000}}));
  rig.settle(1);
  rig.responder().drop_inbound(kSession);
  rig.run_until([&] { return rig.checker.down(); }, "the connection ended");
  CHECK(rig.initiator().post(rig.lane(), std::vector<Attempt>{}) == 0);
  CHECK_FALSE(rig.post({{2000, 2000, 1000}}));  // a lane that is down takes nothing
  rig.fence_local(1);
  rig.connect(2);
  REQUIRE(rig.post({{4000, 4000, 1000}}));
  rig.settle(2);
  rig.verify();
}

}  // namespace
}  // namespace spindrift::conformance
