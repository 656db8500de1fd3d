// Engines of several workers: peers have different home workers, and what one
// peer does costs the others nothing.
#include "tests/engine/two_engines.h"

namespace spindrift::test {
namespace {

const std::string kTwoWorkers = "workers: {count: 2}\n";

// One sender to several receivers, each with memory of its own at both ends.
struct Star {
  struct Spoke {
    Buffer source;
    Buffer target;
    Segment segment;
    std::unique_ptr<Engine> engine;  // last: it goes before its memory
  };
  static constexpr std::size_t kSize = 4 << 20;

  explicit Star(std::size_t receivers) : sender(start_engine("name: sender\n" + kTwoWorkers)) {
    for (std::size_t i = 0; i < receivers; ++i) {
      auto spoke =
          std::make_unique<Spoke>(Spoke{Buffer(kSize, i + 1), Buffer(kSize, i + 100), {}, nullptr});
      spoke->engine = start_engine("name: receiver-" + std::to_string(i) + "\n" + kTwoWorkers);
      REQUIRE(spoke->engine
                  ->register_memory({.address = spoke->target.data(),
                                     .length = kSize,
                                     .segment = "kv",
                                     .rights = Rights::kRemoteReadWrite})
                  .ok());
      REQUIRE(sender->register_memory({.address = spoke->source.data(), .length = kSize}).ok());
      auto opened = sender->open_segment(spoke->engine->control_address(), "kv");
      REQUIRE(opened.ok());
      spoke->segment = *opened;
      spokes.push_back(std::move(spoke));
    }
  }
  ~Star() { sender.reset(); }  // before the memory that it uses

  Result<Transfer> submit(Spoke& spoke, Operation operation) {
    Intent intent;
    intent.operation = operation;
    intent.target = spoke.segment;
    intent.budget = std::chrono::seconds(20);
    intent.ranges = {{spoke.source.data(), spoke.target.address(), kSize}};
    return sender->submit(std::move(intent));
  }

  std::vector<std::unique_ptr<Spoke>> spokes;
  std::unique_ptr<Engine> sender;
};

TEST_CASE("several workers serve several peers at once") {
  Star star(4);
  for (int round = 0; round < 10; ++round) {
    const Operation operation = round % 2 == 0 ? Operation::kWrite : Operation::kRead;
    std::vector<Transfer> running;
    for (auto& spoke : star.spokes) {
      (operation == Operation::kWrite ? spoke->source : spoke->target).fill(round * 7 + 1);
      auto transfer = star.submit(*spoke, operation);
      REQUIRE(transfer.ok());
      running.push_back(*transfer);
    }
    for (const Transfer& transfer : running) {
      INFO(transfer.wait().status.to_string());
      REQUIRE(transfer.report().state == TransferState::kCompleted);
    }
    for (auto& spoke : star.spokes) {
      REQUIRE(std::memcmp(spoke->source.data(), spoke->target.data(), Star::kSize) == 0);
      REQUIRE(spoke->target.canaries_intact());
      REQUIRE(spoke->source.canaries_intact());
    }
  }
}

TEST_CASE("a peer that goes in the middle costs the others nothing") {
  Star star(3);
  std::vector<Transfer> running;
  for (int i = 0; i < 5; ++i) {
    for (auto& spoke : star.spokes) {
      auto transfer = star.submit(*spoke, Operation::kWrite);
      REQUIRE(transfer.ok());
      running.push_back(*transfer);
    }
  }
  star.spokes[0]->engine.reset();
  for (std::size_t i = 0; i < running.size(); ++i) {
    const TransferReport& report = running[i].wait();
    INFO(i << ": " << report.status.to_string());
    const bool gone = i % star.spokes.size() == 0;
    const bool as_expected =
        report.state == TransferState::kCompleted || (gone && !report.status.ok());
    REQUIRE(as_expected);
  }
  for (std::size_t i = 1; i < star.spokes.size(); ++i) {
    REQUIRE(std::memcmp(star.spokes[i]->source.data(), star.spokes[i]->target.data(),
                        Star::kSize) == 0);
  }
}

}  // namespace
}  // namespace spindrift::test
