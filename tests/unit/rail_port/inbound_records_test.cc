#include <catch2/catch.hpp>

#include "rails/inbound_records.h"

namespace spindrift::rails {
namespace {

using Seqs = std::vector<AttemptSeq>;

TEST_CASE("the smallest generation only ever rises") {
  InboundRecord record(8);
  CHECK(record.admits(0));
  record.end_below(3);
  record.end_below(2);
  CHECK_FALSE(record.admits(2));
  CHECK(record.admits(3));
  REQUIRE(record.adopt(5, 0));
  CHECK_FALSE(record.admits(4));
  CHECK_FALSE(record.admits(5));  // once
  CHECK(record.admits(6));
}

TEST_CASE("a report is kept as it was given, whatever comes later") {
  InboundRecord record(8);
  REQUIRE(record.adopt(1, 10));
  record.settle();
  record.refuse();
  record.settle();
  record.end_below(2);
  CHECK(record.report().settled_end == 13);
  CHECK(record.report().refused == Seqs{11});
  REQUIRE(record.adopt(2, 15));
  record.settle();
  record.end_below(2);  // asked again
  CHECK(record.report().settled_end == 13);
  record.end_below(3);
  CHECK(record.report().settled_end == 16);
  CHECK(record.report().refused == Seqs{11, 13, 14});  // 13, 14: lost between generations
}

TEST_CASE("a generation cannot start before what was settled") {
  InboundRecord record(8);
  REQUIRE(record.adopt(1, 4));
  record.settle();
  CHECK_FALSE(record.adopt(2, 4));
  CHECK(record.adopt(2, 5));
}

TEST_CASE("only the last refused attempts are remembered") {
  InboundRecord record(4);
  REQUIRE(record.adopt(1, 0));
  for (int i = 0; i < 10; ++i) record.refuse();
  record.end_below(2);
  CHECK(record.report().refused == Seqs{6, 7, 8, 9});
  // A peer that claims a huge gap costs no more than that either.
  REQUIRE(record.adopt(2, AttemptSeq{1} << 60));
  record.end_below(3);
  CHECK(record.report().refused.size() == 4);
  CHECK(record.report().refused.back() == (AttemptSeq{1} << 60) - 1);
}

TEST_CASE("a peer over its bound keeps what it has and costs the others nothing") {
  InboundRecords records(2, 8);
  InboundRecord* const first = records.find_or_make({1, 0});
  REQUIRE(first != nullptr);
  first->end_below(9);
  REQUIRE(records.find_or_make({1, 1}) != nullptr);
  CHECK(records.find_or_make({1, 2}) == nullptr);
  CHECK(records.find_or_make({1, 0}) == first);
  CHECK_FALSE(first->admits(8));
  REQUIRE(records.find_or_make({2, 2}) != nullptr);

  // A lane that was turned away once may have been fenced then: never later.
  int dropped = 0;
  records.drop(2, [&dropped](InboundRecord&) { ++dropped; });
  CHECK(dropped == 1);
  CHECK(records.find_or_make({1, 2}) == nullptr);
  records.drop(1, [](InboundRecord&) {});
  CHECK(records.size() == 0);
  CHECK(records.find_or_make({1, 2}) != nullptr);
}

}  // namespace
}  // namespace spindrift::rails
