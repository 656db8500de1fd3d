// Bad input through the public API: each gets its typed error, nothing moves,
// and the engines work on.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "tests/engine/two_engines.h"

namespace spindrift::test {

namespace {

void still_works(TwoEngines& pair) {
  REQUIRE(pair.run(pair.intent(Operation::kWrite, 0, 1 << 20)).state == TransferState::kCompleted);
}

}  // namespace

TEST_CASE("ranges that leave their region or segment are refused at submission") {
  TwoEngines pair;
  const std::uint64_t end = pair.source.size();
  struct Row {
    const char* name;
    std::uint64_t local_offset;
    std::uint64_t remote_offset;
    std::uint64_t length;
    Code expected;
  };
  const std::uint64_t huge = std::uint64_t{1} << 63;
  const Row rows[] = {
      {"past the local region", end - 10, 0, 20, Code::kNotRegistered},
      {"past the segment", 0, end - 10, 20, Code::kOutOfRange},
      {"before the segment", 0, std::numeric_limits<std::uint64_t>::max(), 1, Code::kOutOfRange},
      {"local address + length wraps", 0, 0, std::numeric_limits<std::uint64_t>::max(),
       Code::kOutOfRange},
      {"2^63 bytes", 0, 0, huge, Code::kNotRegistered},
      {"remote address + length wraps", 0, 0 - pair.target.address() - 8, 64, Code::kOutOfRange},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    Intent intent = pair.intent(Operation::kWrite, 0, 0);
    intent.ranges = {{pair.source.data() + row.local_offset,
                      pair.target.address() + row.remote_offset, row.length}};
    CHECK(pair.refused(intent) == row.expected);
  }
  Intent sum = pair.intent(Operation::kWrite, 0, 16);
  sum.ranges.push_back({pair.source.data(), pair.target.address() + 100, huge});
  sum.ranges.push_back({pair.source.data(), pair.target.address() + 200, huge});
  CHECK(pair.refused(sum) != Code::kOk);
  still_works(pair);
}

TEST_CASE("overlapping destination ranges are refused, touching and overlapping sources are not") {
  TwoEngines pair;
  Intent overlap = pair.intent(Operation::kWrite, 0, 100);
  overlap.ranges.push_back({pair.source.data() + 500, pair.target.address() + 99, 10});
  REQUIRE(pair.refused(overlap) == Code::kInvalidArgument);
  // Also when they are far apart in the list and out of order.
  overlap.ranges = {{pair.source.data(), pair.target.address() + 1000, 100},
                    {pair.source.data(), pair.target.address(), 100},
                    {pair.source.data(), pair.target.address() + 1099, 1}};
  REQUIRE(pair.refused(overlap) == Code::kInvalidArgument);
  overlap.ranges[2].remote = pair.target.address() + 1100;
  REQUIRE(pair.run(overlap).state == TransferState::kCompleted);
  // For a read the local side is the destination.
  overlap.operation = Operation::kRead;
  REQUIRE(pair.refused(overlap) == Code::kInvalidArgument);
  still_works(pair);
}

TEST_CASE("memory that was never registered, or no longer is, is refused") {
  TwoEngines pair;
  std::vector<char> stranger(100);
  Intent intent = pair.intent(Operation::kWrite, 0, 0);
  intent.ranges = {{stranger.data(), pair.target.address(), 100}};
  REQUIRE(pair.refused(intent) == Code::kNotRegistered);
  auto region = pair.sender->register_memory({.address = stranger.data(), .length = 100});
  REQUIRE(region.ok());
  REQUIRE(pair.run(intent).state == TransferState::kCompleted);
  REQUIRE(pair.sender->unregister_memory(region->id).ok());
  REQUIRE(pair.refused(intent) == Code::kNotRegistered);
  REQUIRE(pair.sender->unregister_memory(region->id).code() == Code::kNotRegistered);
  still_works(pair);
}

TEST_CASE("registrations that make no sense are refused") {
  TwoEngines pair;
  char byte = 0;
  Engine& engine = *pair.sender;
  REQUIRE(engine.register_memory({.address = nullptr, .length = 1}).code() ==
          Code::kInvalidArgument);
  REQUIRE(engine.register_memory({.address = &byte, .length = 0}).code() == Code::kInvalidArgument);
  REQUIRE(engine.register_memory({.address = &byte, .length = ~std::uint64_t{0}}).code() ==
          Code::kOutOfRange);
  REQUIRE(engine.register_memory({.address = pair.source.data() + 5, .length = 1}).code() ==
          Code::kAlreadyExists);
  REQUIRE(engine.register_memory({.address = &byte, .length = 1, .rights = Rights::kRemoteRead})
              .code() == Code::kInvalidArgument);
  REQUIRE(
      engine
          .register_memory(
              {.address = &byte, .length = 1, .location = {.kind = MemoryKind::kCuda, .device = 0}})
          .code() == Code::kUnsupported);
  still_works(pair);
}

TEST_CASE("a read-only segment cannot be written, a local one not found") {
  std::vector<char> memory(4096, 'x');
  TwoEngines pair;
  REQUIRE(pair.receiver
              ->register_memory({.address = memory.data(),
                                 .length = memory.size(),
                                 .segment = "weights",
                                 .rights = Rights::kRemoteRead})
              .ok());
  const Segment weights = pair.open("weights");
  Intent intent = pair.intent(Operation::kWrite, 0, 0);
  intent.target = weights;
  intent.ranges = {{pair.source.data(), weights.regions()[0].address, 100}};
  REQUIRE(pair.refused(intent) == Code::kPermissionDenied);
  intent.operation = Operation::kRead;
  REQUIRE(pair.run(intent).state == TransferState::kCompleted);
  REQUIRE(pair.source.data()[99] == 'x');
  const auto missing = pair.sender->open_segment(pair.receiver->control_address(), "nope");
  REQUIRE(missing.code() == Code::kNotFound);
  INFO(missing.status().to_string());
  REQUIRE(missing.status().to_string().find("weights") != std::string::npos);  // what there is
}

TEST_CASE("grants override the general rights, per peer") {
  std::vector<char> memory(4096);
  TwoEngines pair;
  REQUIRE(pair.receiver
              ->register_memory({.address = memory.data(),
                                 .length = memory.size(),
                                 .segment = "granted",
                                 .rights = Rights::kRemoteReadWrite,
                                 .grants = {{"sender", Rights::kRemoteRead}}})
              .ok());
  const Segment granted = pair.open("granted");
  Intent intent = pair.intent(Operation::kWrite, 0, 0);
  intent.target = granted;
  intent.ranges = {{pair.source.data(), granted.regions()[0].address, 100}};
  REQUIRE(pair.refused(intent) == Code::kPermissionDenied);
}

TEST_CASE("what the peer takes away in the meantime is a typed failure") {
  TwoEngines pair;
  SECTION("unregistered") {
    REQUIRE(pair.receiver->unregister_memory(pair.remote.id).ok());
    const TransferReport report = pair.run(pair.intent(Operation::kWrite, 0, 1 << 20));
    REQUIRE(report.status.code() == Code::kNotRegistered);
    REQUIRE(report.landed_bytes == 0);
    REQUIRE(!report.unconfirmed.empty());
  }
  SECTION("revoked") {
    REQUIRE(pair.receiver->revoke("sender", "kv").ok());
    const TransferReport report = pair.run(pair.intent(Operation::kWrite, 0, 1 << 20));
    REQUIRE(report.status.code() == Code::kPermissionDenied);
  }
  SECTION("quiesced, and given back") {
    {
      auto guard = pair.receiver->quiesce(pair.target.data(), 100);
      REQUIRE(guard.ok());
      const std::vector<char> before(pair.target.data(), pair.target.data() + 100);
      const TransferReport report = pair.run(pair.intent(Operation::kWrite, 0, 1 << 20));
      REQUIRE(report.status.code() == Code::kPermissionDenied);
      REQUIRE(std::memcmp(pair.target.data(), before.data(), 100) == 0);
      // Beside the range all goes on.
      REQUIRE(pair.run(pair.intent(Operation::kWrite, 100, 1 << 20)).state ==
              TransferState::kCompleted);
    }
    still_works(pair);
  }
}

TEST_CASE("memory in use is not unregistered") {
  TwoEngines pair("", "", 64 << 20);
  auto transfer = pair.sender->submit(pair.intent(Operation::kWrite, 0, 64 << 20));
  REQUIRE(transfer.ok());
  const Status refused = pair.sender->unregister_memory(pair.local.id);
  // The transfer may have won the race to its end; both answers are right then.
  if (!transfer->finished()) {
    REQUIRE(refused.code() == Code::kBusy);
  }
  (void)transfer->wait();
  if (!refused.ok()) {
    REQUIRE(pair.sender->unregister_memory(pair.local.id).ok());
  }
}

TEST_CASE("unregistering at the target in mid-flight fails the transfer and nothing else") {
  for (int round = 0; round < 20; ++round) {
    TwoEngines pair("", "", 16 << 20);
    auto transfer = pair.sender->submit(pair.intent(Operation::kWrite, 0, 16 << 20));
    REQUIRE(transfer.ok());
    REQUIRE(pair.receiver->unregister_memory(pair.remote.id).ok());
    // From here on the memory is the owner's alone.
    std::memset(pair.target.data(), 0x11, pair.target.size());
    REQUIRE(transfer->wait(std::chrono::seconds(60)));
    const std::vector<char> owners(pair.target.size(), 0x11);
    REQUIRE(std::memcmp(pair.target.data(), owners.data(), owners.size()) == 0);
    const Code code = transfer->report().status.code();
    REQUIRE((code == Code::kNotRegistered || code == Code::kOk));
  }
}

TEST_CASE("unknown peers and malformed addresses") {
  auto engine = start_engine("peers: [{name: decode-0, addresses: ['127.0.0.1:1']}]\n");
  REQUIRE(engine->open_segment("nobody", "kv").code() == Code::kNotFound);
  const auto refused = engine->open_segment("decode-0", "kv", std::chrono::milliseconds(500));
  INFO(refused.status().to_string());
  REQUIRE(refused.code() == Code::kPeerUnreachable);
  const auto bad = engine->open_segment("not-an-ip:99", "kv", std::chrono::milliseconds(500));
  INFO(bad.status().to_string());
  REQUIRE(!bad.ok());
}

TEST_CASE("cluster keys: right, wrong, missing, rotated") {
  const auto keys = [](const std::string& key, const std::string& previous = "") {
    return "control: {key: " + key + (previous.empty() ? "" : ", previous_key: " + previous) +
           "}\n";
  };
  struct Row {
    const char* name;
    std::string receiver, sender;
    Code expected;
  };
  const Row rows[] = {
      {"same key", keys("aaaaaaaaaaaaaaaa"), keys("aaaaaaaaaaaaaaaa"), Code::kOk},
      {"wrong key", keys("aaaaaaaaaaaaaaaa"), keys("bbbbbbbbbbbbbbbb"), Code::kUnauthenticated},
      {"no key", keys("aaaaaaaaaaaaaaaa"), "", Code::kUnauthenticated},
      {"key where none is", "", keys("aaaaaaaaaaaaaaaa"), Code::kUnauthenticated},
      {"rotation, old sender", keys("bbbbbbbbbbbbbbbb", "aaaaaaaaaaaaaaaa"),
       keys("aaaaaaaaaaaaaaaa"), Code::kOk},
  };
  for (const Row& row : rows) {
    std::vector<char> memory(64);
    auto receiver = start_engine("name: receiver\n" + row.receiver);
    auto sender = start_engine("name: sender\n" + row.sender);
    REQUIRE(receiver
                ->register_memory({.address = memory.data(),
                                   .length = 64,
                                   .segment = "kv",
                                   .rights = Rights::kRemoteWrite})
                .ok());
    const auto opened =
        sender->open_segment(receiver->control_address(), "kv", std::chrono::seconds(2));
    INFO(row.name << ": " << opened.status().to_string());
    CHECK(opened.code() == row.expected);
  }
}

TEST_CASE("a configuration that does not load says where and why") {
  const auto bad = Engine::from_yaml("schema: spindrift/node/1\nnmae: x\n", "n.yaml");
  REQUIRE(bad.code() == Code::kConfig);
  const std::string text = bad.status().to_string();
  INFO(text);
  REQUIRE(text.find("n.yaml:2:1") != std::string::npos);
  REQUIRE(text.find("name") != std::string::npos);
  REQUIRE(Engine::from_file("/does/not/exist.yaml").code() == Code::kConfig);
}

TEST_CASE("a bind beyond loopback needs a key or the word insecure") {
  const auto open = Engine::from_yaml("schema: spindrift/node/1\ncontrol: {bind: 0.0.0.0}\n");
  INFO(open.status().to_string());
  REQUIRE(!open.ok());
}

TEST_CASE("a port in use is named") {
  auto first = start_engine("");
  const std::string address = first->control_address();
  const std::string port = address.substr(address.rfind(':') + 1);
  const auto second =
      Engine::from_yaml("schema: spindrift/node/1\ncontrol: {port: " + port + "}\n");
  INFO(second.status().to_string());
  REQUIRE(second.code() == Code::kAddressInUse);
  REQUIRE(second.status().to_string().find(port) != std::string::npos);
}

TEST_CASE("over the bound of running transfers the caller is told, or waits as it chose") {
  TwoEngines pair("executor: {transfers_max: 2}\n", "", 32 << 20);
  std::vector<Transfer> running;
  int busy = 0;
  for (int i = 0; i < 64; ++i) {
    auto transfer = pair.sender->submit(pair.intent(Operation::kWrite, 0, 32 << 20));
    if (transfer.ok()) {
      running.push_back(*transfer);
    } else {
      REQUIRE(transfer.code() == Code::kBusy);
      ++busy;
    }
  }
  REQUIRE(busy > 0);
  for (int i = 0; i < 8; ++i) {
    Intent patient = pair.intent(Operation::kWrite, 0, 1 << 20);
    patient.on_full = OnFull::kWait;
    REQUIRE(pair.run(patient).state == TransferState::kCompleted);
  }
  for (const Transfer& transfer : running) (void)transfer.wait();
}

// A second receiver, and a write to it from the pair's sender.
struct Second {
  Second(TwoEngines& pair, const std::string& yaml) : engine(start_engine(yaml)) {
    REQUIRE(engine
                ->register_memory({.address = memory.data(),
                                   .length = memory.size(),
                                   .segment = "kv",
                                   .rights = Rights::kRemoteReadWrite})
                .ok());
    const auto opened = pair.sender->open_segment(engine->control_address(), "kv");
    REQUIRE(opened.ok());
    intent = pair.intent(Operation::kWrite, 0, 0);
    intent.target = *opened;
    intent.ranges = {{pair.source.data(), opened->regions()[0].address, memory.size()}};
  }
  std::vector<char> memory = std::vector<char>(4096);
  Intent intent;
  std::unique_ptr<Engine> engine;
};

TEST_CASE("a peer for which there are no lanes is refused, and its data goes nowhere") {
  TwoEngines pair("executor: {lanes_max: 2}\n");
  Second second(pair, "name: second\n");
  const auto refused = pair.sender->submit(second.intent);
  REQUIRE(refused.code() == Code::kPeerUnreachable);
  REQUIRE(refused.status().to_string().find("lanes_max") != std::string::npos);
  REQUIRE(std::all_of(second.memory.begin(), second.memory.end(), [](char c) { return c == 0; }));
  still_works(pair);
}

TEST_CASE("a peer without TCP has no rail") {
  TwoEngines pair;
  Second second(pair, "name: second\ntcp: {enabled: false}\n");
  REQUIRE(pair.refused(second.intent) == Code::kPeerUnreachable);
}

TEST_CASE("a required transport that is absent is an error, never a fallback") {
  // Checked where a policy comes in: through a file.
  std::string path = "/tmp/spindrift-policy-XXXXXX";
  FILE* file = ::fdopen(::mkstemp(path.data()), "w");
  REQUIRE(file != nullptr);
  std::fputs(
      "schema: spindrift/policy/1\nrules:\n  - name: only-rdma\n    rails: {require: [{transport: "
      "rdma}]}\n",
      file);
  std::fclose(file);
  TwoEngines pair("policy: " + path + "\n");
  auto refused = pair.sender->submit(pair.intent(Operation::kWrite, 0, 100));
  std::remove(path.c_str());
  INFO(refused.status().to_string());
  REQUIRE(refused.code() == Code::kPolicyUnsatisfied);
  REQUIRE(refused.status().to_string().find("only-rdma") != std::string::npos);
}

}  // namespace spindrift::test
