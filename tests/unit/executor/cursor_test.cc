#include "executor/cursor.h"

#include <vector>

#include <catch2/catch.hpp>

namespace spindrift::executor {
namespace {

std::vector<ResolvedDescriptor> list_of(std::vector<std::uint64_t> lengths) {
  std::vector<ResolvedDescriptor> list;
  for (const std::uint64_t length : lengths) list.push_back({.length = length});
  return list;
}

TEST_CASE("A cut takes what was asked for and moves the cursor there") {
  struct Case {
    const char* what;
    Cursor at;
    std::uint64_t target;
    std::uint32_t ranges_max;
    std::uint64_t bytes;
    std::uint32_t ranges;
    Cursor then;
  };
  const auto list = list_of({10, 20, 30});
  const Case cases[] = {
      {"within a descriptor", {0, 2}, 5, 9, 5, 1, {0, 7}},
      {"to a descriptor's end", {0, 2}, 8, 9, 8, 1, {1, 0}},
      {"over an end", {0, 2}, 9, 9, 9, 2, {1, 1}},
      {"over all", {0, 0}, 60, 9, 60, 3, {3, 0}},
      {"more than there is", {1, 5}, ~std::uint64_t{0}, 9, 45, 2, {3, 0}},
      {"fewer ranges than it takes", {0, 0}, 60, 2, 30, 2, {2, 0}},
      {"one range", {0, 9}, 60, 1, 1, 1, {1, 0}},
      {"nothing", {1, 5}, 0, 9, 0, 0, {1, 5}},
      {"no ranges", {1, 5}, 10, 0, 0, 0, {1, 5}},
      {"at the end", {3, 0}, 10, 9, 0, 0, {3, 0}},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    Cursor cursor = c.at;
    const Cut cut = cut_slice(list, cursor, c.target, c.ranges_max);
    CHECK(cut.bytes == c.bytes);
    CHECK(cut.ranges == c.ranges);
    CHECK(cut.begin.descriptor == c.at.descriptor);
    CHECK(cut.begin.offset == c.at.offset);
    CHECK(cursor.descriptor == c.then.descriptor);
    CHECK(cursor.offset == c.then.offset);
  }
}

TEST_CASE("Lengths of 2^63 and an empty list are cut as well") {
  Cursor cursor;
  CHECK(cut_slice({}, cursor, 100, 9).bytes == 0);
  const auto list = list_of({1ull << 63, 1ull << 62});
  CHECK(cut_slice(list, cursor, (1ull << 63) + 5, 9).bytes == (1ull << 63) + 5);
  CHECK(cursor.descriptor == 1);
  CHECK(cursor.offset == 5);
}

TEST_CASE("Cut after cut covers the list without gap or overlap") {
  const auto list = list_of({1, 7, 300, 2, 2, 2, 999, 1});
  for (const std::uint64_t target : {1, 3, 64, 5000}) {
    for (const std::uint32_t ranges : {1u, 2u, 100u}) {
      Cursor cursor;
      std::uint64_t sum = 0;
      while (cursor.descriptor < list.size()) {
        const Cursor before = cursor;
        const Cut cut = cut_slice(list, cursor, target, ranges);
        REQUIRE(cut.bytes > 0);
        REQUIRE(cut.begin.descriptor == before.descriptor);
        REQUIRE(cut.begin.offset == before.offset);
        sum += cut.bytes;
      }
      CHECK(sum == 1314);
    }
  }
}

}  // namespace
}  // namespace spindrift::executor
