#include "base/mpsc_queue.h"

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

namespace spindrift {
namespace {

TEST_CASE("a queue's capacity is a power of two, at least two; a full one refuses") {
  struct Row {
    std::size_t asked;
    int fit;
  };
  for (const Row row : {Row{0, 2}, Row{1, 2}, Row{2, 2}, Row{3, 4}, Row{8, 8}}) {
    MpscQueue<int> queue(row.asked);
    int pushed = 0;
    for (int value = 0; queue.push(value); ++value) ++pushed;
    CHECK(pushed == row.fit);
  }
}

TEST_CASE("an item that does not fit stays with its owner") {
  MpscQueue<std::unique_ptr<int>> queue(2);
  for (int i = 0; i < 2; ++i) {
    auto item = std::make_unique<int>(i);
    CHECK(queue.push(item));
    CHECK(item == nullptr);
  }
  auto item = std::make_unique<int>(9);
  CHECK_FALSE(queue.push(item));
  REQUIRE(item != nullptr);
  CHECK(*item == 9);
}

TEST_CASE("first in, first out, over many laps") {
  MpscQueue<int> queue(4);
  CHECK(queue.empty());
  int out = 0;
  CHECK_FALSE(queue.pop(out));
  for (int i = 0; i < 1000; ++i) {
    for (int j = 0; j < 3; ++j) {
      int value = 3 * i + j;
      REQUIRE(queue.push(value));
    }
    REQUIRE_FALSE(queue.empty());
    for (int j = 0; j < 3; ++j) {
      REQUIRE(queue.pop(out));
      REQUIRE(out == 3 * i + j);
    }
    REQUIRE(queue.empty());
  }
}

TEST_CASE("a popped item is released, also from its cell") {
  MpscQueue<std::shared_ptr<int>> queue(4);
  const auto item = std::make_shared<int>(1);
  auto copy = item;
  queue.push(copy);
  std::shared_ptr<int> out;
  queue.pop(out);
  out.reset();
  CHECK(item.use_count() == 1);
}

TEST_CASE("four producers: nothing lost, nothing twice, each one's order kept") {
  constexpr std::uint64_t kProducers = 4;
  constexpr std::uint64_t kEach = 20'000;
  struct Item {
    std::uint64_t producer = 0;
    std::uint64_t number = 0;
  };
  MpscQueue<Item> queue(64);  // small, so that it is full often
  std::vector<std::thread> producers;
  for (std::uint64_t p = 0; p < kProducers; ++p) {
    producers.emplace_back([&queue, p] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        Item item{p, i};
        while (!queue.push(item)) std::this_thread::yield();
      }
    });
  }
  std::array<std::uint64_t, kProducers> next{};
  std::uint64_t wrong = 0;
  for (std::uint64_t taken = 0; taken < kProducers * kEach;) {
    Item item;
    if (!queue.pop(item)) {
      std::this_thread::yield();
      continue;
    }
    ++taken;
    if (item.producer >= kProducers || item.number != next[item.producer]++) ++wrong;
  }
  for (std::thread& producer : producers) producer.join();
  CHECK(wrong == 0);
  CHECK(queue.empty());
  for (const std::uint64_t count : next) CHECK(count == kEach);
}

}  // namespace
}  // namespace spindrift
