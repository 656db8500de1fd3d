// No access without the right: every refusal names its exact cause, touches no
// memory, and leaves the lane usable.
#include <catch2/catch.hpp>

#include <functional>

#include "rig.h"

namespace spindrift::conformance {
namespace {

struct Refusal {
  const char* name;
  Cause cause;
  std::function<void(Rig&)> prepare;
  std::function<Attempt(Rig&)> attempt;
};

Attempt plain(Rig& rig) {
  return rig.make_attempt({{10, 20, 1000}, {3000, 4000, 2000}});
}

// The descriptors of an attempt are ours to bend before it is posted.
Attempt bent(Rig& rig, const std::function<void(ResolvedDescriptor&)>& bend) {
  Attempt attempt = plain(rig);
  bend(const_cast<ResolvedDescriptor&>(attempt.descriptors[1]));
  return attempt;
}

const std::vector<Refusal>& refusals() {
  const auto nothing = [](Rig&) {};
  static const std::vector<Refusal> table = {
      {"a key that was never given", Cause::kNoRegion, nothing,
       [](Rig& rig) { return bent(rig, [](auto& d) { d.remote_key = 0x7fffffff; }); }},
      {"the key of an older registration", Cause::kNoRegion, nothing,
       [](Rig& rig) {
         return bent(rig, [](auto& d) { d.remote_key = rails::make_region_key(5, 76); });
       }},
      {"an address before the region", Cause::kBadRange, nothing,
       [](Rig& rig) {
         return bent(rig, [&rig](auto& d) { d.remote = rig.remote.address(0) - 1; });
       }},
      {"a range that runs over the region's end", Cause::kBadRange, nothing,
       [](Rig& rig) {
         return bent(rig,
                     [&rig](auto& d) { d.remote = rig.remote.address(rig.remote.size() - 1999); });
       }},
      {"address zero", Cause::kBadRange, nothing,
       [](Rig& rig) { return bent(rig, [](auto& d) { d.remote = 0; }); }},
      {"an unregistered region", Cause::kNoRegion,
       [](Rig& rig) { rig.ground().regions().erase(kKey); }, plain},
      {"a quiesced range", Cause::kQuiesced,
       [](Rig& rig) { rig.ground().regions().quiesce(4, rig.remote.at(5999), 1); }, plain},
      {"a revoked peer", Cause::kNoRight,
       [](Rig& rig) { rig.ground().regions().revoke(kKey, kRightsPeer); }, plain},
      {"a local region", Cause::kNoRight, [](Rig& rig) { rig.publish(Rights::kLocal); }, plain},
      {"only the other right", Cause::kNoRight,
       [](Rig& rig) {
         rig.publish(rig.direction() == Operation::kWrite ? Rights::kRemoteRead
                                                          : Rights::kRemoteWrite);
       },
       plain},
  };
  return table;
}

TEST_CASE("an attempt without the right is refused and its lane lives on") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  for (const Refusal& refusal : refusals()) {
    CAPTURE(direction == Operation::kWrite, refusal.name);
    Rig rig(direction, 64 * kKiB);
    rig.connect();
    REQUIRE(rig.post({{0, 0, 5000}}));
    rig.settle(1);
    refusal.prepare(rig);
    rig.responder().regions_changed();
    REQUIRE(rig.post_raw({refusal.attempt(rig)}) == 1);
    rig.settle(2);
    CHECK(rig.checker.outcome(1) == refusal.cause);
    CHECK(rig.local.intact());
    CHECK(rig.remote.intact());

    rig.ground().regions().resume(4);
    rig.publish();
    rig.responder().regions_changed();
    REQUIRE(rig.post({{7000, 6000, 9000}}));
    rig.settle(3);
    CHECK(rig.checker.outcome(0) == Cause::kNone);
    CHECK(rig.checker.outcome(2) == Cause::kNone);
    rig.verify();
    const auto report = rig.fence_remote(2);
    CHECK(report.settled_end == 3);
    CHECK(report.refused == std::vector<AttemptSeq>{1});
  }
}

TEST_CASE("refused and good attempts in one burst each get their own outcome") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  Rig rig(direction, 4 * kMiB);
  rig.connect();
  for (std::size_t i = 0; i < 300; ++i) {
    const std::vector<Range> ranges = {{i * 9000, i * 9001, 8000}};
    if (i % 3 == 1) {
      REQUIRE(rig.post_raw({rig.make_attempt(ranges, {.key = kKey + 1})}) == 1);
    } else {
      REQUIRE(rig.post(ranges));
    }
  }
  rig.settle(300);
  for (AttemptSeq seq = 0; seq < 300; ++seq) {
    CHECK(rig.checker.outcome(seq) == (seq % 3 == 1 ? Cause::kNoRegion : Cause::kNone));
  }
  rig.verify();
}

struct Withdrawal {
  const char* name;
  Cause cause;
  std::function<void(Rig&)> act;
};

TEST_CASE("rights that end in the middle of a slice end its access at once") {
  constexpr std::size_t kLength = 40 * kMiB;
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  const Withdrawal withdrawals[] = {
      {"erased", Cause::kNoRegion, [](Rig& rig) { rig.ground().regions().erase(kKey); }},
      {"revoked", Cause::kNoRight,
       [](Rig& rig) { rig.ground().regions().revoke(kKey, kRightsPeer); }},
      {"quiesced", Cause::kQuiesced,
       [](Rig& rig) { rig.ground().regions().quiesce(1, rig.remote.at(kLength - 1), 1); }},
  };
  for (const Withdrawal& withdrawal : withdrawals) {
    CAPTURE(direction == Operation::kWrite, withdrawal.name);
    Rig rig(direction, kLength);
    rig.connect();
    REQUIRE(rig.post_raw({rig.make_attempt({{0, 0, kLength}})}) == 1);
    rig.run_until([&] { return rig.checker.progress() > 0; }, "some of it was moved");
    REQUIRE(rig.checker.settled() == 0);
    REQUIRE(rig.checker.progress() < kLength);

    withdrawal.act(rig);
    rig.responder().regions_changed();
    // From here on the responder's memory is its own: what is written there is
    // not read any more, and what is there stays.
    if (direction == Operation::kWrite) {
      rig.remote.accept();
    } else {
      rig.remote.fill(std::byte{0xee});
    }
    rig.settle(1);
    CHECK(rig.checker.outcome(0) == withdrawal.cause);
    CHECK_FALSE(rig.local.holds_run_of(std::byte{0xee}));
    CHECK(rig.remote.intact());

    if (direction == Operation::kRead) rig.local.accept();  // a failed read leaves what it likes
    rig.ground().regions().resume(1);
    rig.publish();
    rig.responder().regions_changed();
    REQUIRE(rig.post({{5, 6, 100'000}}));
    rig.settle(2);
    CHECK(rig.checker.outcome(1) == Cause::kNone);
    rig.verify();
  }
}

TEST_CASE("rights that others lose do not disturb a slice under way") {
  constexpr std::size_t kLength = 20 * kMiB;
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  Rig rig(direction, kLength);
  rig.connect();
  REQUIRE(rig.post({{0, 0, kLength}}, {.checksum = true}));
  rig.run_until(
      [&] {
        rig.ground().regions().revoke(kKey, kRightsPeer + 1);
        rig.responder().regions_changed();
        return rig.checker.settled() == 1;
      },
      "it is settled");
  CHECK(rig.checker.outcome(0) == Cause::kNone);
  rig.verify();
}

}  // namespace
}  // namespace spindrift::conformance
