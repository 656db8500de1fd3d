#include <catch2/catch.hpp>

#include <cstring>
#include <numeric>

#include "base/prng.h"
#include "rails/tcp/frames.h"
#include "rails/tcp/outbound_queue.h"

namespace spindrift::rails::tcp {
namespace {

struct Source {
  std::vector<std::byte> memory = std::vector<std::byte>(10'000);
  std::vector<ResolvedDescriptor> descriptors;

  Source() {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 7);
    // The first two continue each other at the remote end; an empty one between.
    descriptors = {{memory.data() + 10, 1000, 300, 0, 1},
                   {memory.data(), 77, 0, 0, 1},
                   {memory.data() + 5000, 1300, 200, 0, 1},
                   {memory.data() + 400, 9000, 100, 0, 2}};
  }
  Attempt attempt(AttemptSeq seq, bool checksum = true) const {
    Attempt attempt;
    attempt.seq = seq;
    attempt.descriptors = descriptors.data();
    attempt.offset = 50;
    attempt.bytes = 550;
    attempt.ranges = 4;
    attempt.checksum = checksum;
    return attempt;
  }
};

std::vector<std::byte> bytes_of(const IoBatch& batch) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < batch.count(); ++i) {
    const auto* base = static_cast<const std::byte*>(batch.pieces()[i].iov_base);
    bytes.insert(bytes.end(), base, base + batch.pieces()[i].iov_len);
  }
  return bytes;
}

std::vector<std::byte> send_all(OutboundQueue& queue, Prng* dribble) {
  std::vector<std::byte> stream;
  IoBatch batch;
  while (!queue.all_sent()) {
    batch.clear();
    queue.fill(batch, dribble != nullptr ? dribble->between(1, 900) : kSliceMax);
    auto bytes = bytes_of(batch);
    REQUIRE_FALSE(bytes.empty());
    if (dribble != nullptr) bytes.resize(dribble->between(1, bytes.size()));
    queue.sent(bytes.size());
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  }
  return stream;
}

TEST_CASE("however the kernel takes it, the stream is the same, and it is right") {
  const Source source;
  const bool with_payload = GENERATE(true, false);
  const auto filled = [&] {
    OutboundQueue queue(8, with_payload, 3);
    for (AttemptSeq seq = 3; seq < 9; ++seq) queue.push(source.attempt(seq, seq % 2 == 0));
    return queue;
  };
  OutboundQueue whole = filled();
  const auto stream = send_all(whole, nullptr);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Prng dribble(seed);
    OutboundQueue queue = filled();
    CHECK(send_all(queue, &dribble) == stream);
    CHECK(queue.payload_sent() == (with_payload ? 6 * 550 : 0));
  }

  std::size_t at = 0;
  for (AttemptSeq seq = 3; seq < 9; ++seq) {
    const auto header =
        decode_header(std::span<const std::byte>(stream).subspan(at).first<kHeaderBytes>());
    REQUIRE(header);
    CHECK(header->seq == seq);
    CHECK(header->bytes == 550);
    REQUIRE(header->ranges == 2);  // merged
    const auto head = std::span<const std::byte>(stream).subspan(at, header->head_bytes());
    REQUIRE(head_is_sound(*header, head));
    CHECK(range_of(head.data(), 0).remote == 1050);
    CHECK(range_of(head.data(), 0).length == 450);
    CHECK(range_of(head.data(), 1).key == 2);
    at += header->head_bytes();
    if (!with_payload) continue;
    std::vector<std::byte> payload(source.memory.begin() + 60, source.memory.begin() + 310);
    payload.insert(payload.end(), source.memory.begin() + 5000, source.memory.begin() + 5200);
    payload.insert(payload.end(), source.memory.begin() + 400, source.memory.begin() + 500);
    CHECK(std::memcmp(stream.data() + at, payload.data(), payload.size()) == 0);
    at += payload.size();
    const auto trailer =
        decode_trailer(std::span<const std::byte>(stream).subspan(at).first<kTrailerBytes>());
    REQUIRE(trailer);
    CHECK(trailer->crc == (seq % 2 == 0 ? crc32c(0, payload.data(), payload.size()) : 0));
    at += kTrailerBytes;
  }
  CHECK(at == stream.size());
}

TEST_CASE("answers about what was not sent, or again, are not possible") {
  const Source source;
  OutboundQueue queue(8, true, 10);
  for (AttemptSeq seq = 10; seq < 14; ++seq) queue.push(source.attempt(seq));
  CHECK_FALSE(queue.settle_to(11));  // nothing was sent
  CHECK(queue.settle_to(10));        // and nothing is settled: true
  IoBatch batch;
  queue.fill(batch, 1500);
  queue.sent(1400);  // two frames and a part of the third
  CHECK_FALSE(queue.settle_to(13));
  CHECK_FALSE(queue.refuse(12, Cause::kNoRight));
  CHECK(queue.refuse(11, Cause::kNoRight));  // 10 landed
  CHECK_FALSE(queue.refuse(11, Cause::kNoRight));
  CHECK_FALSE(queue.settle_to(10));
  CHECK(queue.settle_to(12));

  BoundedVector<RailEvent> one(1);
  queue.tell(1, 2, one);
  REQUIRE(one.size() == 1);
  CHECK(one[0].kind == RailEventKind::kLanded);
  CHECK(one[0].value == 10);
  CHECK(queue.has_news());
  one.clear();
  queue.tell(1, 2, one);
  REQUIRE(one.size() == 1);
  CHECK(one[0].kind == RailEventKind::kFailed);
  CHECK(one[0].cause == Cause::kNoRight);
  CHECK(one[0].value == 11);
  CHECK_FALSE(queue.has_news());
}

}  // namespace
}  // namespace spindrift::rails::tcp
