#include "control/lane_hello.h"

#include <algorithm>

#include "control/mac.h"

namespace spindrift::control {
namespace {

constexpr std::uint16_t kLaneVersion = 1;
constexpr std::string_view kTokenDomain = "spindrift lane token 1";

class Writer {
 public:
  explicit Writer(LaneHelloBytes& out) : out_(out) {}

  template <typename T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      out_[at_++] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
  }
  template <typename Bytes>
  void bytes(const Bytes& from) {
    for (const auto byte : from) out_[at_++] = static_cast<std::uint8_t>(byte);
  }

 private:
  LaneHelloBytes& out_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t, kLaneHelloBytes> in) : in_(in) {}

  template <typename T>
  T number() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::uint64_t{in_[at_++]} << (8 * i);
    return static_cast<T>(value);
  }
  bool magic() {
    const bool same = as_text(in_.first<kMagicBytes>()) == kLaneMagic;
    at_ = kMagicBytes;
    return same;
  }
  Incarnation incarnation() {
    Incarnation value;
    value.high = number<std::uint64_t>();
    value.low = number<std::uint64_t>();
    return value;
  }

 private:
  std::span<const std::uint8_t, kLaneHelloBytes> in_;
  std::size_t at_ = 0;
};

Digest token_of(std::span<const std::uint8_t, kLaneHelloBytes> bytes, const Digest& secret) {
  return mac(as_text(secret), kTokenDomain, as_text(bytes.first<kLaneTokenOffset>()));
}

}  // namespace

LaneHelloBytes encode_lane_hello(const LaneHello& hello, const Digest& session_secret) {
  LaneHelloBytes out{};
  Writer writer(out);
  writer.bytes(kLaneMagic);
  writer.number(kLaneVersion);
  writer.number(static_cast<std::uint8_t>(hello.direction));
  writer.number(std::uint8_t{0});
  writer.number(hello.worker);
  writer.number(hello.initiator.high);
  writer.number(hello.initiator.low);
  writer.number(hello.responder.high);
  writer.number(hello.responder.low);
  writer.number(hello.channel);
  writer.number(hello.lane_key);
  writer.number(hello.generation);
  writer.number(hello.first_seq);
  writer.bytes(token_of(out, session_secret));
  return out;
}

std::optional<LaneHello> decode_lane_hello(std::span<const std::uint8_t, kLaneHelloBytes> bytes) {
  Reader reader(bytes);
  if (!reader.magic()) return {};
  if (reader.number<std::uint16_t>() != kLaneVersion) return {};
  const auto direction = reader.number<std::uint8_t>();
  if (direction > static_cast<std::uint8_t>(Operation::kRead)) return {};
  if (reader.number<std::uint8_t>() != 0) return {};
  LaneHello hello;
  hello.direction = static_cast<Operation>(direction);
  hello.worker = reader.number<std::uint32_t>();
  hello.initiator = reader.incarnation();
  hello.responder = reader.incarnation();
  hello.channel = reader.number<std::uint32_t>();
  hello.lane_key = reader.number<std::uint32_t>();
  hello.generation = reader.number<std::uint32_t>();
  hello.first_seq = reader.number<std::uint64_t>();
  return hello;
}

bool lane_token_right(std::span<const std::uint8_t, kLaneHelloBytes> bytes,
                      const Digest& session_secret) {
  Digest got{};
  std::copy(bytes.begin() + kLaneTokenOffset, bytes.end(), got.begin());
  return equal(got, token_of(bytes, session_secret));
}

bool LaneLedger::use(std::uint32_t lane_key, Generation generation) {
  const auto it = highest_.find(lane_key);
  if (it == highest_.end()) {
    if (highest_.size() >= kLanesMax) return false;
    highest_.emplace(lane_key, generation);
    return true;
  }
  if (generation <= it->second) return false;
  it->second = generation;
  return true;
}

}  // namespace spindrift::control
