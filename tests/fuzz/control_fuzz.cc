// Everything of the control plane that reads foreign bytes: the frame reader,
// the three decoders, the lane hello, and the handshake and session machines fed
// with whatever decodes. The first byte chooses the target.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "control/codec.h"
#include "control/handshake.h"
#include "control/lane_hello.h"
#include "control/session.h"

namespace {

using namespace spindrift;           // NOLINT(google-build-using-namespace)
using namespace spindrift::control;  // NOLINT(google-build-using-namespace)

void demand(bool holds) {
  if (!holds) std::abort();
}

HandshakeOptions options(bool keyed) {
  HandshakeOptions made;
  made.identity.name = "node";
  made.identity.incarnation = {1, 2};
  made.message_max = 1 << 20;
  if (keyed) made.keys = {"key"};
  return made;
}

// Whatever is read is within the bounds that the encoder keeps, and survives
// being written and read again.
void fuzz_decoders(std::string_view bytes) {
  if (const auto message = decode_handshake(bytes)) {
    const std::string again = encode(*message);
    const auto second = decode_handshake(again);
    demand(second.ok() && encode(*second) == again);
  }
  if (const auto message = decode_message(bytes)) {
    const std::string again = encode(*message);
    const auto second = decode_message(again);
    demand(second.ok() && encode(*second) == again);
  }
  if (const auto frame = decode_frame(bytes)) {
    const auto second = decode_frame(encode(*frame));
    demand(second.ok() && second->seq == frame->seq && second->message == frame->message);
  }
}

void fuzz_frames(std::string_view bytes) {
  FrameReader reader(4096);
  std::string frame;
  while (!bytes.empty()) {
    // In pieces whose sizes the input chooses.
    std::string_view piece = bytes.substr(0, 1 + static_cast<unsigned char>(bytes.front()) % 64);
    bytes.remove_prefix(piece.size());
    while (true) {
      const auto whole = reader.next(piece, frame);
      if (!whole) return;
      if (!*whole) break;
      demand(frame.size() <= 4096);
    }
    demand(piece.empty());
  }
}

// Without the key no sequence of messages may end in an agreement.
void fuzz_handshakes(std::string_view bytes, bool keyed) {
  const HandshakeOptions own = options(keyed);
  InitiatorHandshake initiator(own, "", 1, Nonce{});
  ResponderHandshake responder(own, Nonce{});
  FrameReader reader(4096);
  std::string frame;
  while (true) {
    const auto whole = reader.next(bytes, frame);
    if (!whole || !*whole) break;
    static_cast<void>(initiator.on_message(frame));
    static_cast<void>(responder.on_message(frame));
    if (responder.proven()) {
      demand(!keyed);
      responder.accept(Nonce{});
    }
    initiator.take_outgoing();
    responder.take_outgoing();
  }
  if (keyed) demand(!initiator.done() && !responder.done());
}

void fuzz_session(std::string_view bytes) {
  Session session({.unacked_max = 8, .unacked_bytes_max = 4096});
  Instant now{};
  std::size_t delivered = 0;
  FrameReader reader(4096);
  std::string encoded;
  for (ConnectionId id : {1, 2}) session.connection_up(id, now);
  while (!bytes.empty()) {
    const auto action = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    now += std::chrono::milliseconds(action);
    const ConnectionId connection = 1 + action % 3;
    if (action % 7 == 0) session.connection_down(connection, now);
    if (action % 7 == 1) session.connection_up(connection, now);
    if (action % 7 == 2) static_cast<void>(session.send("message", Spread::kAll, now));
    if (action % 7 == 3) session.advance(now);
    if (action % 7 > 3) {
      const auto whole = reader.next(bytes, encoded);
      if (!whole) return;
      if (!*whole) break;
      if (const auto frame = decode_frame(encoded)) {
        static_cast<void>(session.on_frame(connection, *frame, now));
      }
    }
    demand(session.unacked() <= 8);
    for (const auto& out : session.take_outgoing()) demand(out.frame.ack >= delivered);
    delivered += session.take_delivered().size();
  }
}

void fuzz_lane_hello(std::string_view bytes) {
  if (bytes.size() < kLaneHelloBytes) return;
  const std::span<const std::uint8_t, kLaneHelloBytes> hello(
      reinterpret_cast<const std::uint8_t*>(bytes.data()), kLaneHelloBytes);
  Digest secret{};
  secret.fill(0x5a);
  demand(!lane_token_right(hello, secret));
  if (const auto decoded = decode_lane_hello(hello)) {
    const auto again = encode_lane_hello(*decoded, secret);
    for (std::size_t i = 0; i < kLaneTokenOffset; ++i) demand(again[i] == hello[i]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      fuzz_decoders(bytes);
      break;
    case 1:
      fuzz_frames(bytes);
      break;
    case 2:
      fuzz_handshakes(bytes, true);
      break;
    case 3:
      fuzz_handshakes(bytes, false);
      break;
    case 4:
      fuzz_session(bytes);
      break;
    default:
      fuzz_lane_hello(bytes);
      break;
  }
  return 0;
}
