// Peers that die or start anew: noticed, told by name, and nothing hangs.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_descriptor.h"
#include "tests/engine/two_engines.h"

namespace spindrift::test {

namespace {

// A receiver in a process of its own. It is forked at construction, which has to
// come before this process has any thread, and serves from start() until it is
// killed.
class ChildReceiver {
 public:
  ChildReceiver() {
    int orders[2];
    int answers[2];
    REQUIRE(::pipe(orders) == 0);
    REQUIRE(::pipe(answers) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(orders[1]);
      ::close(answers[0]);
      int port = 0;
      if (::read(orders[0], &port, sizeof port) == sizeof port) serve(answers[1], port);
      ::_exit(1);
    }
    ::close(orders[0]);
    ::close(answers[1]);
    order_.reset(orders[1]);
    answer_.reset(answers[0]);
  }
  void start(int port = 0) {
    REQUIRE(::write(order_.get(), &port, sizeof port) == sizeof port);
    char text[64] = {};
    const ssize_t got = ::read(answer_.get(), text, sizeof text - 1);
    REQUIRE(got > 0);
    address_ = text;
  }
  ~ChildReceiver() { end(SIGKILL); }

  const std::string& address() const { return address_; }
  int port() const { return std::stoi(address_.substr(address_.rfind(':') + 1)); }
  void stop() { ::kill(pid_, SIGSTOP); }
  void end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
  }

 private:
  static void serve(int out, int port) {
    auto engine = Engine::from_yaml("schema: spindrift/node/1\nname: receiver\ncontrol: {port: " +
                                    std::to_string(port) + "}\n");
    if (!engine.ok()) return;
    static std::vector<char> memory(64 << 20, 'r');
    auto region = (*engine)->register_memory({.address = memory.data(),
                                              .length = memory.size(),
                                              .segment = "kv",
                                              .rights = Rights::kRemoteReadWrite});
    if (!region.ok()) return;
    const std::string& address = (*engine)->control_address();
    (void)!::write(out, address.data(), address.size());
    ::close(out);
    for (;;) ::pause();
  }

  pid_t pid_ = 0;
  FileDescriptor order_;
  FileDescriptor answer_;
  std::string address_;
};

struct Sender {
  explicit Sender(std::size_t size = 64 << 20) : memory(size) {
    engine = start_engine("name: sender\n");
    REQUIRE(engine->register_memory({.address = memory.data(), .length = memory.size()}).ok());
  }
  Result<Transfer> write(const Segment& segment, std::uint64_t length) {
    Intent intent;
    intent.target = segment;
    intent.ranges = {{memory.data(), segment.regions()[0].address, length}};
    return engine->submit(std::move(intent));
  }
  Buffer memory;
  std::unique_ptr<Engine> engine;
};

}  // namespace

TEST_CASE("a killed peer ends its transfers soon, by name, and the engine works on") {
  ChildReceiver receiver;
  ChildReceiver other;
  receiver.start();
  Sender sender;
  auto segment = sender.engine->open_segment(receiver.address(), "kv");
  REQUIRE(segment.ok());
  std::vector<Transfer> transfers;
  for (int i = 0; i < 8; ++i) {
    auto transfer = sender.write(*segment, 64 << 20);
    REQUIRE(transfer.ok());
    transfers.push_back(*transfer);
  }
  receiver.end(SIGKILL);
  for (const Transfer& transfer : transfers) {
    REQUIRE(transfer.wait(std::chrono::seconds(20)));
    const TransferReport& report = transfer.report();
    if (report.state == TransferState::kCompleted) continue;
    INFO(report.status.to_string());
    REQUIRE(report.status.code() == Code::kPeerUnreachable);
    REQUIRE(report.status.detail().peer == "receiver");
    std::uint64_t unconfirmed = 0;
    for (const UnconfirmedRange& range : report.unconfirmed) unconfirmed += range.length;
    REQUIRE(unconfirmed + report.landed_bytes == report.bytes);
  }
  // Another peer is served as if nothing had been.
  other.start();
  auto again = sender.engine->open_segment(other.address(), "kv");
  INFO(again.status().to_string());
  REQUIRE(again.ok());
  auto transfer = sender.write(*again, 1 << 20);
  REQUIRE(transfer.ok());
  REQUIRE(transfer->wait().state == TransferState::kCompleted);
}

TEST_CASE("a restarted peer is noticed; old segments are refused, new ones work") {
  ChildReceiver first;
  ChildReceiver second;
  first.start();
  Sender sender(1 << 20);
  auto old_segment = sender.engine->open_segment(first.address(), "kv");
  REQUIRE(old_segment.ok());
  REQUIRE(sender.write(*old_segment, 1 << 20)->wait().state == TransferState::kCompleted);
  const int port = first.port();
  first.end(SIGKILL);
  second.start(port);
  auto segment = sender.engine->open_segment(second.address(), "kv");
  INFO(segment.status().to_string());
  REQUIRE(segment.ok());
  REQUIRE(sender.write(*old_segment, 1 << 20).code() == Code::kPeerRestarted);
  auto transfer = sender.write(*segment, 1 << 20);
  REQUIRE(transfer.ok());
  REQUIRE(transfer->wait().state == TransferState::kCompleted);
}

TEST_CASE("a read from a stopped peer ends with its budget") {
  ChildReceiver receiver;
  receiver.start();
  Sender sender(1 << 20);
  auto segment = sender.engine->open_segment(receiver.address(), "kv");
  REQUIRE(segment.ok());
  Intent read;
  read.operation = Operation::kRead;
  read.target = *segment;
  read.ranges = {{sender.memory.data(), segment->regions()[0].address, 1 << 20}};
  read.budget = std::chrono::milliseconds(200);
  receiver.stop();
  auto transfer = sender.engine->submit(std::move(read));
  REQUIRE(transfer.ok());
  REQUIRE(transfer->wait(std::chrono::seconds(20)));
  REQUIRE(transfer->report().status.code() == Code::kDeadlineExceeded);
}

}  // namespace spindrift::test
