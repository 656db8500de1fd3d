#include "rails/tcp/frames.h"

#include <isa-l/crc.h>

#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/units.h"

namespace spindrift::rails::tcp {
namespace {

constexpr std::uint32_t kMagic = 0x01445053;  // "SPD", version 1
constexpr std::uint8_t kFlagChecksum = 1;

template <typename T>
void store(std::byte* out, T value) {
  if constexpr (std::endian::native == std::endian::big) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      out[i] = static_cast<std::byte>(value >> (8 * i));
    }
  } else {
    std::memcpy(out, &value, sizeof(T));
  }
}

template <typename T>
T load(const std::byte* in) {
  T value = 0;
  if constexpr (std::endian::native == std::endian::big) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(value | static_cast<T>(static_cast<T>(in[i]) << (8 * i)));
    }
  } else {
    std::memcpy(&value, in, sizeof(T));
  }
  return value;
}

// The wire's own numbers, so that the enum may grow or be reordered.
constexpr std::array<Cause, 6> kWireCauses = {Cause::kNone,     Cause::kBadRange, Cause::kNoRight,
                                              Cause::kNoRegion, Cause::kQuiesced, Cause::kChecksum};

std::uint8_t cause_code(Cause cause) {
  for (std::size_t i = 0; i < kWireCauses.size(); ++i) {
    if (kWireCauses[i] == cause) return static_cast<std::uint8_t>(i);
  }
  return 1;
}

std::uint32_t head_crc(std::span<const std::byte> head) {
  const std::uint32_t crc = crc32c(0, head.data(), kHeaderBytes - 4);
  return crc32c(crc, head.data() + kHeaderBytes, head.size() - kHeaderBytes);
}

bool fields_fit_type(const FrameHeader& header) {
  const bool sized = header.bytes >= 1 && header.bytes <= kSliceMax;
  const bool no_cause = header.cause == Cause::kNone;
  switch (header.type) {
    case FrameType::kWriteData:
    case FrameType::kReadRequest:
      return sized && no_cause && header.ranges >= 1 && header.ranges <= kRangesMax;
    case FrameType::kReadData:
      return sized && no_cause && header.ranges == 0;
    case FrameType::kAck:
      return no_cause && header.ranges == 0 && !header.checksum;
    case FrameType::kRefuse:
      return !no_cause && header.ranges == 0 && header.bytes == 0 && !header.checksum;
  }
  return false;
}

}  // namespace

std::uint32_t crc32c(std::uint32_t crc, const void* data, std::size_t bytes) {
  // isa-l takes int lengths, does not write through its pointer, and leaves the
  // usual inversions to the caller.
  constexpr std::size_t kStep = std::size_t{1} << 30;
  auto* at = static_cast<unsigned char*>(const_cast<void*>(data));
  std::uint32_t state = ~crc;
  while (bytes > 0) {
    const std::size_t step = bytes < kStep ? bytes : kStep;
    state = ::crc32_iscsi(at, static_cast<int>(step), state);
    at += step;
    bytes -= step;
  }
  return ~state;
}

void encode_range(const WireRange& range, std::byte* out) {
  store(out, range.remote);
  store(out + 8, range.length);
  store(out + 12, range.key);
}

WireRange decode_range(const std::byte* in) {
  return {load<std::uint64_t>(in), load<std::uint32_t>(in + 8), load<std::uint32_t>(in + 12)};
}

WireRange range_of(const std::byte* head, std::size_t i) {
  return decode_range(head + kHeaderBytes + i * kRangeBytes);
}

void seal_head(const FrameHeader& header, std::span<std::byte> head) {
  SPINDRIFT_CHECK(head.size() == header.head_bytes());
  store(head.data(), kMagic);
  store(head.data() + 4, static_cast<std::uint8_t>(header.type));
  store(head.data() + 5, static_cast<std::uint8_t>(header.checksum ? kFlagChecksum : 0));
  store(head.data() + 6, cause_code(header.cause));
  store(head.data() + 7, std::uint8_t{0});
  store(head.data() + 8, header.seq);
  store(head.data() + 16, header.bytes);
  store(head.data() + 24, header.ranges);
  store(head.data() + 26, std::uint16_t{0});
  store(head.data() + 28, head_crc(head));
}

std::optional<FrameHeader> decode_header(std::span<const std::byte, kHeaderBytes> in) {
  const auto type = load<std::uint8_t>(in.data() + 4);
  const auto flags = load<std::uint8_t>(in.data() + 5);
  const auto cause = load<std::uint8_t>(in.data() + 6);
  if (load<std::uint32_t>(in.data()) != kMagic) return {};
  if (type < static_cast<std::uint8_t>(FrameType::kWriteData)) return {};
  if (type > static_cast<std::uint8_t>(FrameType::kRefuse)) return {};
  if (flags > kFlagChecksum || cause >= kWireCauses.size()) return {};
  if (load<std::uint8_t>(in.data() + 7) != 0) return {};
  if (load<std::uint16_t>(in.data() + 26) != 0) return {};
  FrameHeader header;
  header.type = static_cast<FrameType>(type);
  header.checksum = flags == kFlagChecksum;
  header.cause = kWireCauses[cause];
  header.seq = load<std::uint64_t>(in.data() + 8);
  header.bytes = load<std::uint64_t>(in.data() + 16);
  header.ranges = load<std::uint16_t>(in.data() + 24);
  if (!fields_fit_type(header)) return {};
  return header;
}

bool head_is_sound(const FrameHeader& header, std::span<const std::byte> head) {
  if (head.size() != header.head_bytes()) return false;
  if (load<std::uint32_t>(head.data() + 28) != head_crc(head)) return false;
  std::uint64_t sum = 0;  // at most kRangesMax * 2^32: cannot overflow
  for (std::size_t i = 0; i < header.ranges; ++i) {
    const WireRange range = range_of(head.data(), i);
    if (range.length == 0 || !adds_up(range.remote, range.length)) return false;
    sum += range.length;
  }
  return header.ranges == 0 || sum == header.bytes;
}

void encode_trailer(const FrameTrailer& trailer, std::span<std::byte, kTrailerBytes> out) {
  store(out.data(), trailer.crc);
  store(out.data() + 4, std::uint32_t{cause_code(trailer.cause)});
}

std::optional<FrameTrailer> decode_trailer(std::span<const std::byte, kTrailerBytes> in) {
  const auto cause = load<std::uint32_t>(in.data() + 4);
  if (cause >= kWireCauses.size()) return {};
  return FrameTrailer{load<std::uint32_t>(in.data()), kWireCauses[cause]};
}

}  // namespace spindrift::rails::tcp
