#include "rails/tcp/outbound_queue.h"

#include <algorithm>

#include "base/check.h"
#include "rails/tcp/frames.h"

namespace spindrift::rails::tcp {

void OutboundQueue::push(const Attempt& attempt) {
  SPINDRIFT_CHECK(attempt.seq == front_seq_ + slots_.size());
  SPINDRIFT_CHECK(attempt.bytes > 0 && attempt.bytes <= kSliceMax);
  SPINDRIFT_CHECK(attempt.ranges > 0 && attempt.ranges <= kRangesMax);
  Slot slot;
  slot.descriptors = attempt.descriptors;
  slot.offset = attempt.offset;
  slot.bytes = attempt.bytes;
  slot.checksum = attempt.checksum;
  slot.ranges = static_cast<std::uint16_t>(attempt.ranges);
  SPINDRIFT_CHECK(slots_.push(slot));
}

std::uint64_t OutboundQueue::frame_bytes(const Slot& slot) const {
  return slot.head_bytes + (with_payload_ ? slot.bytes + kTrailerBytes : 0);
}

void OutboundQueue::fill(IoBatch& batch, std::uint64_t bytes_max) {
  for (std::size_t i = sent_; i < slots_.size() && batch.bytes() < bytes_max; ++i) {
    if (!fill_frame(i, batch, bytes_max)) return;
  }
}

// False when the batch is full before the frame's end.
bool OutboundQueue::fill_frame(std::size_t i, IoBatch& batch, std::uint64_t bytes_max) {
  Slot& slot = slots_[i];
  const std::uint64_t from = i == sent_ ? position_ : 0;
  if (from == 0 || from < slot.head_bytes) {
    if (!fill_head(i, from, batch)) return false;
  }
  if (!with_payload_) return true;
  PayloadCursor at = from == 0 ? PayloadCursor(slot.descriptors, slot.offset) : cursor_;
  std::uint64_t done = from > slot.head_bytes ? from - slot.head_bytes : 0;
  if (done < slot.bytes && !fill_payload(slot, done, at, batch, bytes_max)) return false;
  return fill_trailer(slot, done - slot.bytes, batch);
}

bool OutboundQueue::fill_head(std::size_t i, std::uint64_t from, IoBatch& batch) {
  Slot& slot = slots_[i];
  const std::size_t reserved = kHeaderBytes + slot.ranges * kRangeBytes;
  if (batch.room() == 0) return false;
  std::span<std::byte> head = batch.arena(reserved);
  if (head.empty()) return false;

  FrameHeader header;
  header.type = with_payload_ ? FrameType::kWriteData : FrameType::kReadRequest;
  header.checksum = slot.checksum;
  header.seq = front_seq_ + i;
  header.bytes = slot.bytes;
  // Descriptors that continue each other at the remote end become one range.
  WireRange range;
  PayloadCursor at(slot.descriptors, slot.offset);
  for (std::uint64_t done = 0; done < slot.bytes;) {
    const auto length = static_cast<std::uint32_t>(at.piece(slot.bytes - done).size());
    const bool continues = header.ranges > 0 && range.key == at.remote_key() &&
                           range.remote + range.length == at.remote();
    if (!continues) {
      SPINDRIFT_CHECK(header.ranges < slot.ranges);
      range = {at.remote(), 0, at.remote_key()};
      ++header.ranges;
    }
    range.length += length;
    encode_range(range, head.data() + kHeaderBytes + (header.ranges - 1u) * kRangeBytes);
    at.advance(length);
    done += length;
  }
  seal_head(header, head.first(header.head_bytes()));
  batch.give_back(reserved - header.head_bytes());
  slot.head_bytes = static_cast<std::uint16_t>(header.head_bytes());
  batch.add(head.data() + from, slot.head_bytes - static_cast<std::size_t>(from));
  return true;
}

bool OutboundQueue::fill_payload(Slot& slot, std::uint64_t& done, PayloadCursor& at, IoBatch& batch,
                                 std::uint64_t bytes_max) {
  while (done < slot.bytes) {
    if (batch.room() == 0 || batch.bytes() >= bytes_max) return false;
    const std::span<std::byte> piece =
        at.piece(std::min(slot.bytes - done, bytes_max - batch.bytes()));
    const std::uint64_t end = done + piece.size();
    if (slot.checksum && slot.checked < end) {
      // What an earlier, short call did not send was summed up then.
      const std::size_t known = static_cast<std::size_t>(slot.checked - done);
      slot.crc = crc32c(slot.crc, piece.data() + known, piece.size() - known);
      slot.checked = end;
    }
    batch.add(piece.data(), piece.size());
    at.advance(piece.size());
    done = end;
  }
  return true;
}

bool OutboundQueue::fill_trailer(const Slot& slot, std::uint64_t from, IoBatch& batch) {
  if (batch.room() == 0) return false;
  const std::span<std::byte> trailer = batch.arena(kTrailerBytes);
  if (trailer.empty()) return false;
  encode_trailer({slot.crc, Cause::kNone}, trailer.first<kTrailerBytes>());
  batch.add(trailer.data() + from, kTrailerBytes - static_cast<std::size_t>(from));
  return true;
}

void OutboundQueue::sent(std::uint64_t bytes) {
  while (bytes > 0) {
    SPINDRIFT_CHECK(sent_ < slots_.size());
    const Slot& slot = slots_[sent_];
    if (position_ == 0) cursor_ = PayloadCursor(slot.descriptors, slot.offset);
    const std::uint64_t total = frame_bytes(slot);
    const std::uint64_t step = std::min(bytes, total - position_);
    if (with_payload_) {
      const auto payload_before = [&slot](std::uint64_t position) {
        return std::clamp<std::uint64_t>(position, slot.head_bytes, slot.head_bytes + slot.bytes);
      };
      const std::uint64_t payload = payload_before(position_ + step) - payload_before(position_);
      cursor_.advance(payload);
      payload_sent_ += payload;
    }
    position_ += step;
    bytes -= step;
    if (position_ == total) {
      ++sent_;
      position_ = 0;
    }
  }
}

OutboundQueue::Expected OutboundQueue::expected() {
  const Slot& slot = slots_[settled_];
  return {PayloadCursor(slot.descriptors, slot.offset), slot.bytes, slot.checksum};
}

bool OutboundQueue::settle_to(AttemptSeq end) {
  if (end < front_seq_ + settled_ || end > front_seq_ + sent_) return false;
  settled_ = static_cast<std::size_t>(end - front_seq_);
  return true;
}

bool OutboundQueue::refuse(AttemptSeq seq, Cause cause) {
  if (seq < front_seq_ + settled_ || seq >= front_seq_ + sent_) return false;
  const auto i = static_cast<std::size_t>(seq - front_seq_);
  slots_[i].outcome = cause;
  settled_ = i + 1;
  return true;
}

void OutboundQueue::tell(LaneIndex lane, Generation generation, BoundedVector<RailEvent>& events) {
  while (settled_ > 0 && !events.full()) {
    const Cause outcome = slots_.front().outcome;
    RailEvent event;
    event.kind = outcome == Cause::kNone ? RailEventKind::kLanded : RailEventKind::kFailed;
    event.cause = outcome;
    event.lane = lane;
    event.generation = generation;
    event.value = front_seq_;
    events.push(event);
    slots_.pop();
    ++front_seq_;
    --settled_;
    --sent_;
  }
}

}  // namespace spindrift::rails::tcp
