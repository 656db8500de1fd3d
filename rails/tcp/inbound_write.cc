#include "rails/tcp/inbound_write.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rails/tcp/socket.h"

namespace spindrift::rails::tcp {
namespace {

// While this many wait to be sent, nothing more is received.
constexpr std::size_t kRefusalsMax = 64;

}  // namespace

InboundWrite::InboundWrite(FileDescriptor socket, std::uint32_t rights_peer, InboundRecord& record)
    : InboundConnection(std::move(socket), rights_peer, record),
      head_(kHeadBytesMax),
      places_(kRangesMax),
      refusals_(kRefusalsMax) {}

Served InboundWrite::serve(bool readable, bool writable, LaneContext& context) {
  Served served;
  while (readable && wants_to_receive() && served.bytes < kLaneBudget) {
    context.batch.clear();
    gather(context, std::min(kCallBytes, kLaneBudget - served.bytes));
    const std::uint64_t wanted = context.batch.bytes();
    ++context.counters.system_calls;
    const Moved moved = receive_some(socket_.get(), context.batch.pieces(), context.batch.count());
    served.bytes += moved.bytes;
    served.down = moved.down;
    if (moved.bytes > 0 && !consume(moved.bytes, context)) served.down = Cause::kProtocol;
    // Less than asked for: the socket is empty, which epoll would say as well.
    if (moved.bytes < wanted || served.down != Cause::kNone) break;
  }
  // Also when the peer is gone for sending: it may still want to hear.
  if (served.down != Cause::kProtocol && (answers_due_ || writable)) {
    const Cause down = send_answers(context);
    if (served.down == Cause::kNone) served.down = down;
  }
  return served;
}

void InboundWrite::gather(LaneContext& context, std::uint64_t bytes_max) {
  if (in_body_) {
    if (rights_epoch_ != context.regions_epoch) check_rights(context);
    gather_payload(context, bytes_max);
    if (context.batch.bytes() < left_) return;
    context.batch.add(tail_.data() + tail_have_, tail_.size() - tail_have_);
    return;
  }
  const std::size_t want = header_known_ ? header_.head_bytes() : kHeadBytesMin;
  context.batch.add(head_.data() + head_have_, want - head_have_);
}

void InboundWrite::gather_payload(LaneContext& context, std::uint64_t bytes_max) {
  IoBatch& batch = context.batch;
  const std::uint64_t most = std::min(left_, bytes_max);
  if (refused_ != Cause::kNone) {
    while (batch.bytes() < most && batch.room() > 1) {
      batch.add(context.scratch.data(),
                std::min<std::uint64_t>(context.scratch.size(), most - batch.bytes()));
    }
    return;
  }
  std::uint64_t done = range_done_;
  for (std::size_t i = range_; batch.bytes() < most && batch.room() > 1; ++i) {
    const std::uint64_t length = range_of(head_.data(), i).length - done;
    batch.add(places_[i] + done, std::min(length, most - batch.bytes()));
    done = 0;
  }
}

bool InboundWrite::consume(std::uint64_t bytes, LaneContext& context) {
  if (in_body_) {
    const std::uint64_t payload = std::min(bytes, left_);
    take_payload(payload, context);
    tail_have_ += static_cast<std::size_t>(bytes - payload);
    if (left_ > 0 || tail_have_ < kTrailerBytes) return true;
    if (!take_trailer(context)) return false;
    // What came of the next head moves to where heads are read.
    head_have_ = tail_have_ - kTrailerBytes;
    std::memcpy(head_.data(), tail_.data() + kTrailerBytes, head_have_);
    in_body_ = false;
    header_known_ = false;
  } else {
    head_have_ += static_cast<std::size_t>(bytes);
  }
  return take_head(context);
}

bool InboundWrite::take_head(LaneContext& context) {
  if (!header_known_) {
    if (head_have_ < kHeadBytesMin) return true;
    const auto header = decode_header(std::span<const std::byte>(head_).first<kHeaderBytes>());
    if (!header || header->type != FrameType::kWriteData) return false;
    if (header->seq != record_.next()) return false;
    header_ = *header;
    header_known_ = true;
  }
  if (head_have_ < header_.head_bytes()) return true;
  if (!head_is_sound(header_, std::span(head_).first(header_.head_bytes()))) return false;
  in_body_ = true;
  range_ = 0;
  range_done_ = 0;
  left_ = header_.bytes;
  crc_ = 0;
  refused_ = Cause::kNone;
  tail_have_ = 0;
  check_rights(context);
  return true;
}

// Of what is still to be placed.
void InboundWrite::check_rights(LaneContext& context) {
  rights_epoch_ = context.regions_epoch;
  std::uint64_t done = range_done_;
  for (std::size_t i = range_; i < header_.ranges && refused_ == Cause::kNone; ++i) {
    const WireRange range = range_of(head_.data(), i);
    std::byte* const at =
        context.regions->check(rights_peer_, range.key, range.remote + done, range.length - done,
                               Rights::kRemoteWrite, refused_);
    if (at != nullptr) places_[i] = at - done;
    done = 0;
  }
}

void InboundWrite::take_payload(std::uint64_t bytes, LaneContext& context) {
  left_ -= bytes;
  if (refused_ != Cause::kNone) return;
  placed_ += bytes;
  context.counters.bytes_placed += bytes;
  if (placed_ - placed_told_ >= context.options.ack_every) answers_due_ = true;
  while (bytes > 0) {
    const std::uint64_t length = range_of(head_.data(), range_).length;
    const std::uint64_t step = std::min(bytes, length - range_done_);
    if (header_.checksum) {
      crc_ = crc32c(crc_, places_[range_] + range_done_, static_cast<std::size_t>(step));
    }
    range_done_ += step;
    bytes -= step;
    if (range_done_ == length) {
      ++range_;
      range_done_ = 0;
    }
  }
}

bool InboundWrite::take_trailer(LaneContext& context) {
  const auto trailer = decode_trailer(std::span<const std::byte>(tail_).first<kTrailerBytes>());
  if (!trailer) return false;
  if (refused_ == Cause::kNone) refused_ = trailer->cause;
  if (refused_ == Cause::kNone && header_.checksum && trailer->crc != crc_) {
    refused_ = Cause::kChecksum;
  }
  answers_due_ = true;
  if (refused_ == Cause::kNone) {
    record_.settle();
    return true;
  }
  // There is room: nothing is received while there is none, and one call ends
  // one attempt at most.
  refusals_.push({record_.next(), refused_});
  record_.refuse();
  ++context.counters.attempts_refused;
  return true;
}

Cause InboundWrite::send_answers(LaneContext& context) {
  while (wants_to_send()) {
    if (out_sent_ == out_have_) encode_answers();
    const iovec piece{out_.data() + out_sent_, out_have_ - out_sent_};
    ++context.counters.system_calls;
    const Moved moved = send_some(socket_.get(), &piece, 1);
    if (moved.down != Cause::kNone) return moved.down;
    out_sent_ += moved.bytes;
    if (out_sent_ < out_have_) break;
  }
  return Cause::kNone;
}

// Refusals go before the acknowledgement that covers them.
void InboundWrite::encode_answers() {
  out_have_ = 0;
  out_sent_ = 0;
  const auto put = [this](const FrameHeader& header) {
    seal_head(header, std::span(out_).subspan(out_have_, kHeaderBytes));
    out_have_ += kHeaderBytes;
  };
  while (!refusals_.empty() && out_have_ < out_.size()) {
    const Refusal refusal = refusals_.front();
    refusals_.pop();
    FrameHeader header;
    header.type = FrameType::kRefuse;
    header.cause = refusal.cause;
    header.seq = refusal.seq;
    put(header);
  }
  if (out_have_ == out_.size()) return;
  FrameHeader header;
  header.type = FrameType::kAck;
  header.seq = record_.next();
  header.bytes = placed_;
  put(header);
  placed_told_ = placed_;
  answers_due_ = false;
}

}  // namespace spindrift::rails::tcp
