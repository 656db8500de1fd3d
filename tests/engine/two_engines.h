// Two engines over loopback in one process, with memory that notices stray
// writes: every buffer lies between canaries.
#pragma once

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "spindrift/spindrift.h"

namespace spindrift::test {

inline std::unique_ptr<Engine> start_engine(const std::string& yaml) {
  auto engine = Engine::from_yaml("schema: spindrift/node/1\n" + yaml, "test.yaml");
  INFO(engine.status().to_string());
  REQUIRE(engine.ok());
  return std::move(*engine);
}

// Bytes between two canaries.
class Buffer {
 public:
  explicit Buffer(std::size_t size, std::uint64_t seed = 1) : all_(size + 2 * kCanary, kMark) {
    fill(seed);
  }
  char* data() { return all_.data() + kCanary; }
  std::size_t size() const { return all_.size() - 2 * kCanary; }
  std::uint64_t address() { return reinterpret_cast<std::uintptr_t>(data()); }
  void fill(std::uint64_t seed) {
    Prng prng(seed);
    std::size_t i = 0;
    for (; i + 8 <= size(); i += 8) {
      const std::uint64_t word = prng.next();
      std::memcpy(data() + i, &word, 8);
    }
    for (; i < size(); ++i) data()[i] = static_cast<char>(prng.next());
  }
  bool canaries_intact() const {
    for (std::size_t i = 0; i < kCanary; ++i) {
      if (all_[i] != kMark || all_[all_.size() - 1 - i] != kMark) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kCanary = 4096;
  static constexpr char kMark = 0x5c;
  std::vector<char> all_;
};

struct TwoEngines {
  explicit TwoEngines(const std::string& sender_yaml = "", const std::string& receiver_yaml = "",
                      std::size_t size = 4 << 20)
      : source(size, 1),
        target(size, 2),
        receiver(start_engine("name: receiver\n" + receiver_yaml)),
        sender(start_engine("name: sender\n" + sender_yaml)) {
    auto here = sender->register_memory({.address = source.data(), .length = source.size()});
    INFO(here.status().to_string());
    REQUIRE(here.ok());
    local = *here;
    auto there = receiver->register_memory({.address = target.data(),
                                            .length = target.size(),
                                            .segment = "kv",
                                            .rights = Rights::kRemoteReadWrite});
    REQUIRE(there.ok());
    remote = *there;
    segment = open("kv");
  }

  Segment open(const std::string& name) {
    auto opened = sender->open_segment(receiver->control_address(), name);
    INFO(opened.status().to_string());
    REQUIRE(opened.ok());
    return *opened;
  }

  Intent intent(Operation operation, std::uint64_t offset, std::uint64_t length) {
    Intent made;
    made.operation = operation;
    made.target = segment;
    made.ranges = {{source.data() + offset, target.address() + offset, length}};
    return made;
  }

  // Submits and waits.
  TransferReport run(Intent made) {
    auto transfer = sender->submit(std::move(made));
    INFO(transfer.status().to_string());
    REQUIRE(transfer.ok());
    REQUIRE(transfer->wait(std::chrono::seconds(60)));
    return transfer->report();
  }
  Code refused(Intent made) {
    auto transfer = sender->submit(std::move(made));
    if (transfer.ok()) (void)transfer->wait();
    INFO(transfer.status().to_string());
    return transfer.code();
  }

  Buffer source;
  Buffer target;
  std::unique_ptr<Engine> receiver;
  std::unique_ptr<Engine> sender;
  Region local;
  Region remote;
  Segment segment;
};

}  // namespace spindrift::test
