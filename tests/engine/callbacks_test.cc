// What a callback may do, and what it may hold.
#include <atomic>
#include <thread>

#include "tests/engine/two_engines.h"

namespace spindrift::test {
namespace {

// Destroying a guard waits for the workers; none of them may wait for the
// callback thread meanwhile.
TEST_CASE("a callback may hold what waits for the workers when it is destroyed") {
  TwoEngines pair;
  std::atomic<int> called{0};
  constexpr int kRounds = 300;
  std::vector<Transfer> running;
  for (int i = 0; i < kRounds; ++i) {
    auto guard = pair.sender->quiesce(pair.source.data(), 10);
    REQUIRE(guard.ok());
    Intent intent = pair.intent(Operation::kWrite, 0, 1000);
    intent.on_finished = [&called, held = std::make_shared<QuiesceGuard>(std::move(*guard))](
                             const TransferReport&) { ++called; };
    auto transfer = pair.sender->submit(std::move(intent));
    REQUIRE(transfer.ok());
    running.push_back(*transfer);
  }
  for (const Transfer& transfer : running) (void)transfer.wait();
  while (called < kRounds) std::this_thread::yield();
}

TEST_CASE("a callback may give its memory back, also while the engine is destroyed") {
  TwoEngines pair("shutdown_grace: 10ms\n", "", 64 << 20);
  std::vector<char> memory(4096);
  auto region = pair.sender->register_memory({.address = memory.data(),
                                              .length = memory.size(),
                                              .segment = "scratch",
                                              .rights = Rights::kRemoteWrite});
  REQUIRE(region.ok());
  std::atomic<int> called{0};
  Engine* const engine = pair.sender.get();
  for (int i = 0; i < 4; ++i) {
    Intent intent = pair.intent(Operation::kWrite, 0, 64 << 20);
    intent.on_finished = [&called, engine, id = region->id](const TransferReport&) {
      (void)engine->unregister_memory(id).ok();
      ++called;
    };
    REQUIRE(pair.sender->submit(std::move(intent)).ok());
  }
  pair.sender.reset();
  REQUIRE(called == 4);
}

TEST_CASE("a callback that would wait for its own place is told that all are taken") {
  TwoEngines pair("executor: {transfers_max: 1}\n");
  std::atomic<bool> told{false};
  std::atomic<bool> over{false};
  Intent intent = pair.intent(Operation::kWrite, 0, 1000);
  intent.on_finished = [&](const TransferReport&) {
    std::vector<Transfer> running;
    for (int i = 0; i < 1000 && !told; ++i) {
      Intent again = pair.intent(Operation::kWrite, 0, 4 << 20);
      again.on_full = OnFull::kWait;
      again.budget = std::chrono::hours(1);
      auto transfer = pair.sender->submit(std::move(again));
      if (transfer.ok()) running.push_back(*transfer);
      if (transfer.code() == Code::kBusy) told = true;
    }
    for (const Transfer& transfer : running) (void)transfer.wait();
    over = true;
  };
  auto transfer = pair.sender->submit(std::move(intent));
  REQUIRE(transfer.ok());
  (void)transfer->wait();
  while (!over) std::this_thread::yield();
  REQUIRE(told);
}

}  // namespace
}  // namespace spindrift::test
