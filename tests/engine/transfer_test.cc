// The main job through the public API: what is asked for arrives, exactly.
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

#include "tests/engine/two_engines.h"

namespace spindrift::test {

TEST_CASE("every size and alignment arrives byte for byte, in both directions") {
  TwoEngines pair("", "", (1 << 20) + 8192);
  const std::size_t sizes[] = {1, 3, 511, 512, 513, 4095, 4097, 65537, (1 << 20) + 1};
  std::uint64_t seed = 10;
  for (const std::size_t size : sizes) {
    for (const std::size_t skew : {0, 1, 63}) {
      for (const Operation operation : {Operation::kWrite, Operation::kRead}) {
        pair.source.fill(++seed);
        pair.target.fill(++seed);
        const std::vector<char> before(pair.target.data(), pair.target.data() + pair.target.size());
        const std::vector<char> local_before(pair.source.data(),
                                             pair.source.data() + pair.source.size());
        const TransferReport report = pair.run(pair.intent(operation, skew, size));
        INFO(size << " + " << skew << ": " << report.status.to_string());
        REQUIRE(report.state == TransferState::kCompleted);
        REQUIRE(report.landed_bytes == size);
        REQUIRE(report.unconfirmed.empty());
        REQUIRE(std::memcmp(pair.source.data() + skew, pair.target.data() + skew, size) == 0);
        // Nothing beside it changed, at either end.
        Buffer& destination = operation == Operation::kWrite ? pair.target : pair.source;
        const std::vector<char>& old = operation == Operation::kWrite ? before : local_before;
        REQUIRE(std::memcmp(destination.data(), old.data(), skew) == 0);
        REQUIRE(std::memcmp(destination.data() + skew + size, old.data() + skew + size,
                            destination.size() - skew - size) == 0);
        REQUIRE(destination.canaries_intact());
      }
    }
  }
}

TEST_CASE("an empty intent and empty ranges are complete at once") {
  TwoEngines pair;
  Intent none = pair.intent(Operation::kWrite, 0, 0);
  REQUIRE(pair.run(none).state == TransferState::kCompleted);
  none.ranges.clear();
  REQUIRE(pair.run(none).state == TransferState::kCompleted);
  // Also between others, and addresses of empty ranges are not looked at.
  Intent mixed = pair.intent(Operation::kWrite, 0, 100);
  mixed.ranges.push_back({nullptr, 0, 0});
  mixed.ranges.push_back({pair.source.data() + 200, pair.target.address() + 200, 50});
  const TransferReport report = pair.run(mixed);
  REQUIRE(report.landed_bytes == 150);
  REQUIRE(std::memcmp(pair.source.data() + 200, pair.target.data() + 200, 50) == 0);
}

// More than fits into one slice, one window, one system call, and odd at its end.
TEST_CASE("a gibibyte and seven bytes arrives byte for byte, in both directions") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return;  // takes minutes there; what it does is what smaller ones do
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return;
#endif
#endif
  constexpr std::size_t kSize = (1ull << 30) + 7;
  TwoEngines pair("", "", kSize);
  for (const Operation operation : {Operation::kWrite, Operation::kRead}) {
    (operation == Operation::kWrite ? pair.source : pair.target).fill(21);
    const TransferReport report = pair.run(pair.intent(operation, 0, kSize));
    INFO(report.status.to_string());
    REQUIRE(report.state == TransferState::kCompleted);
    REQUIRE(report.landed_bytes == kSize);
    REQUIRE(std::memcmp(pair.source.data(), pair.target.data(), kSize) == 0);
    REQUIRE(pair.source.canaries_intact());
    REQUIRE(pair.target.canaries_intact());
    (operation == Operation::kWrite ? pair.target : pair.source).fill(22);
  }
}

TEST_CASE("65,536 scattered descriptors land where they belong") {
  TwoEngines pair("", "", 256 << 20);
  constexpr std::size_t kBlock = 4096;
  const std::size_t blocks = pair.source.size() / kBlock;
  for (const Operation operation : {Operation::kWrite, Operation::kRead}) {
    pair.source.fill(3);
    pair.target.fill(4);
    Intent intent = pair.intent(operation, 0, 0);
    intent.ranges.clear();
    // A permutation: block i goes to block (i * 5 + 3) mod n.
    for (std::size_t i = 0; i < blocks; ++i) {
      intent.ranges.push_back({pair.source.data() + i * kBlock,
                               pair.target.address() + (i * 5 + 3) % blocks * kBlock, kBlock});
    }
    const TransferReport report = pair.run(intent);
    INFO(report.status.to_string());
    REQUIRE(report.state == TransferState::kCompleted);
    for (std::size_t i = 0; i < blocks; ++i) {
      REQUIRE(std::memcmp(pair.source.data() + i * kBlock,
                          pair.target.data() + (i * 5 + 3) % blocks * kBlock, kBlock) == 0);
    }
    REQUIRE(pair.target.canaries_intact());
    REQUIRE(pair.source.canaries_intact());
  }
}

TEST_CASE("checksums can be asked for") {
  TwoEngines pair;
  for (const Operation operation : {Operation::kWrite, Operation::kRead}) {
    pair.target.fill(9);
    Intent intent = pair.intent(operation, 5, 3'000'001);
    intent.integrity = Integrity::kCrc32c;
    REQUIRE(pair.run(intent).state == TransferState::kCompleted);
    REQUIRE(std::memcmp(pair.source.data() + 5, pair.target.data() + 5, 3'000'001) == 0);
  }
}

TEST_CASE("several loopback addresses are several rails") {
  const std::string rails = "tcp: {loopback_addresses: [127.0.0.1, 127.0.0.2, 127.0.0.3]}\n";
  TwoEngines pair(rails, rails, 32 << 20);
  const TransferReport report = pair.run(pair.intent(Operation::kWrite, 0, 32 << 20));
  INFO(report.status.to_string());
  REQUIRE(report.state == TransferState::kCompleted);
  REQUIRE(report.rails.size() == 3);
  std::uint64_t sum = 0;
  for (const RailReport& rail : report.rails) sum += rail.bytes;
  REQUIRE(sum == 32 << 20);
  REQUIRE(std::memcmp(pair.source.data(), pair.target.data(), 32 << 20) == 0);
}

TEST_CASE("IPv6 loopback works too") {
  const std::string v6 = "control: {bind: '::1'}\n";
  TwoEngines pair(v6, v6);
  REQUIRE(pair.run(pair.intent(Operation::kWrite, 0, 1 << 20)).state == TransferState::kCompleted);
}

TEST_CASE("many transfers at once from many threads, with callbacks and the descriptor") {
  TwoEngines pair;
  auto fd = pair.sender->finished_fd();
  REQUIRE(fd.ok());
  std::atomic<int> called{0};
  constexpr int kThreads = 4;
  constexpr int kEach = 50;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        Intent intent = pair.intent(Operation::kWrite, (t * kEach + i) * 16384, 16384);
        intent.on_finished = [&called](const TransferReport& report) {
          if (report.state == TransferState::kCompleted) ++called;
        };
        if (!pair.sender->submit(std::move(intent)).ok()) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int taken = 0;
  while (taken < kThreads * kEach) {
    epoll_event event{};
    const int epoll = ::epoll_create1(0);
    event.events = EPOLLIN;
    REQUIRE(::epoll_ctl(epoll, EPOLL_CTL_ADD, *fd, &event) == 0);
    const int ready = ::epoll_wait(epoll, &event, 1, 30'000);
    ::close(epoll);
    REQUIRE(ready == 1);
    for (const Transfer& transfer : pair.sender->take_finished()) {
      REQUIRE(transfer.report().state == TransferState::kCompleted);
      ++taken;
    }
  }
  REQUIRE(std::memcmp(pair.source.data(), pair.target.data(), kThreads * kEach * 16384) == 0);
  pair.sender.reset();  // delivers the last callbacks
  REQUIRE(called == kThreads * kEach);
}

TEST_CASE("an engine can be destroyed with transfers in flight, at either end") {
  for (const bool sender_first : {true, false}) {
    TwoEngines pair("shutdown_grace: 1s\n", "shutdown_grace: 1s\n", 64 << 20);
    std::vector<Transfer> transfers;
    for (int i = 0; i < 8; ++i) {
      Intent intent = pair.intent(i % 2 == 0 ? Operation::kWrite : Operation::kRead,
                                  static_cast<std::uint64_t>(i) * (8 << 20), 8 << 20);
      intent.budget = std::chrono::seconds(1);
      auto transfer = pair.sender->submit(std::move(intent));
      REQUIRE(transfer.ok());
      transfers.push_back(*transfer);
    }
    if (sender_first) {
      pair.sender.reset();
    } else {
      pair.receiver.reset();
      pair.sender.reset();
    }
    for (const Transfer& transfer : transfers) {
      REQUIRE(transfer.finished());
      const TransferReport& report = transfer.report();
      const bool told = report.state == TransferState::kCompleted || !report.status.ok();
      REQUIRE(told);
    }
  }
}

TEST_CASE("several engines live in one process") {
  TwoEngines first;
  TwoEngines second;
  REQUIRE(first.run(first.intent(Operation::kWrite, 0, 1 << 20)).state ==
          TransferState::kCompleted);
  REQUIRE(second.run(second.intent(Operation::kRead, 0, 1 << 20)).state ==
          TransferState::kCompleted);
}

TEST_CASE("a forked child is refused, and the parent goes on") {
  TwoEngines pair;
  std::optional<QuiesceGuard> guard;
  auto quiesced = pair.receiver->quiesce(pair.target.data(), 100);
  REQUIRE(quiesced.ok());
  guard.emplace(std::move(*quiesced));
  const pid_t child = ::fork();
  if (child == 0) {
    guard.reset();  // no thread is there to be asked
    const bool refused =
        pair.sender->submit(pair.intent(Operation::kWrite, 0, 10)).code() == Code::kUnsupported &&
        pair.sender->register_memory({}).code() == Code::kUnsupported;
    pair.sender.reset();  // must neither hang nor crash
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  guard.reset();
  REQUIRE(pair.run(pair.intent(Operation::kWrite, 0, 1 << 20)).state == TransferState::kCompleted);
}

TEST_CASE("a report accounts for every byte and names the rule") {
  TwoEngines pair;
  const TransferReport report = pair.run(pair.intent(Operation::kWrite, 0, 4 << 20));
  REQUIRE(report.bytes == 4 << 20);
  REQUIRE(report.landed_bytes == report.bytes);
  REQUIRE(report.rails.size() == 1);
  REQUIRE(report.rails[0].bytes == report.bytes);
  REQUIRE(report.rails[0].attempts >= report.slices);
  REQUIRE(!report.policy_rule.empty());
  REQUIRE(report.peer == "receiver");
  REQUIRE(report.transport_time.count() > 0);
}

}  // namespace spindrift::test
