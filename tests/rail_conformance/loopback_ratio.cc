// How close the TCP backend comes to a raw sender and receiver of the same
// process: two threads, loopback, the same socket options, the same buffers,
// warmed. A development aid: perf/loopback measures the whole engine.
//
//   tcp_loopback_ratio [MiB moved per figure] [rounds] [load]
#include <poll.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "base/lane_answer.h"
#include "rails/tcp/socket.h"
#include "tcp_ground.h"

namespace spindrift::conformance {
namespace {

constexpr std::size_t kBuffer = 64 * kMiB;
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kStride = 7919;  // prime: no two neighbours continue each other

struct Buffers {
  std::vector<std::byte> left = std::vector<std::byte>(kBuffer, std::byte{1});
  std::vector<std::byte> right = std::vector<std::byte>(kBuffer, std::byte{2});
};

void sleep_on(int fd, short events) {
  pollfd ready{fd, events, 0};
  ::poll(&ready, 1, 1000);
}

// Of both threads; unlike time, it does not depend on who else uses the machine.
double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double gigabytes_per_s(std::uint64_t bytes, Instant begin) {
  return static_cast<double>(bytes) /
         static_cast<double>(to_ns(read_monotonic_clock() - begin + Instant()));
}

// The memory of up to 1 MiB of the stream at `done`: in one piece, or in blocks
// that are scattered over the buffer.
std::size_t pieces_at(std::vector<std::byte>& buffer, bool scattered, std::uint64_t done,
                      std::array<iovec, kMiB / kBlock>& pieces) {
  const std::size_t at = done % kBuffer;
  if (!scattered) {
    pieces[0] = {buffer.data() + at, std::min<std::size_t>(kMiB, kBuffer - at)};
    return 1;
  }
  constexpr std::size_t kCount = kBuffer / kBlock;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t skip = i == 0 ? at % kBlock : 0;
    const std::size_t block = (at / kBlock + i) * kStride % kCount;
    pieces[i] = {buffer.data() + block * kBlock + skip, kBlock - skip};
  }
  return pieces.size();
}

double raw(Buffers& buffers, std::uint64_t total, bool scattered) {
  SocketPair pair = connected_sockets();
  const rails::tcp::TcpOptions options;
  rails::tcp::apply_socket_options(pair.left.get(), options);
  rails::tcp::apply_socket_options(pair.right.get(), options);
  const Instant begin = read_monotonic_clock();
  std::thread sender([&] {
    std::array<iovec, kMiB / kBlock> pieces;
    for (std::uint64_t done = 0; done < total;) {
      const std::size_t count = pieces_at(buffers.left, false, done, pieces);
      const rails::tcp::Moved moved = rails::tcp::send_some(pair.left.get(), &pieces[0], count);
      done += moved.bytes;
      if (done < total && moved.bytes < pieces[0].iov_len) sleep_on(pair.left.get(), POLLOUT);
    }
  });
  std::array<iovec, kMiB / kBlock> pieces;
  for (std::uint64_t done = 0; done < total;) {
    const std::size_t count = pieces_at(buffers.right, scattered, done, pieces);
    const rails::tcp::Moved moved =
        rails::tcp::receive_some(pair.right.get(), pieces.data(), count);
    done += moved.bytes;
    if (done < total && moved.bytes < kMiB - kBlock) sleep_on(pair.right.get(), POLLIN);
  }
  const double rate = gigabytes_per_s(total, begin);
  sender.join();
  return rate;
}

struct Load {
  Operation direction = Operation::kWrite;
  bool scattered = false;
  bool checksum = false;
};

double driver(Buffers& buffers, std::uint64_t total, const Load& load) {
  TcpGround ground;
  const rails::RegionKey key = rails::make_region_key(1, 1);
  ground.regions().put({key, buffers.right.data(), kBuffer, Rights::kRemoteReadWrite, {}});
  std::vector<ResolvedDescriptor> blocks;
  const std::size_t step = load.scattered ? kBlock : kBuffer;
  const std::size_t count = kBuffer / step;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t j = i * kStride % count;
    blocks.push_back({buffers.left.data() + i * step,
                      reinterpret_cast<std::uintptr_t>(buffers.right.data() + j * step), step, 0,
                      key});
  }
  rails::LaneSpec spec;
  spec.lane = 0;
  spec.direction = load.direction;
  SPINDRIFT_CHECK(ground.initiator().add_lane(spec).ok());
  Ground::Ends ends = ground.link(0, {1, 0});
  rails::InboundLane inbound;
  inbound.id = {1, 0};
  inbound.direction = load.direction;
  inbound.endpoint = std::move(ends.responder);
  SPINDRIFT_CHECK(ground.responder().adopt(std::move(inbound)).ok());
  SPINDRIFT_CHECK(ground.answer(ends.initiator) == LaneAnswer::kAdopted);
  ground.initiator().connect_lane(0, 0, 0, std::move(ends.initiator));

  std::atomic<bool> stop{false};
  const Instant begin = read_monotonic_clock();
  std::thread responder([&] {
    BoundedVector<RailEvent> none(1);
    while (!stop.load(std::memory_order_relaxed)) {
      if (ground.responder().poll(read_monotonic_clock(), none) == 0) {
        pollfd ready{ground.responder().wait_fd(), POLLIN, 0};
        ::poll(&ready, 1, 20);
      }
    }
  });
  // A window of 16 MiB in slices of 2 MiB, as an executor would keep it.
  constexpr std::uint64_t kSlice = 2 * kMiB;
  constexpr std::uint64_t kWindow = 16 * kMiB;
  BoundedVector<RailEvent> events(1024);
  std::uint64_t posted = 0, landed = 0;
  AttemptSeq seq = 0;
  while (landed < total) {
    events.clear();
    std::size_t work = ground.initiator().poll(read_monotonic_clock(), events);
    for (const RailEvent& event : events) {
      if (event.kind == RailEventKind::kLanded) landed += kSlice;
      SPINDRIFT_CHECK(event.kind != RailEventKind::kFailed);
      SPINDRIFT_CHECK(event.kind != RailEventKind::kLaneDown);
    }
    while (posted < total && posted - landed < kWindow) {
      Attempt attempt;
      attempt.lane = 0;
      attempt.seq = seq;
      const std::uint64_t at = posted % kBuffer;
      attempt.descriptors = load.scattered ? &blocks[at / kBlock] : &blocks[0];
      attempt.offset = load.scattered ? 0 : at;
      attempt.bytes = kSlice;
      attempt.ranges = load.scattered ? kSlice / kBlock : 1;
      attempt.checksum = load.checksum;
      if (ground.initiator().post(0, {&attempt, 1}) == 0) break;
      ++seq;
      posted += kSlice;
      ++work;
    }
    if (work == 0) sleep_on(ground.initiator().wait_fd(), POLLIN);
  }
  const double rate = gigabytes_per_s(total, begin);
  stop = true;
  responder.join();
  std::printf("    system calls per MiB: initiator %.2f, responder %.2f\n",
              static_cast<double>(ground.initiator().counters().system_calls) /
                  static_cast<double>(total / kMiB),
              static_cast<double>(ground.responder().counters().system_calls) /
                  static_cast<double>(total / kMiB));
  return rate;
}

void measure(std::uint64_t total, int rounds, const std::string& only) {
  Buffers buffers;
  const std::pair<const char*, Load> loads[] = {
      {"write", {Operation::kWrite, false, false}},
      {"read", {Operation::kRead, false, false}},
      {"write, 4 KiB scattered", {Operation::kWrite, true, false}},
      {"read, 4 KiB scattered", {Operation::kRead, true, false}},
      {"write, CRC32C", {Operation::kWrite, false, true}},
  };
  (void)raw(buffers, total, true);  // warms
  for (int round = 0; round < rounds; ++round) {
    for (const auto& [name, load] : loads) {
      if (!only.empty() && only != name) continue;
      // Interleaved, so that drift of the machine hits both alike.
      const double cpu_before = cpu_seconds();
      const double base = raw(buffers, total, false);
      const double cpu_between = cpu_seconds();
      const double ours = driver(buffers, total, load);
      const double base_cpu = cpu_between - cpu_before;
      const double ours_cpu = cpu_seconds() - cpu_between;
      std::printf("%-24s raw %.2f GB/s, driver %.2f GB/s, ratio %.2f; CPU time x %.2f\n", name,
                  base, ours, ours / base, ours_cpu / base_cpu);
      if (load.scattered) {
        std::printf("%-24s raw into the same blocks %.2f GB/s\n", "", raw(buffers, total, true));
      }
    }
  }
}

}  // namespace
}  // namespace spindrift::conformance

int main(int argc, char** argv) {
  const unsigned long long mib = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1024;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  spindrift::conformance::measure(std::max(mib, 64ULL) << 20, rounds, argc > 3 ? argv[3] : "");
  return 0;
}
