// What only the TCP backend has: foreign bytes on its sockets, its bounds, and
// what it asks of the kernel. The other end of a lane is a socket of the test.
#include <catch2/catch.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "rails/tcp/frames.h"
#include "rails/tcp/outbound_queue.h"
#include "rig.h"
#include "tcp_ground.h"

namespace spindrift::conformance {
namespace {

using rails::tcp::FrameHeader;
using rails::tcp::FrameType;
using rails::tcp::kHeaderBytes;
using rails::tcp::kTrailerBytes;
using rails::tcp::WireRange;
using Bytes = std::vector<std::byte>;

Bytes head(FrameType type, AttemptSeq seq, const std::vector<WireRange>& ranges) {
  FrameHeader header;
  header.type = type;
  header.seq = seq;
  header.ranges = static_cast<std::uint16_t>(ranges.size());
  for (const WireRange& range : ranges) header.bytes += range.length;
  Bytes bytes(header.head_bytes());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    encode_range(ranges[i], bytes.data() + kHeaderBytes + i * rails::tcp::kRangeBytes);
  }
  seal_head(header, bytes);
  return bytes;
}

Bytes sealed(const FrameHeader& header) {
  Bytes bytes(kHeaderBytes);
  seal_head(header, bytes);
  return bytes;
}

// A TcpDriver of which the test is the peer.
class Responder {
 public:
  explicit Responder(Operation direction, rails::tcp::TcpOptions options = {})
      : direction_(direction), memory(256 * kKiB, 5), ground(options) {
    ground.regions().put({kKey, memory.at(0), memory.size(), Rights::kRemoteReadWrite, {}});
  }

  Status adopt(std::uint32_t key, FileDescriptor& mine, Generation generation = 1) {
    SocketPair pair = connected_sockets();
    mine = std::move(pair.left);
    if (keep_duplicates) duplicates.emplace_back(::dup(pair.right.get()));
    rails::InboundLane lane;
    lane.id = {kSession, key};
    lane.rights_peer = kRightsPeer;
    lane.generation = generation;
    lane.direction = direction_;
    lane.endpoint.socket = std::move(pair.right);
    return ground.responder().adopt(std::move(lane));
  }
  void poll() {
    BoundedVector<RailEvent> none(1);
    ground.responder().poll(ground.now(), none);
    CHECK(none.empty());
  }
  // Sends everything, polling whenever the socket is full.
  bool send(int fd, const Bytes& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t put =
          ::send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put < 0 && errno != EAGAIN) return false;
      if (put > 0) done += static_cast<std::size_t>(put);
      poll();
    }
    return true;
  }
  // Polls until `count` bytes came; fewer when the driver closed the lane.
  Bytes receive(int fd, std::size_t count) {
    Bytes bytes(count);
    std::size_t have = 0;
    for (int idle = 0; have < count && idle < 2000; ++idle) {
      poll();
      const ssize_t got = ::recv(fd, bytes.data() + have, count - have, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN)) break;
      if (got > 0) {
        have += static_cast<std::size_t>(got);
        idle = 0;
      } else {
        pollfd ready{fd, POLLIN, 0};
        ::poll(&ready, 1, 1);
      }
    }
    bytes.resize(have);
    return bytes;
  }
  bool closed(int fd) {
    (void)receive(fd, 1 << 20);
    char byte = 0;
    const ssize_t got = ::recv(fd, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }
  WireRange range(std::size_t offset, std::uint32_t length) {
    return {memory.address(offset), length, kKey};
  }

 private:
  const Operation direction_;

 public:
  Memory memory;
  TcpGround ground;
  bool keep_duplicates = false;  // of the driver's sockets, as a forked child has them
  std::vector<FileDescriptor> duplicates;
};

FrameHeader decoded(const Bytes& bytes) {
  REQUIRE(bytes.size() >= kHeaderBytes);
  const auto header =
      rails::tcp::decode_header(std::span<const std::byte>(bytes).first<kHeaderBytes>());
  REQUIRE(header);
  return *header;
}

TEST_CASE("the first bytes of an adopted lane are the answer to its hello") {
  Responder responder(Operation::kWrite);
  FileDescriptor mine;
  REQUIRE(responder.adopt(1, mine).ok());
  const Bytes answer = responder.receive(mine.get(), kLaneAnswerBytes);
  const auto expected = encode_lane_answer(LaneAnswer::kAdopted);
  REQUIRE(answer.size() == expected.size());
  CHECK(std::memcmp(answer.data(), expected.data(), answer.size()) == 0);
}

TEST_CASE("over its bound of lanes the driver says that it is busy") {
  rails::tcp::TcpOptions options;
  options.inbound_lanes_max = 2;
  Responder responder(Operation::kWrite, options);
  FileDescriptor a, b, c;
  REQUIRE(responder.adopt(1, a).ok());
  REQUIRE(responder.adopt(2, b).ok());
  CHECK(responder.adopt(3, c).code() == Code::kBusy);
  rails::LaneEndpoint end;
  end.socket = std::move(c);
  CHECK(responder.ground.answer(end) == LaneAnswer::kBusy);
  // A newer generation of a known lane takes the old one's place.
  FileDescriptor newer;
  CHECK(responder.adopt(2, newer, 2).ok());
  CHECK(responder.closed(b.get()));
  CHECK(responder.ground.responder().inbound_lanes() == 2);
  CHECK(responder.ground.responder().counters().lanes_refused == 1);
}

TEST_CASE("a forked child's duplicate keeps no fenced lane alive, and its worker can sleep") {
  Responder responder(Operation::kWrite);
  responder.keep_duplicates = true;
  FileDescriptor mine;
  REQUIRE(responder.adopt(1, mine).ok());
  REQUIRE(responder.receive(mine.get(), kLaneAnswerBytes).size() == kLaneAnswerBytes);
  (void)responder.ground.responder().fence_inbound({kSession, 1}, 2);
  CHECK(responder.closed(mine.get()));
  responder.poll();
  pollfd ready{responder.ground.responder().wait_fd(), POLLIN, 0};
  CHECK(::poll(&ready, 1, 0) == 0);
}

TEST_CASE("what no initiator sends closes that lane, moves no memory, harms no other") {
  struct Row {
    const char* name;
    Operation direction;
    Bytes bytes;
  };
  const WireRange somewhere{1000, 100, kKey};
  Bytes bad_crc = head(FrameType::kWriteData, 0, {somewhere});
  bad_crc[40] ^= std::byte{1};
  FrameHeader ack;
  FrameHeader refusal;
  refusal.type = FrameType::kRefuse;
  refusal.cause = Cause::kNoRight;
  Bytes padded_ack = sealed(ack);
  padded_ack.resize(rails::tcp::kHeadBytesMin);
  const Row rows[] = {
      {"zeros", Operation::kWrite, Bytes(200)},
      {"a read on a write lane", Operation::kWrite, head(FrameType::kReadRequest, 0, {somewhere})},
      {"a write on a read lane", Operation::kRead, head(FrameType::kWriteData, 0, {somewhere})},
      {"the seq after the next", Operation::kWrite, head(FrameType::kWriteData, 1, {somewhere})},
      {"the request after the next", Operation::kRead,
       head(FrameType::kReadRequest, 1, {somewhere})},
      {"a damaged table", Operation::kWrite, bad_crc},
      {"an acknowledgement to the responder", Operation::kWrite, padded_ack},
      {"a refusal to the responder", Operation::kRead, sealed(refusal)},
      {"a trailer with an unknown cause", Operation::kWrite, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Responder responder(row.direction);
    FileDescriptor mine, other;
    REQUIRE(responder.adopt(1, mine).ok());
    REQUIRE(responder.adopt(2, other).ok());
    Bytes bytes = row.bytes;
    if (bytes.empty()) {
      bytes = head(FrameType::kWriteData, 0, {responder.range(0, 8)});
      bytes.insert(bytes.end(), responder.memory.at(0), responder.memory.at(8));
      bytes.insert(bytes.end(), kTrailerBytes, std::byte{0xff});
    }
    responder.send(mine.get(), bytes);
    CHECK(responder.closed(mine.get()));
    CHECK(responder.memory.intact());
    CHECK(responder.ground.responder().inbound_lanes() == 1);
    CHECK(responder.ground.responder().counters().protocol_errors == 1);
    CHECK(responder.receive(other.get(), kLaneAnswerBytes).size() == kLaneAnswerBytes);
  }
}

TEST_CASE("random bytes never touch memory") {
  const Operation direction = GENERATE(Operation::kWrite, Operation::kRead);
  Prng prng(7);
  for (int round = 0; round < 200; ++round) {
    Responder responder(direction);
    FileDescriptor mine;
    REQUIRE(responder.adopt(1, mine).ok());
    Bytes bytes;
    // Half of them begin like a frame.
    if (round % 2 == 0) {
      bytes = head(direction == Operation::kWrite ? FrameType::kWriteData : FrameType::kReadRequest,
                   0, {responder.range(0, 64), responder.range(100, 64)});
      bytes[prng.below(bytes.size())] ^= static_cast<std::byte>(prng.between(1, 255));
    }
    for (std::uint64_t i = prng.below(3000); i > 0; --i) {
      bytes.push_back(static_cast<std::byte>(prng.next()));
    }
    responder.send(mine.get(), bytes);
    responder.poll();
    CHECK(responder.memory.intact());
  }
}

TEST_CASE("acknowledgements are cumulative, and come within a slice") {
  Responder responder(Operation::kWrite);
  FileDescriptor mine;
  REQUIRE(responder.adopt(1, mine).ok());
  REQUIRE(responder.receive(mine.get(), kLaneAnswerBytes).size() == kLaneAnswerBytes);
  // One slice that writes the same 200 KiB five times.
  const std::vector<WireRange> ranges(5, responder.range(0, 200 * kKiB));
  const Bytes frame = head(FrameType::kWriteData, 0, ranges);
  const Bytes payload(200 * kKiB, std::byte{0x42});
  REQUIRE(responder.send(mine.get(), frame));
  for (int i = 0; i < 2; ++i) REQUIRE(responder.send(mine.get(), payload));
  const FrameHeader first = decoded(responder.receive(mine.get(), kHeaderBytes));
  CHECK(first.type == FrameType::kAck);
  CHECK(first.seq == 0);  // not settled yet
  CHECK(first.bytes >= 256 * kKiB);
  for (int i = 0; i < 3; ++i) REQUIRE(responder.send(mine.get(), payload));
  REQUIRE(responder.send(mine.get(), Bytes(kTrailerBytes)));
  FrameHeader last = first;
  while (last.seq == 0) {
    const FrameHeader next = decoded(responder.receive(mine.get(), kHeaderBytes));
    CHECK(next.bytes >= last.bytes);
    last = next;
  }
  CHECK(last.bytes == 1000 * kKiB);
}

TEST_CASE("a peer that reads no answers is not read from for ever") {
  Responder responder(Operation::kWrite);
  FileDescriptor mine;
  REQUIRE(responder.adopt(1, mine).ok());
  // Refusals are answered one by one: at some point the answers do not fit.
  std::uint64_t sent = 0;
  bool stuck = false;
  for (AttemptSeq seq = 0; seq < 2'000'000 && !stuck; ++seq) {
    Bytes frame = head(FrameType::kWriteData, seq, {{1, 1, 12345}});
    frame.resize(frame.size() + 1 + kTrailerBytes);
    std::size_t done = 0;
    for (int tries = 0; done < frame.size() && tries < 50; ++tries) {
      const ssize_t put =
          ::send(mine.get(), frame.data() + done, frame.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put > 0) done += static_cast<std::size_t>(put);
      if (put < 0) {
        REQUIRE(errno == EAGAIN);
        responder.poll();
      }
    }
    stuck = done < frame.size();
    if (!stuck) ++sent;
  }
  REQUIRE(stuck);
  // It sleeps meanwhile instead of spinning.
  bool asleep = false;
  for (int i = 0; i < 1000 && !asleep; ++i) {
    responder.poll();
    asleep = !responder.ground.wait(std::chrono::milliseconds(2));
  }
  CHECK(asleep);
  // Once the answers are read, all goes on, and none is missing.
  std::uint64_t answered = 0;
  REQUIRE(responder.receive(mine.get(), kLaneAnswerBytes).size() == kLaneAnswerBytes);
  while (answered < sent) {
    const Bytes frame = responder.receive(mine.get(), kHeaderBytes);
    REQUIRE(frame.size() == kHeaderBytes);
    const FrameHeader header = decoded(frame);
    if (header.type != FrameType::kRefuse) continue;
    REQUIRE(header.seq == answered++);
    REQUIRE(header.cause == Cause::kNoRegion);
  }
}

TEST_CASE("more read requests than are queued wait in the socket") {
  rails::tcp::TcpOptions options;
  options.inbound_reads_max = 4;
  Responder responder(Operation::kRead, options);
  FileDescriptor mine;
  REQUIRE(responder.adopt(1, mine).ok());
  REQUIRE(responder.receive(mine.get(), kLaneAnswerBytes).size() == kLaneAnswerBytes);
  constexpr std::uint32_t kLength = 100 * kKiB;
  Bytes requests;
  for (AttemptSeq seq = 0; seq < 300; ++seq) {
    const Bytes one = head(FrameType::kReadRequest, seq, {responder.range(seq, kLength)});
    requests.insert(requests.end(), one.begin(), one.end());
  }
  REQUIRE(responder.send(mine.get(), requests));
  for (AttemptSeq seq = 0; seq < 300; ++seq) {
    const Bytes answer = responder.receive(mine.get(), kHeaderBytes + kLength + kTrailerBytes);
    REQUIRE(answer.size() == kHeaderBytes + kLength + kTrailerBytes);
    CHECK(decoded(answer).seq == seq);
    CHECK(std::memcmp(answer.data() + kHeaderBytes, responder.memory.at(seq), kLength) == 0);
  }
}

// A TcpDriver as initiator of which the test is the responder.
TEST_CASE("what no responder sends takes the lane down once, and nothing is landed") {
  FrameHeader early_ack;
  early_ack.seq = 5;
  FrameHeader too_much;
  too_much.bytes = 1'000'000;
  FrameHeader foreign_refusal;
  foreign_refusal.type = FrameType::kRefuse;
  foreign_refusal.cause = Cause::kNoRight;
  foreign_refusal.seq = 9;
  FrameHeader wrong_size;
  wrong_size.type = FrameType::kReadData;
  wrong_size.bytes = 99;
  FrameHeader wrong_seq = wrong_size;
  wrong_seq.bytes = 100;
  wrong_seq.seq = 1;
  Bytes damaged = sealed(FrameHeader{});
  damaged[29] ^= std::byte{1};
  struct Row {
    const char* name;
    Operation direction;
    Bytes bytes;
  };
  const Row rows[] = {
      {"garbage", Operation::kWrite, Bytes(64, std::byte{9})},
      {"garbage", Operation::kRead, Bytes(64, std::byte{9})},
      {"settled what was never sent", Operation::kWrite, sealed(early_ack)},
      {"placed more than was sent", Operation::kWrite, sealed(too_much)},
      {"refused what was never sent", Operation::kWrite, sealed(foreign_refusal)},
      {"refused what was never asked", Operation::kRead, sealed(foreign_refusal)},
      {"data of another size", Operation::kRead, sealed(wrong_size)},
      {"data out of order", Operation::kRead, sealed(wrong_seq)},
      {"data on a write lane", Operation::kWrite, sealed(wrong_size)},
      {"an acknowledgement on a read lane", Operation::kRead, sealed(FrameHeader{})},
      {"a damaged answer", Operation::kWrite, damaged},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name, row.direction == Operation::kWrite);
    Rig rig(row.direction, 4096);
    SocketPair pair = connected_sockets();
    rig.checker.on_connect(0);
    rails::LaneEndpoint end;
    end.socket = std::move(pair.left);
    rig.initiator().connect_lane(rig.lane(), 0, 0, std::move(end));
    rig.run_until([&] { return rig.checker.up(); }, "up");
    REQUIRE(rig.post_raw({rig.make_attempt({{0, 0, 100}})}) == 1);
    REQUIRE(::send(pair.right.get(), row.bytes.data(), row.bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(row.bytes.size()));
    rig.run_until([&] { return rig.checker.down(); }, "down");
    CHECK(rig.checker.down_cause() == Cause::kProtocol);
    CHECK(rig.checker.settled() == 0);
    rig.verify();
  }
}

TEST_CASE("the kernel's settings of a lane can be asked for") {
  TcpGround ground;
  rails::LaneSpec spec;
  spec.lane = 0;
  REQUIRE(ground.initiator().add_lane(spec).ok());
  CHECK(ground.initiator().add_lane(spec).code() == Code::kAlreadyExists);
  spec.lane = rails::tcp::TcpDriver::kLanesMax;
  CHECK(ground.initiator().add_lane(spec).code() == Code::kInvalidArgument);
  CHECK_FALSE(ground.initiator().lane_info(0));
  SocketPair pair = connected_sockets();
  rails::LaneEndpoint end;
  end.socket = std::move(pair.left);
  ground.initiator().connect_lane(0, 1, 0, std::move(end));
  const auto info = ground.initiator().lane_info(0);
  REQUIRE(info);
  CHECK_FALSE(info->congestion.empty());
  CHECK(info->congestion_as_asked == (info->congestion == "cubic"));
}

TEST_CASE("lanes take turns: a flood on one does not hold up another") {
  Responder responder(Operation::kWrite);
  FileDescriptor flood, quiet;
  REQUIRE(responder.adopt(1, flood).ok());
  REQUIRE(responder.adopt(2, quiet).ok());
  const Bytes frame =
      head(FrameType::kWriteData, 0, std::vector<WireRange>(256, responder.range(0, 256 * kKiB)));
  REQUIRE(responder.send(flood.get(), frame));
  const Bytes payload(4 * kMiB, std::byte{1});
  // As much as the kernel takes, without a poll.
  while (::send(flood.get(), payload.data(), payload.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) {
  }
  Bytes small = head(FrameType::kWriteData, 0, {responder.range(0, 1)});
  small.resize(small.size() + 1 + kTrailerBytes);
  REQUIRE(::send(quiet.get(), small.data(), small.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(small.size()));
  const std::uint64_t before = responder.ground.responder().counters().bytes_placed;
  responder.poll();
  responder.poll();
  const std::uint64_t placed = responder.ground.responder().counters().bytes_placed - before;
  CHECK(placed <= 2 * (kMiB + 1));  // a turn is 1 MiB
  std::array<std::byte, kLaneAnswerBytes + kHeaderBytes> answer{};
  CHECK(::recv(quiet.get(), answer.data(), answer.size(), MSG_DONTWAIT) ==
        static_cast<ssize_t>(answer.size()));
}

}  // namespace
}  // namespace spindrift::conformance
