#include "rails/tcp/inbound_read.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "rails/tcp/socket.h"

namespace spindrift::rails::tcp {
namespace {

// Some heads of full size, hundreds of small ones.
constexpr std::size_t kInBytes = 2 * kHeadBytesMax;
// Ranges of all queued requests: one being served and one waiting, at least.
constexpr std::size_t kPlacesMax = 2 * kRangesMax;

constexpr std::array<std::byte, 64 * 1024> kZeros{};

}  // namespace

InboundRead::InboundRead(FileDescriptor socket, std::uint32_t rights_peer, InboundRecord& record,
                         std::uint32_t requests_max)
    : InboundConnection(std::move(socket), rights_peer, record),
      in_(kInBytes),
      next_request_(record.next()),
      requests_(std::max<std::uint32_t>(1, requests_max)),
      places_(kPlacesMax) {}

Served InboundRead::serve(bool readable, bool writable, LaneContext& context) {
  // With a backlog the socket is known to be full until epoll says otherwise.
  const bool backlog = !requests_.empty();
  Served served;
  if (readable && !stalled_) served = receive(context);
  if (served.down != Cause::kNone || (backlog && !writable)) return served;
  const Served answered = send(context);
  served.bytes += answered.bytes;
  served.down = answered.down;
  if (stalled_ && served.down == Cause::kNone && !parse()) served.down = Cause::kProtocol;
  return served;
}

Served InboundRead::receive(LaneContext& context) {
  const iovec piece{in_.data() + in_have_, in_.size() - in_have_};
  ++context.counters.system_calls;
  const Moved moved = receive_some(socket_.get(), &piece, 1);
  in_have_ += moved.bytes;
  if (moved.bytes > 0 && !parse()) return {moved.bytes, Cause::kProtocol};
  return {moved.bytes, moved.down};
}

bool InboundRead::parse() {
  stalled_ = false;
  std::size_t at = 0;
  while (in_have_ - at >= kHeaderBytes) {
    const std::span<const std::byte> rest(in_.data() + at, in_have_ - at);
    const auto header = decode_header(rest.first<kHeaderBytes>());
    if (!header || header->type != FrameType::kReadRequest) return false;
    if (header->seq != next_request_) return false;
    if (rest.size() < header->head_bytes()) break;
    stalled_ = requests_.full() || places_.capacity() - places_.size() < header->ranges;
    if (stalled_) break;
    if (!take_request(*header, rest.first(header->head_bytes()))) return false;
    at += header->head_bytes();
  }
  in_have_ -= at;
  std::memmove(in_.data(), in_.data() + at, in_have_);
  return true;
}

bool InboundRead::take_request(const FrameHeader& header, std::span<const std::byte> head) {
  if (!head_is_sound(header, head)) return false;
  Request request;
  request.bytes = header.bytes;
  request.ranges = header.ranges;
  request.checksum = header.checksum;
  requests_.push(request);
  for (std::size_t i = 0; i < header.ranges; ++i) {
    places_.push({nullptr, range_of(head.data(), i)});
  }
  ++next_request_;
  return true;
}

Served InboundRead::send(LaneContext& context) {
  Served served;
  while (!requests_.empty() && served.bytes < kLaneBudget) {
    context.batch.clear();
    fill(context, std::min(kCallBytes, kLaneBudget - served.bytes));
    ++context.counters.system_calls;
    const Moved moved = send_some(socket_.get(), context.batch.pieces(), context.batch.count());
    served.down = moved.down;
    if (moved.down != Cause::kNone) break;
    const bool full = moved.bytes < context.batch.bytes();
    sent(moved.bytes, context);
    served.bytes += moved.bytes;
    if (full) break;
  }
  return served;
}

void InboundRead::fill(LaneContext& context, std::uint64_t bytes_max) {
  std::size_t first_place = 0;
  for (std::size_t i = 0; i < requests_.size() && context.batch.bytes() < bytes_max; ++i) {
    if (!fill_answer(i, first_place, context, bytes_max)) return;
    first_place += requests_[i].ranges;
  }
}

bool InboundRead::fill_answer(std::size_t i, std::size_t first_place, LaneContext& context,
                              std::uint64_t bytes_max) {
  Request& request = requests_[i];
  const std::uint64_t from = i == 0 ? position_ : 0;
  const Point at = from == 0 ? Point{first_place, 0} : point_;
  const bool stale = request.rights_epoch != context.regions_epoch;
  if (from == 0) {
    if (stale) {
      request.cause = Cause::kNone;
      check_rights(request, at, first_place + request.ranges, context);
    }
    request.answer = request.cause == Cause::kNone ? Answer::kData : Answer::kRefusal;
  } else if (stale && request.answer == Answer::kData && request.cause == Cause::kNone) {
    check_rights(request, at, first_place + request.ranges, context);
  }
  IoBatch& batch = context.batch;
  if (from < kHeaderBytes && !fill_header(request, record_.next() + i, from, batch)) return false;
  if (request.answer == Answer::kRefusal) return true;

  const std::uint64_t done = from > kHeaderBytes ? from - kHeaderBytes : 0;
  if (done < request.bytes) {
    const bool whole = request.cause == Cause::kNone
                           ? fill_payload(request, done, at, context, bytes_max)
                           : fill_zeros(request.bytes - done, batch, bytes_max);
    if (!whole) return false;
  }
  return fill_trailer(request, done > request.bytes ? done - request.bytes : 0, batch);
}

bool InboundRead::fill_header(Request& request, AttemptSeq seq, std::uint64_t from,
                              IoBatch& batch) {
  if (batch.room() == 0) return false;
  const std::span<std::byte> bytes = batch.arena(kHeaderBytes);
  if (bytes.empty()) return false;
  FrameHeader header;
  header.seq = seq;
  if (request.answer == Answer::kRefusal) {
    header.type = FrameType::kRefuse;
    header.cause = request.cause;
  } else {
    header.type = FrameType::kReadData;
    header.checksum = request.checksum;
    header.bytes = request.bytes;
  }
  seal_head(header, bytes);
  batch.add(bytes.data() + from, kHeaderBytes - static_cast<std::size_t>(from));
  return true;
}

bool InboundRead::fill_payload(Request& request, std::uint64_t done, Point at, LaneContext& context,
                               std::uint64_t bytes_max) {
  IoBatch& batch = context.batch;
  while (done < request.bytes) {
    if (batch.room() == 0 || batch.bytes() >= bytes_max) return false;
    const Place& place = places_[at.place];
    const std::uint64_t length = std::min(place.range.length - at.done, bytes_max - batch.bytes());
    const std::byte* const piece = place.at + at.done;
    const std::uint64_t end = done + length;
    if (request.checksum && request.checked < end) {
      const std::uint64_t known = request.checked - done;
      request.crc = crc32c(request.crc, piece + known, static_cast<std::size_t>(length - known));
      request.checked = end;
    }
    batch.add(piece, static_cast<std::size_t>(length));
    done = end;
    at.done += length;
    if (at.done == place.range.length) at = {at.place + 1, 0};
  }
  return true;
}

bool InboundRead::fill_zeros(std::uint64_t bytes, IoBatch& batch, std::uint64_t bytes_max) {
  while (bytes > 0) {
    if (batch.room() == 0 || batch.bytes() >= bytes_max) return false;
    const std::uint64_t piece =
        std::min({bytes, std::uint64_t{kZeros.size()}, bytes_max - batch.bytes()});
    batch.add(kZeros.data(), static_cast<std::size_t>(piece));
    bytes -= piece;
  }
  return true;
}

bool InboundRead::fill_trailer(const Request& request, std::uint64_t from, IoBatch& batch) {
  if (batch.room() == 0) return false;
  const std::span<std::byte> trailer = batch.arena(kTrailerBytes);
  if (trailer.empty()) return false;
  encode_trailer({request.crc, request.cause}, trailer.first<kTrailerBytes>());
  batch.add(trailer.data() + from, kTrailerBytes - static_cast<std::size_t>(from));
  return true;
}

// Of what is still to be read; notes the first cause against it.
void InboundRead::check_rights(Request& request, Point from, std::size_t end,
                               LaneContext& context) {
  request.rights_epoch = context.regions_epoch;
  std::uint64_t done = from.done;
  for (std::size_t i = from.place; i < end && request.cause == Cause::kNone; ++i) {
    Place& place = places_[i];
    std::byte* const at =
        context.regions->check(rights_peer_, place.range.key, place.range.remote + done,
                               place.range.length - done, Rights::kRemoteRead, request.cause);
    if (at != nullptr) place.at = at - done;
    done = 0;
  }
}

void InboundRead::sent(std::uint64_t bytes, LaneContext& context) {
  while (bytes > 0) {
    const Request& request = requests_.front();
    const bool data = request.answer == Answer::kData;
    const std::uint64_t total = kHeaderBytes + (data ? request.bytes + kTrailerBytes : 0);
    const std::uint64_t step = std::min(bytes, total - position_);
    if (data) {
      const auto payload_before = [&request](std::uint64_t position) {
        return std::clamp<std::uint64_t>(position, kHeaderBytes, kHeaderBytes + request.bytes);
      };
      const std::uint64_t payload = payload_before(position_ + step) - payload_before(position_);
      if (request.cause == Cause::kNone) context.counters.bytes_served += payload;
      advance_point(payload);
    }
    position_ += step;
    bytes -= step;
    if (position_ == total) finish_front(context);
  }
}

void InboundRead::advance_point(std::uint64_t bytes) {
  while (bytes > 0) {
    const std::uint64_t length = places_[point_.place].range.length;
    const std::uint64_t step = std::min(bytes, length - point_.done);
    point_.done += step;
    bytes -= step;
    if (point_.done == length) point_ = {point_.place + 1, 0};
  }
}

void InboundRead::finish_front(LaneContext& context) {
  const Request request = requests_.front();
  for (std::size_t i = 0; i < request.ranges; ++i) places_.pop();
  requests_.pop();
  position_ = 0;
  point_ = {};
  if (request.cause == Cause::kNone) {
    record_.settle();
  } else {
    record_.refuse();
    ++context.counters.attempts_refused;
  }
}

}  // namespace spindrift::rails::tcp
