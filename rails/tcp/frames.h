// The frames of a TCP lane, as bytes. Pure; no I/O, no allocation.
//
//   initiator of a write lane          its responder
//   kWriteData head payload trailer ─▶
//                                  ◀─  kAck     seq: settled end, bytes: placed in all
//                                  ◀─  kRefuse  seq, cause; settles what came before, too
//   initiator of a read lane
//   kReadRequest head               ─▶
//                                  ◀─  kReadData header payload trailer
//                                  ◀─  kRefuse  seq, cause
//
// A *head* is a header and, for kWriteData and kReadRequest, a table of remote
// ranges. All numbers are little-endian.
//
//   header   0  u32  magic, with the version in its last byte
//            4  u8   FrameType
//            5  u8   flags: 1 = the trailer's checksum is set
//            6  u8   cause, by its code on the wire
//            7  u8   zero
//            8  u64  seq
//           16  u64  bytes
//           24  u16  ranges in the table
//           26  u16  zero
//           28  u32  CRC32C of bytes 0..27 and the table
//   range    0  u64  remote address
//            8  u32  length, > 0
//           12  u32  region key
//   trailer  0  u32  CRC32C of the payload, 0 without checksum
//            4  u8   cause: not "none" when the sender gave up in the middle
//            5  u8 x3  zero
//
// The head has a CRC of its own, always: a flipped bit in an address would
// place good bytes where they do not belong, which no check of the payload finds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/cause.h"

namespace spindrift::rails::tcp {

enum class FrameType : std::uint8_t {
  kWriteData = 1,
  kReadRequest = 2,
  kReadData = 3,
  kAck = 4,
  kRefuse = 5,
};

inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::size_t kRangeBytes = 16;
inline constexpr std::size_t kTrailerBytes = 8;
// Equal to RailCapabilities::ranges_max; part of the protocol, since both ends
// size buffers by it.
inline constexpr std::size_t kRangesMax = 512;
inline constexpr std::uint64_t kSliceMax = std::uint64_t{64} << 20;
inline constexpr std::size_t kHeadBytesMin = kHeaderBytes + kRangeBytes;
inline constexpr std::size_t kHeadBytesMax = kHeaderBytes + kRangesMax * kRangeBytes;

struct FrameHeader {
  FrameType type = FrameType::kAck;
  bool checksum = false;
  Cause cause = Cause::kNone;
  std::uint16_t ranges = 0;
  std::uint64_t seq = 0;
  std::uint64_t bytes = 0;

  std::size_t head_bytes() const { return kHeaderBytes + ranges * kRangeBytes; }
};

struct WireRange {
  std::uint64_t remote = 0;
  std::uint32_t length = 0;
  std::uint32_t key = 0;
};

struct FrameTrailer {
  std::uint32_t crc = 0;
  Cause cause = Cause::kNone;
};

// Over consecutive pieces: crc = crc32c(crc, piece), from 0.
std::uint32_t crc32c(std::uint32_t crc, const void* data, std::size_t bytes);

void encode_range(const WireRange& range, std::byte* out);
WireRange decode_range(const std::byte* in);
// The i-th range of a complete head.
WireRange range_of(const std::byte* head, std::size_t i);

// Writes the header in front of the table that is already in place, and its CRC.
// `head` has header.head_bytes() bytes. A cause that has no code on the wire
// becomes kBadRange.
void seal_head(const FrameHeader& header, std::span<std::byte> head);

// What the header alone allows: magic, type, flags, reserved bytes, and the
// fields that the type needs, within the bounds above. Says nothing of the CRC.
std::optional<FrameHeader> decode_header(std::span<const std::byte, kHeaderBytes> in);
// A complete head: its CRC is right, no range is empty or wraps around, and the
// lengths add up to `bytes`.
bool head_is_sound(const FrameHeader& header, std::span<const std::byte> head);

void encode_trailer(const FrameTrailer& trailer, std::span<std::byte, kTrailerBytes> out);
std::optional<FrameTrailer> decode_trailer(std::span<const std::byte, kTrailerBytes> in);

}  // namespace spindrift::rails::tcp
