// Control messages to bytes and back, and the frames they travel in. Protobuf
// inside; no type of its leaves codec.cc. Pure and thread-safe.
//
// Errors: everything that comes in is untrusted. Decoding checks every length,
// count, range and name and says kProtocol with the field that is wrong; a
// frame's length is checked before anything is allocated for it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/messages.h"
#include "control/session.h"
#include "spindrift/status.h"

namespace spindrift::control {

// The first bytes of a control connection.
inline constexpr std::string_view kControlMagic = "SPINCTL1";

inline constexpr std::size_t kFrameHeaderBytes = 4;
// Of a frame before the other side has proved who it is: a stranger's claim on
// our memory, times half_open_max.
inline constexpr std::uint32_t kGreetingMax = 4 * 1024;
// Of a handshake frame afterwards: 64 endpoints of at most 300 bytes.
inline constexpr std::uint32_t kHandshakeMax = 64 * 1024;

inline constexpr std::size_t kNameMax = 255;  // of a node or a segment
inline constexpr std::size_t kHostIdMax = 128;
inline constexpr std::size_t kShortTextMax = 64;  // device, address, PCI address
inline constexpr std::size_t kTextMax = 2048;     // for people
inline constexpr std::size_t kEndpointsMax = 64;
inline constexpr std::size_t kKeyIdsMax = 8;
inline constexpr std::uint32_t kSegmentRegionsMax = 262'144;  // kRegionsMax of rails/
inline constexpr std::size_t kRefusedMax = 65'536;            // attempts of one lane

std::string encode(const HandshakeMessage& message);
std::string encode(const SessionFrame& frame);
std::string encode(const SessionMessage& message);

Result<HandshakeMessage> decode_handshake(std::string_view bytes);
Result<SessionFrame> decode_frame(std::string_view bytes);
Result<SessionMessage> decode_message(std::string_view bytes);

// How many regions of a look-up's reply surely fit into `message_max` bytes.
std::uint32_t regions_per_reply(std::uint32_t message_max);

// Appends `payload` with its length in front.
void append_frame(std::string& out, std::string_view payload);

// Cuts a byte stream into frames. Not thread-safe.
class FrameReader {
 public:
  explicit FrameReader(std::uint32_t frame_max) : frame_max_(frame_max) {}

  // For the frames that begin from now on.
  void set_frame_max(std::uint32_t frame_max) { frame_max_ = frame_max; }

  // Takes bytes from the front of `bytes`, up to the end of one frame at most.
  // True when `frame` holds a whole one; false when more bytes are needed.
  // After an error the stream is lost.
  Result<bool> next(std::string_view& bytes, std::string& frame);

 private:
  std::uint32_t frame_max_;
  std::array<std::uint8_t, kFrameHeaderBytes> header_{};
  std::size_t header_got_ = 0;
  std::uint32_t length_ = 0;
  std::string payload_;
};

}  // namespace spindrift::control
