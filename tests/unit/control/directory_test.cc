#include "control/directory.h"

#include <catch2/catch.hpp>
#include <string>

#include "control/codec.h"

namespace spindrift::control {
namespace {

PublishedRegion region(const std::string& segment, std::uint32_t key, std::uint64_t address,
                       Rights rights, std::vector<Grant> grants = {}) {
  return {.segment = segment,
          .key = key,
          .address = address,
          .length = 0x1000,
          .rights = rights,
          .grants = std::move(grants)};
}

LookUp want(const std::string& segment, std::uint32_t first = 0, std::uint64_t edition = 0) {
  return {.id = 1, .segment = segment, .first = first, .edition = edition};
}

TEST_CASE("a segment is told sorted by address") {
  Directory directory;
  directory.publish(region("kv", 1, 0x3000, Rights::kRemoteRead));
  directory.publish(region("kv", 2, 0x1000, Rights::kRemoteReadWrite));
  const auto reply = directory.look_up("peer", want("kv"), 100);
  REQUIRE(reply.found);
  REQUIRE(reply.regions.size() == 2);
  CHECK(reply.total == 2);
  CHECK(reply.regions[0].address == 0x1000);
  CHECK(reply.regions[0].rights == Rights::kRemoteReadWrite);
  CHECK(reply.regions[1].key == 1);
}

TEST_CASE("a peer sees exactly what it may use") {
  struct Case {
    const char* what;
    Rights general;
    std::vector<Grant> grants;
    Rights seen;  // by "peer"; kLocal: not found
  };
  const Case cases[] = {
      {"general rights", Rights::kRemoteRead, {}, Rights::kRemoteRead},
      {"nothing general", Rights::kLocal, {}, Rights::kLocal},
      {"granted to it alone",
       Rights::kLocal,
       {{"peer", Rights::kRemoteWrite}},
       Rights::kRemoteWrite},
      {"granted to another", Rights::kLocal, {{"other", Rights::kRemoteWrite}}, Rights::kLocal},
      {"a grant takes away", Rights::kRemoteReadWrite, {{"peer", Rights::kLocal}}, Rights::kLocal},
      {"a grant narrows",
       Rights::kRemoteReadWrite,
       {{"peer", Rights::kRemoteRead}},
       Rights::kRemoteRead},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    Directory directory;
    directory.publish(region("kv", 1, 0x1000, c.general, c.grants));
    const auto reply = directory.look_up("peer", want("kv"), 100);
    CHECK(reply.found == (c.seen != Rights::kLocal));
    if (reply.found) CHECK(reply.regions[0].rights == c.seen);
  }
}

TEST_CASE("not found lists what the peer may see, and hides the rest") {
  Directory directory;
  directory.publish(region("kv", 1, 0x1000, Rights::kRemoteRead));
  directory.publish(region("weights", 2, 0x2000, Rights::kRemoteRead));
  directory.publish(region("hidden", 3, 0x3000, Rights::kLocal));
  CHECK(directory.look_up("peer", want("vk"), 100).why == "it has: kv, weights");
  // A hidden one is answered like one that does not exist.
  CHECK(directory.look_up("peer", want("hidden"), 100).why == "it has: kv, weights");
  CHECK(Directory().look_up("peer", want("kv"), 100).why == "it has none that this node may use");
}

TEST_CASE("the list of names is bounded") {
  Directory directory;
  for (std::uint32_t i = 1; i <= 500; ++i) {
    directory.publish(
        region(std::string(200, 'x') + std::to_string(i), i, i * 0x1000, Rights::kRemoteRead));
  }
  const auto reply = directory.look_up("peer", want("kv"), 100);
  CHECK(reply.why.size() <= kTextMax);
  CHECK(reply.why.find("more") != std::string::npos);
}

TEST_CASE("withdrawn and revoked regions are gone, revoked ones for good") {
  Directory directory;
  directory.publish(region("kv", 1, 0x1000, Rights::kRemoteRead));
  directory.publish(region("kv", 2, 0x2000, Rights::kRemoteRead));
  directory.withdraw(1);
  directory.withdraw(99);  // never published
  CHECK(directory.look_up("peer", want("kv"), 100).total == 1);
  directory.revoke("peer", "kv");
  CHECK_FALSE(directory.look_up("peer", want("kv"), 100).found);
  CHECK(directory.look_up("other", want("kv"), 100).found);
  directory.publish(region("kv", 3, 0x3000, Rights::kRemoteRead, {{"peer", Rights::kRemoteRead}}));
  CHECK_FALSE(directory.look_up("peer", want("kv"), 100).found);
  directory.withdraw(2);
  directory.withdraw(3);
  CHECK_FALSE(directory.look_up("other", want("kv"), 100).found);
}

TEST_CASE("a large segment comes in pages, from the start again when it changed") {
  Directory directory;
  for (std::uint32_t i = 1; i <= 10; ++i) {
    directory.publish(region("kv", i, i * 0x1000, Rights::kRemoteRead));
  }
  const auto first = directory.look_up("peer", want("kv"), 4);
  CHECK(first.total == 10);
  CHECK(first.regions.size() == 4);
  const auto second = directory.look_up("peer", want("kv", 4, first.edition), 4);
  CHECK(second.first == 4);
  REQUIRE(second.regions.size() == 4);
  CHECK(second.regions[0].key == 5);
  const auto third = directory.look_up("peer", want("kv", 8, first.edition), 4);
  CHECK(third.regions.size() == 2);
  directory.withdraw(1);
  const auto again = directory.look_up("peer", want("kv", 8, first.edition), 4);
  CHECK(again.first == 0);
  CHECK(again.total == 9);
  // An index beyond the end is answered, not followed.
  const auto beyond = directory.look_up("peer", want("kv", 1000, again.edition), 4);
  CHECK(beyond.regions.empty());
  CHECK(beyond.first == 9);
}

}  // namespace
}  // namespace spindrift::control
