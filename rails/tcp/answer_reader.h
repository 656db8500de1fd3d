// The initiator's receiving ends: of a write lane, which gets small answers, and
// of a read lane, which gets the data itself, straight into its destination.
// Owned by one thread; no allocation after construction.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rails/tcp/frames.h"
#include "rails/tcp/lane_context.h"
#include "rails/tcp/outbound_queue.h"

namespace spindrift::rails::tcp {

// kAck and kRefuse frames of a write lane.
class AckReader {
 public:
  Served serve(int fd, OutboundQueue& queue, LaneContext& context);
  std::uint64_t progress() const { return placed_; }

 private:
  bool accept(const FrameHeader& header, OutboundQueue& queue);

  std::array<std::byte, kHeaderBytes> partial_{};
  std::size_t have_ = 0;
  std::uint64_t placed_ = 0;  // as the responder says, in this generation
};

// kReadData and kRefuse frames of a read lane.
class ReadReceiver {
 public:
  Served serve(int fd, OutboundQueue& queue, LaneContext& context);
  std::uint64_t progress() const { return received_; }

 private:
  void gather(IoBatch& batch, std::uint64_t bytes_max);
  [[nodiscard]] bool consume(std::uint64_t bytes, OutboundQueue& queue);
  [[nodiscard]] bool take_header(OutboundQueue& queue);
  [[nodiscard]] bool take_trailer(OutboundQueue& queue);
  void take_payload(std::uint64_t bytes);

  // The trailer of the data at hand, then the next header: both come with the
  // last payload bytes in one call.
  std::array<std::byte, kTrailerBytes + kHeaderBytes> tail_{};
  std::size_t tail_have_ = kTrailerBytes;  // no data at hand: as if its trailer was read
  bool in_data_ = false;
  OutboundQueue::Expected data_;  // destination: of the next byte
  std::uint64_t left_ = 0;        // payload bytes to come
  std::uint32_t crc_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace spindrift::rails::tcp
