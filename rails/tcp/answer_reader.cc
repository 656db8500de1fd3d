#include "rails/tcp/answer_reader.h"

#include <algorithm>
#include <cstring>

#include "rails/tcp/socket.h"

namespace spindrift::rails::tcp {

Served AckReader::serve(int fd, OutboundQueue& queue, LaneContext& context) {
  // Answers are small and cumulative: one full scratch buffer is a turn.
  std::byte* const buffer = context.scratch.data();
  std::memcpy(buffer, partial_.data(), have_);
  const iovec piece{buffer + have_, context.scratch.size() - have_};
  ++context.counters.system_calls;
  const Moved moved = receive_some(fd, &piece, 1);
  if (moved.bytes == 0) return {0, moved.down};

  const std::size_t have = have_ + moved.bytes;
  std::size_t at = 0;
  for (; have - at >= kHeaderBytes; at += kHeaderBytes) {
    const std::span<const std::byte, kHeaderBytes> bytes(buffer + at, kHeaderBytes);
    const auto header = decode_header(bytes);
    if (!header ||
        !head_is_sound(*header, bytes.first(std::min(header->head_bytes(), kHeaderBytes))) ||
        !accept(*header, queue)) {
      return {moved.bytes, Cause::kProtocol};
    }
  }
  have_ = have - at;
  std::memcpy(partial_.data(), buffer + at, have_);
  return {moved.bytes, Cause::kNone};
}

bool AckReader::accept(const FrameHeader& header, OutboundQueue& queue) {
  if (header.type == FrameType::kRefuse) return queue.refuse(header.seq, header.cause);
  if (header.type != FrameType::kAck) return false;
  if (header.bytes < placed_ || header.bytes > queue.payload_sent()) return false;
  placed_ = header.bytes;
  return queue.settle_to(header.seq);
}

Served ReadReceiver::serve(int fd, OutboundQueue& queue, LaneContext& context) {
  Served served;
  while (served.bytes < kLaneBudget) {
    context.batch.clear();
    gather(context.batch, std::min(kCallBytes, kLaneBudget - served.bytes));
    const std::uint64_t wanted = context.batch.bytes();
    ++context.counters.system_calls;
    const Moved moved = receive_some(fd, context.batch.pieces(), context.batch.count());
    served.bytes += moved.bytes;
    served.down = moved.down;
    if (moved.bytes > 0 && !consume(moved.bytes, queue)) served.down = Cause::kProtocol;
    // Less than asked for: the socket is empty, which epoll would say as well.
    if (moved.bytes < wanted || served.down != Cause::kNone) break;
  }
  return served;
}

void ReadReceiver::gather(IoBatch& batch, std::uint64_t bytes_max) {
  if (in_data_) {
    PayloadCursor at = data_.destination;
    std::uint64_t left = left_;
    while (left > 0 && batch.room() > 1 && batch.bytes() < bytes_max) {
      const std::span<std::byte> piece = at.piece(std::min(left, bytes_max - batch.bytes()));
      batch.add(piece.data(), piece.size());
      at.advance(piece.size());
      left -= piece.size();
    }
    if (left > 0) return;
  }
  batch.add(tail_.data() + tail_have_, tail_.size() - tail_have_);
}

bool ReadReceiver::consume(std::uint64_t bytes, OutboundQueue& queue) {
  if (in_data_ && left_ > 0) {
    const std::uint64_t payload = std::min(bytes, left_);
    take_payload(payload);
    bytes -= payload;
  }
  if (bytes == 0) return true;
  tail_have_ += static_cast<std::size_t>(bytes);
  if (in_data_ && tail_have_ >= kTrailerBytes && !take_trailer(queue)) return false;
  return tail_have_ < tail_.size() || take_header(queue);
}

void ReadReceiver::take_payload(std::uint64_t bytes) {
  left_ -= bytes;
  received_ += bytes;
  if (!data_.checksum) {
    data_.destination.advance(bytes);
    return;
  }
  while (bytes > 0) {
    const std::span<std::byte> piece = data_.destination.piece(bytes);
    crc_ = crc32c(crc_, piece.data(), piece.size());
    data_.destination.advance(piece.size());
    bytes -= piece.size();
  }
}

bool ReadReceiver::take_trailer(OutboundQueue& queue) {
  in_data_ = false;
  const auto trailer = decode_trailer(std::span(tail_).first<kTrailerBytes>());
  if (!trailer) return false;
  const AttemptSeq seq = queue.answer_due();
  if (trailer->cause != Cause::kNone) return queue.refuse(seq, trailer->cause);
  if (data_.checksum && trailer->crc != crc_) return queue.refuse(seq, Cause::kChecksum);
  return queue.settle_to(seq + 1);
}

bool ReadReceiver::take_header(OutboundQueue& queue) {
  tail_have_ = kTrailerBytes;
  const std::span<const std::byte, kHeaderBytes> bytes(tail_.data() + kTrailerBytes, kHeaderBytes);
  const auto header = decode_header(bytes);
  if (!header || header->ranges != 0 || !head_is_sound(*header, bytes)) return false;
  // Requests are answered in order.
  if (!queue.awaits_answer() || header->seq != queue.answer_due()) return false;
  if (header->type == FrameType::kRefuse) return queue.refuse(header->seq, header->cause);
  if (header->type != FrameType::kReadData) return false;
  data_ = queue.expected();
  if (header->bytes != data_.bytes || header->checksum != data_.checksum) return false;
  left_ = data_.bytes;
  crc_ = 0;
  in_data_ = true;
  tail_have_ = 0;
  return true;
}

}  // namespace spindrift::rails::tcp
