// Foreign bytes on a data socket, as responder of a write lane, of a read lane,
// and as initiator of either. Nothing may be touched outside the registered
// memory, and no lane may get stuck or crash the worker.
//
// The first byte chooses the role; after it the input is a list of parts, each a
// control byte and what it says: raw bytes, or a head that is sealed with a right
// CRC, without which the fuzzer would never come past the first check.
#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "rails/tcp/frames.h"
#include "rails/tcp/tcp_driver.h"

namespace {

using namespace spindrift;
using rails::tcp::FrameHeader;
using rails::tcp::FrameType;

constexpr rails::RegionKey kKey = rails::make_region_key(1, 1);
constexpr std::size_t kBytes = 64 * 1024;

// Guards are part of the arrays, so that ASan is not the only witness.
struct Guarded {
  std::array<std::byte, 4096> before{};
  std::array<std::byte, kBytes> memory{};
  std::array<std::byte, 4096> after{};
  bool intact() const { return before == decltype(before){} && after == decltype(after){}; }
};

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | byte();
    return value;
  }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

std::vector<std::byte> next_part(Input& input, std::uint64_t base) {
  const std::uint8_t control = input.byte();
  std::vector<std::byte> part;
  if (control < 128) {
    for (int i = 0; i < control && !input.empty(); ++i) part.push_back(std::byte{input.byte()});
    return part;
  }
  FrameHeader header;
  header.type = static_cast<FrameType>(1 + control % 5);
  header.checksum = (control & 8) != 0;
  header.seq = input.byte();
  header.bytes = input.number(3);
  const std::size_t ranges = (control & 16) != 0 ? input.byte() : control % 2;
  header.ranges = static_cast<std::uint16_t>(ranges);
  if (header.type == FrameType::kRefuse) header.cause = Cause::kNoRight;
  part.resize(header.head_bytes());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < ranges; ++i) {
    // Around the region's ends, where mistakes would be.
    const rails::tcp::WireRange range{base - 64 + input.number(3) % (kBytes + 128),
                                      static_cast<std::uint32_t>(input.number(2)),
                                      kKey ^ (input.byte() == 255 ? 1u : 0u)};
    sum += range.length;
    encode_range(range, part.data() + rails::tcp::kHeaderBytes + i * rails::tcp::kRangeBytes);
  }
  if (ranges > 0 && (control & 32) != 0) header.bytes = sum;
  seal_head(header, part);
  return part;
}

void check(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Guarded guarded;
  Input input(data, size);
  const std::uint8_t role = input.byte();
  const Operation direction = (role & 1) != 0 ? Operation::kRead : Operation::kWrite;
  const bool initiator = (role & 2) != 0;

  rails::RegionTable regions;
  regions.put({kKey, guarded.memory.data(), kBytes, Rights::kRemoteReadWrite, {}});
  rails::tcp::TcpOptions options;
  options.inbound_reads_max = 4;
  rails::tcp::TcpDriver driver(options, &regions);
  std::array<int, 2> fds{};
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()) == 0);
  FileDescriptor mine(fds[0]);

  const ResolvedDescriptor descriptor{guarded.memory.data() + 10, 12345, 1000, 0, kKey};
  if (initiator) {
    rails::LaneSpec spec;
    spec.lane = 0;
    spec.direction = direction;
    check(driver.add_lane(spec).ok());
    rails::LaneEndpoint end;
    end.socket.reset(fds[1]);
    driver.connect_lane(0, 1, 0, std::move(end));
    for (AttemptSeq seq = 0; seq < 8; ++seq) {
      Attempt attempt;
      attempt.lane = 0;
      attempt.generation = 1;
      attempt.seq = seq;
      attempt.descriptors = &descriptor;
      attempt.offset = seq;
      attempt.bytes = 1000 - seq;
      attempt.ranges = 1;
      attempt.checksum = seq % 2 == 1;
      check(driver.post(0, {&attempt, 1}) == 1);
    }
  } else {
    rails::InboundLane lane;
    lane.id = {1, 1};
    lane.generation = 1;
    lane.direction = direction;
    lane.endpoint.socket.reset(fds[1]);
    check(driver.adopt(std::move(lane)).ok());
  }

  BoundedVector<RailEvent> events(16);
  std::array<char, 65536> sink{};
  const auto base = reinterpret_cast<std::uintptr_t>(guarded.memory.data());
  Instant now{};
  for (int part = 0; part < 64 && !input.empty(); ++part) {
    const std::vector<std::byte> bytes = next_part(input, base);
    (void)::send(mine.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (part % 7 == 6) driver.regions_changed();
    now += std::chrono::milliseconds(60);
    events.clear();
    driver.poll(now, events);
    (void)::recv(mine.get(), sink.data(), sink.size(), MSG_DONTWAIT);
  }
  mine.reset();
  for (int i = 0; i < 8; ++i) {
    events.clear();
    driver.poll(now, events);
  }
  check(guarded.intact());
  if (initiator) {
    driver.fence_lane(0, 1);
  } else {
    check(driver.inbound_lanes() == 0);  // it noticed that the peer is gone
    (void)driver.fence_inbound({1, 1}, 2);
  }
  return 0;
}
