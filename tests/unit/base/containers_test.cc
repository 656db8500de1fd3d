// base/ring.h, base/slab.h, base/bounded_vector.h
#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <set>
#include <string>

#include "base/bounded_vector.h"
#include "base/prng.h"
#include "base/ring.h"
#include "base/slab.h"

namespace spindrift {
namespace {

TEST_CASE("a ring's capacity is rounded up to a power of two") {
  struct Row {
    std::size_t asked;
    std::size_t got;
  };
  for (const Row row : {Row{0, 1}, Row{1, 1}, Row{2, 2}, Row{3, 4}, Row{5, 8}, Row{64, 64}}) {
    CHECK(Ring<int>(row.asked).capacity() == row.got);
  }
}

TEST_CASE("a full ring refuses and keeps what it has") {
  Ring<int> ring(2);
  CHECK(ring.push(1));
  CHECK(ring.push(2));
  CHECK(ring.full());
  CHECK_FALSE(ring.push(3));
  CHECK(ring.front() == 1);
  CHECK(ring.back() == 2);
}

TEST_CASE("a popped item is released at once") {
  auto item = std::make_shared<int>(7);
  Ring<std::shared_ptr<int>> ring(4);
  ring.push(item);
  ring.push(item);
  ring.push(item);
  CHECK(item.use_count() == 4);
  ring.pop();
  CHECK(item.use_count() == 3);
  ring.pop_back();
  CHECK(item.use_count() == 2);
  ring.clear();
  CHECK(item.use_count() == 1);
  CHECK(ring.empty());
}

TEST_CASE("a ring behaves as a deque, over many laps") {
  Prng prng(1);
  Ring<std::uint64_t> ring(8);
  std::deque<std::uint64_t> model;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t action = prng.below(10);
    if (action < 5) {
      const bool room = model.size() < ring.capacity();
      const std::uint64_t value = prng.next();
      REQUIRE(ring.push(value) == room);
      if (room) model.push_back(value);
    } else if (!model.empty() && action < 8) {
      ring.pop();
      model.pop_front();
    } else if (!model.empty()) {
      ring.pop_back();
      model.pop_back();
    }
    REQUIRE(ring.size() == model.size());
    REQUIRE(ring.empty() == model.empty());
    for (std::size_t j = 0; j < model.size(); ++j) REQUIRE(ring[j] == model[j]);
  }
}

TEST_CASE("a slab gives each place once and all of them again") {
  Slab<std::string> slab(3);
  CHECK(slab.capacity() == 3);
  std::set<SlabIndex> places;
  for (int i = 0; i < 3; ++i) places.insert(slab.take());
  CHECK(places == std::set<SlabIndex>{0, 1, 2});
  CHECK(slab.full());
  CHECK(slab.used() == 3);
  CHECK(slab.take() == kNoSlab);
  slab[1] = "old";
  slab.give_back(1);
  CHECK(slab.used() == 2);
  CHECK(slab.take() == 1);
  CHECK(slab[1].empty());  // freshly constructed
}

TEST_CASE("a slab of nothing is full") {
  Slab<int> slab(0);
  CHECK(slab.full());
  CHECK(slab.take() == kNoSlab);
}

TEST_CASE("a bounded vector never moves and never grows") {
  BoundedVector<int> items(3);
  CHECK(items.push(1));
  const int* first = &items[0];
  CHECK(items.push(2));
  CHECK(items.room() == 1);
  CHECK(items.push(3));
  CHECK(items.full());
  CHECK_FALSE(items.push(4));
  CHECK(&items[0] == first);
  int sum = 0;
  for (const int item : items) sum += item;
  CHECK(sum == 6);
  CHECK(items.span().size() == 3);
  items.clear();
  CHECK(items.empty());
  CHECK(items.room() == 3);
  CHECK(items.push(5));
  CHECK(&items[0] == first);
}

}  // namespace
}  // namespace spindrift
