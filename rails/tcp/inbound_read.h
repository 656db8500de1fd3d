// The serving end of a read lane. Requests are parsed ahead as far as fixed
// buffers go; the rest waits in the socket, which pushes back on the initiator.
// Data goes from the registered memory straight into the socket, under rights
// that are checked for the whole request before its first byte, and again for
// the rest when the table of rights changed. A request that loses its rights in
// the middle is filled up with zeros and its trailer says why.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ring.h"
#include "rails/tcp/frames.h"
#include "rails/tcp/inbound_lane.h"

namespace spindrift::rails::tcp {

class InboundRead final : public InboundConnection {
 public:
  InboundRead(FileDescriptor socket, std::uint32_t rights_peer, InboundRecord& record,
              std::uint32_t requests_max);

  Served serve(bool readable, bool writable, LaneContext& context) override;
  bool wants_to_receive() const override { return !stalled_; }
  bool wants_to_send() const override { return !requests_.empty(); }

 private:
  // What a request is answered with; open until its first byte was sent.
  enum class Answer : std::uint8_t { kOpen, kData, kRefusal };
  struct Request {
    std::uint64_t bytes = 0;
    std::uint64_t checked = 0;       // payload bytes that `crc` covers
    std::uint64_t rights_epoch = 0;  // 0: rights never checked
    std::uint32_t crc = 0;
    std::uint16_t ranges = 0;
    bool checksum = false;
    Answer answer = Answer::kOpen;
    Cause cause = Cause::kNone;
  };
  struct Place {
    std::byte* at = nullptr;  // once rights were checked
    WireRange range;
  };
  // A point in the payload of a request.
  struct Point {
    std::size_t place = 0;   // counted from the front of places_
    std::uint64_t done = 0;  // bytes of that place
  };

  Served receive(LaneContext& context);
  [[nodiscard]] bool parse();
  [[nodiscard]] bool take_request(const FrameHeader& header, std::span<const std::byte> head);

  Served send(LaneContext& context);
  void fill(LaneContext& context, std::uint64_t bytes_max);
  // False when the batch is full before the answer's end.
  bool fill_answer(std::size_t i, std::size_t first_place, LaneContext& context,
                   std::uint64_t bytes_max);
  bool fill_header(Request& request, AttemptSeq seq, std::uint64_t from, IoBatch& batch);
  bool fill_payload(Request& request, std::uint64_t done, Point at, LaneContext& context,
                    std::uint64_t bytes_max);
  bool fill_zeros(std::uint64_t bytes, IoBatch& batch, std::uint64_t bytes_max);
  bool fill_trailer(const Request& request, std::uint64_t from, IoBatch& batch);
  void check_rights(Request& request, Point from, std::size_t end, LaneContext& context);

  void sent(std::uint64_t bytes, LaneContext& context);
  void advance_point(std::uint64_t bytes);
  void finish_front(LaneContext& context);

  std::vector<std::byte> in_;  // heads as they come
  std::size_t in_have_ = 0;
  bool stalled_ = false;     // a complete head waits in in_ for room
  AttemptSeq next_request_;  // seq of the next head

  Ring<Request> requests_;      // record_.next() is the seq of the front
  Ring<Place> places_;          // of all requests, in order
  std::uint64_t position_ = 0;  // in the answer to the front
  Point point_;                 // its next payload byte
};

}  // namespace spindrift::rails::tcp
