// The placing end of a write lane. Payload goes from the socket straight into
// the destination; the rights and bounds of an attempt's whole table are checked
// before its first byte, and again for the rest when the table of rights changed
// in between. The payload of a refused attempt is read and thrown away, so that
// the lane stays usable.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/ring.h"
#include "rails/tcp/frames.h"
#include "rails/tcp/inbound_lane.h"

namespace spindrift::rails::tcp {

class InboundWrite final : public InboundConnection {
 public:
  InboundWrite(FileDescriptor socket, std::uint32_t rights_peer, InboundRecord& record);

  Served serve(bool readable, bool writable, LaneContext& context) override;
  bool wants_to_receive() const override { return !refusals_.full(); }
  bool wants_to_send() const override { return out_sent_ < out_have_ || answers_due_; }

 private:
  struct Refusal {
    AttemptSeq seq = 0;
    Cause cause = Cause::kNone;
  };

  void gather(LaneContext& context, std::uint64_t bytes_max);
  void gather_payload(LaneContext& context, std::uint64_t bytes_max);
  // False: what came is no frame; the connection ends.
  [[nodiscard]] bool consume(std::uint64_t bytes, LaneContext& context);
  [[nodiscard]] bool take_head(LaneContext& context);
  [[nodiscard]] bool take_trailer(LaneContext& context);
  void take_payload(std::uint64_t bytes, LaneContext& context);
  void check_rights(LaneContext& context);

  Cause send_answers(LaneContext& context);
  void encode_answers();

  // The head at hand, as it came, and where its ranges lie here.
  std::vector<std::byte> head_;
  std::size_t head_have_ = 0;
  FrameHeader header_;
  bool header_known_ = false;
  std::vector<std::byte*> places_;

  // The body of the attempt at hand.
  bool in_body_ = false;
  std::size_t range_ = 0;         // of the next byte
  std::uint64_t range_done_ = 0;  // bytes of that range
  std::uint64_t left_ = 0;        // payload bytes to come
  std::uint32_t crc_ = 0;
  Cause refused_ = Cause::kNone;  // the rest is thrown away
  std::uint64_t rights_epoch_ = 0;
  // The trailer, then as much of the next head as every head has: both come
  // with the last payload bytes in one call.
  std::array<std::byte, kTrailerBytes + kHeadBytesMin> tail_{};
  std::size_t tail_have_ = 0;

  // Answers. Acknowledgements are cumulative, so a slow reader gets fewer.
  std::uint64_t placed_ = 0;
  std::uint64_t placed_told_ = 0;
  bool answers_due_ = false;
  Ring<Refusal> refusals_;
  std::array<std::byte, 64 * kHeaderBytes> out_{};
  std::size_t out_have_ = 0;
  std::size_t out_sent_ = 0;
};

}  // namespace spindrift::rails::tcp
