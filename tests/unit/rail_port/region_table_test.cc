#include "rails/region_table.h"

#include <array>
#include <catch2/catch.hpp>
#include <limits>

namespace spindrift::rails {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr RegionKey kKey = make_region_key(5, 77);

// One region of 100 bytes at index 5.
class OneRegion {
 public:
  explicit OneRegion(Rights rights = Rights::kRemoteReadWrite,
                     std::vector<PeerRights> grants = {}) {
    table.put({.key = kKey,
               .base = memory.data(),
               .length = memory.size(),
               .rights = rights,
               .grants = std::move(grants)});
  }

  std::uint64_t at(std::uint64_t offset) const {
    return reinterpret_cast<std::uintptr_t>(memory.data()) + offset;
  }
  Cause ask(std::uint64_t remote, std::uint64_t length, Rights want = Rights::kRemoteWrite,
            std::uint32_t peer = 1, RegionKey key = kKey) const {
    Cause why = Cause::kDeadline;  // to be overwritten
    const std::byte* place = table.check(peer, key, remote, length, want, why);
    CHECK((place != nullptr) == (why == Cause::kNone));
    if (place != nullptr) CHECK(reinterpret_cast<std::uintptr_t>(place) == remote);
    return why;
  }

  std::array<std::byte, 100> memory{};
  RegionTable table;
};

TEST_CASE("a range must lie within its region, whatever the numbers") {
  const OneRegion region;
  struct Row {
    std::uint64_t remote, length;
    Cause why;
  };
  const Row rows[] = {
      {region.at(0), 100, Cause::kNone},
      {region.at(0), 0, Cause::kNone},
      {region.at(100), 0, Cause::kNone},
      {region.at(99), 1, Cause::kNone},
      {region.at(0), 101, Cause::kBadRange},
      {region.at(1), 100, Cause::kBadRange},
      {region.at(100), 1, Cause::kBadRange},
      {region.at(101), 0, Cause::kBadRange},
      {region.at(0) - 1, 1, Cause::kBadRange},
      {region.at(0) - 1, 101, Cause::kBadRange},
      {region.at(50), kMost, Cause::kBadRange},
      {region.at(50), kMost - region.at(50) + 1, Cause::kBadRange},  // wraps to 0
      {region.at(50), kMost - 10, Cause::kBadRange},
      {region.at(0), 1ULL << 63, Cause::kBadRange},
      {0, 0, Cause::kBadRange},
      {0, kMost, Cause::kBadRange},
      {kMost, 0, Cause::kBadRange},
      {kMost, kMost, Cause::kBadRange},
      {0, 1, Cause::kBadRange},
  };
  for (const Row& row : rows) {
    CAPTURE(row.remote, row.length);
    CHECK(region.ask(row.remote, row.length) == row.why);
  }
}

TEST_CASE("rights are what was registered") {
  struct Row {
    Rights have, want;
    bool allowed;
  };
  const Row rows[] = {
      {Rights::kLocal, Rights::kRemoteRead, false},
      {Rights::kLocal, Rights::kRemoteWrite, false},
      {Rights::kRemoteRead, Rights::kRemoteRead, true},
      {Rights::kRemoteRead, Rights::kRemoteWrite, false},
      {Rights::kRemoteWrite, Rights::kRemoteRead, false},
      {Rights::kRemoteWrite, Rights::kRemoteWrite, true},
      {Rights::kRemoteReadWrite, Rights::kRemoteRead, true},
      {Rights::kRemoteReadWrite, Rights::kRemoteWrite, true},
      {Rights::kRemoteRead, Rights::kRemoteReadWrite, false},
  };
  for (const Row& row : rows) {
    const OneRegion region(row.have);
    CHECK(region.ask(region.at(0), 1, row.want) == (row.allowed ? Cause::kNone : Cause::kNoRight));
  }
}

TEST_CASE("a grant stands instead of the general rights, in both directions") {
  const OneRegion region(Rights::kRemoteRead, {{2, Rights::kRemoteWrite}, {3, Rights::kLocal}});
  const auto may = [&](std::uint32_t peer, Rights want) {
    return region.ask(region.at(0), 1, want, peer) == Cause::kNone;
  };
  CHECK(may(1, Rights::kRemoteRead));
  CHECK_FALSE(may(1, Rights::kRemoteWrite));
  CHECK_FALSE(may(2, Rights::kRemoteRead));
  CHECK(may(2, Rights::kRemoteWrite));
  CHECK_FALSE(may(3, Rights::kRemoteRead));
}

TEST_CASE("the scratch key opens the scratch memory, to everybody and in whole") {
  RegionTable table;
  Cause why = Cause::kNone;
  std::byte* const base = table.check(7, kScratchKey, 0, kScratchBytes, Rights::kRemoteWrite, why);
  REQUIRE(base != nullptr);
  CHECK(table.check(8, kScratchKey, 1, kScratchBytes - 1, Rights::kRemoteRead, why) == base + 1);
  CHECK(table.check(7, kScratchKey, 1, kScratchBytes, Rights::kRemoteWrite, why) == nullptr);
  CHECK(why == Cause::kBadRange);
  why = Cause::kNone;
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  CHECK(table.check(7, kScratchKey, last, 2, Rights::kRemoteWrite, why) == nullptr);
  CHECK(why == Cause::kBadRange);
}

TEST_CASE("a key opens its own registration only") {
  OneRegion region;
  const auto ask = [&](RegionKey key) {
    return region.ask(region.at(0), 1, Rights::kRemoteWrite, 1, key);
  };
  CHECK(ask(make_region_key(5, 78)) == Cause::kNoRegion);  // the tag of another time
  CHECK(ask(make_region_key(4, 77)) == Cause::kNoRegion);  // an empty place
  CHECK(ask(make_region_key(6, 77)) == Cause::kNoRegion);  // beyond the table
  CHECK(ask(0) == Cause::kNoRegion);
  CHECK(ask(kScratchKey - 1) == Cause::kNoRegion);
  CHECK(ask(kScratchKey) == Cause::kBadRange);  // the scratch memory has addresses of its own

  region.table.erase(make_region_key(5, 78));  // a stale key takes nothing away
  CHECK(ask(kKey) == Cause::kNone);
  region.table.erase(kKey);
  CHECK(ask(kKey) == Cause::kNoRegion);
  region.table.erase(kKey);

  // Another region takes the place: the old key stays shut.
  std::array<std::byte, 8> other{};
  region.table.put({.key = make_region_key(5, 78),
                    .base = other.data(),
                    .length = other.size(),
                    .rights = Rights::kRemoteReadWrite});
  CHECK(ask(kKey) == Cause::kNoRegion);
}

TEST_CASE("key 0 of an empty place opens nothing") {
  const RegionTable table;
  Cause why = Cause::kNone;
  CHECK(table.check(1, 0, 0, 0, Rights::kLocal, why) == nullptr);
  CHECK(why == Cause::kNoRegion);
}

TEST_CASE("revoking takes one peer's rights, also granted ones, and nobody else's") {
  OneRegion region(Rights::kRemoteReadWrite, {{2, Rights::kRemoteReadWrite}});
  region.table.revoke(kKey, 1);
  region.table.revoke(kKey, 2);
  region.table.revoke(kKey, 2);
  region.table.revoke(make_region_key(5, 78), 3);  // a stale key revokes nothing
  region.table.revoke(make_region_key(9, 1), 3);
  const auto ask = [&](std::uint32_t peer) {
    return region.ask(region.at(0), 1, Rights::kRemoteWrite, peer);
  };
  CHECK(ask(1) == Cause::kNoRight);
  CHECK(ask(2) == Cause::kNoRight);
  CHECK(ask(3) == Cause::kNone);
}

TEST_CASE("a quiesced range is shut to every byte of it, and to no other") {
  OneRegion region;
  region.table.quiesce(1, region.memory.data() + 20, 10);
  struct Row {
    std::uint64_t offset, length;
    bool open;
  };
  const Row rows[] = {{0, 20, true},   {0, 21, false},  {19, 1, true},  {20, 1, false},
                      {25, 2, false},  {29, 1, false},  {30, 1, true},  {30, 70, true},
                      {0, 100, false}, {10, 15, false}, {28, 10, false}};
  for (const Row& row : rows) {
    CAPTURE(row.offset, row.length);
    CHECK(region.ask(region.at(row.offset), row.length) ==
          (row.open ? Cause::kNone : Cause::kQuiesced));
  }
}

TEST_CASE("each guard of a range must end before it opens again") {
  OneRegion region;
  region.table.quiesce(1, region.memory.data(), 50);
  region.table.quiesce(2, region.memory.data() + 40, 20);
  region.table.resume(3);  // nobody's
  CHECK(region.ask(region.at(45), 1) == Cause::kQuiesced);
  region.table.resume(1);
  CHECK(region.ask(region.at(0), 1) == Cause::kNone);
  CHECK(region.ask(region.at(45), 1) == Cause::kQuiesced);
  region.table.resume(2);
  CHECK(region.ask(region.at(45), 1) == Cause::kNone);
}

TEST_CASE("the first reason is the one that tells least: region, right, range, quiesced") {
  OneRegion region(Rights::kRemoteRead);
  region.table.quiesce(1, region.memory.data(), 100);
  CHECK(region.ask(region.at(0), 1, Rights::kRemoteWrite, 1, make_region_key(5, 1)) ==
        Cause::kNoRegion);
  CHECK(region.ask(region.at(200), 1) == Cause::kNoRight);
  CHECK(region.ask(region.at(200), 1, Rights::kRemoteRead) == Cause::kBadRange);
  CHECK(region.ask(region.at(0), 1, Rights::kRemoteRead) == Cause::kQuiesced);
}

TEST_CASE("keys keep their index and fill 32 bits") {
  CHECK(region_key_index(make_region_key(kRegionsMax - 1, 16383)) == kRegionsMax - 1);
  CHECK(make_region_key(kRegionsMax - 1, 16383) == std::numeric_limits<RegionKey>::max());
  CHECK(region_key_index(make_region_key(0, 16383)) == 0);
}

}  // namespace
}  // namespace spindrift::rails
