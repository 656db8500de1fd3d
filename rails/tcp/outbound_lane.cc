#include "rails/tcp/outbound_lane.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "rails/tcp/socket.h"

namespace spindrift::rails::tcp {
namespace {

constexpr Duration kRoundTripEvery = std::chrono::milliseconds(100);

}  // namespace

void OutboundLane::connect(Generation generation, AttemptSeq first_seq, FileDescriptor socket) {
  if (last_fenced_ && generation <= *last_fenced_) {
    // Fenced while it was being connected: nothing of it may be heard again.
    reset_and_close(socket);
    return;
  }
  SPINDRIFT_CHECK(state_ == State::kIdle);
  generation_ = generation;
  stream_ = std::make_unique<Stream>(attempts_max_, direction_, first_seq);
  told_progress_ = 0;
  round_trip_ns_ = 0;
  round_trip_due_ = {};
  if (!socket) {
    state_ = State::kDown;
    down_news_ = Cause::kConnectFailed;
    return;
  }
  socket_ = std::move(socket);
  state_ = State::kUp;
  up_news_ = true;
}

std::size_t OutboundLane::post(std::span<const Attempt> attempts, LaneContext& context) {
  if (state_ != State::kUp) return 0;
  OutboundQueue& queue = stream_->queue;
  std::size_t taken = 0;
  // With a backlog the socket is known to be full: do not ask it again.
  const bool backlog = !queue.all_sent();
  while (taken < attempts.size() && !queue.full()) {
    SPINDRIFT_CHECK(attempts[taken].generation == generation_);
    queue.push(attempts[taken++]);
  }
  if (taken == 0 || backlog) return taken;
  std::uint64_t bytes = 0;
  // An error waits for serve(), which reads the answers before it gives up.
  (void)send_queued(context, bytes);
  return taken;
}

Cause OutboundLane::send_queued(LaneContext& context, std::uint64_t& bytes) {
  OutboundQueue& queue = stream_->queue;
  while (!queue.all_sent() && bytes < kLaneBudget) {
    context.batch.clear();
    queue.fill(context.batch, std::min(kCallBytes, kLaneBudget - bytes));
    ++context.counters.system_calls;
    const Moved moved = send_some(socket_.get(), context.batch.pieces(), context.batch.count());
    if (moved.down != Cause::kNone) return moved.down;
    queue.sent(moved.bytes);
    bytes += moved.bytes;
    if (moved.bytes < context.batch.bytes()) break;  // the socket is full
  }
  return Cause::kNone;
}

std::uint64_t OutboundLane::serve(Instant now, Readiness ready, LaneContext& context) {
  if (state_ != State::kUp) return 0;
  Served served;
  // Answers first: they are what the executor waits for, and they tell the
  // cause when the peer closed with data still queued here.
  if (ready.readable) {
    served = direction_ == Operation::kWrite
                 ? stream_->acks.serve(socket_.get(), stream_->queue, context)
                 : stream_->reads.serve(socket_.get(), stream_->queue, context);
  }
  if (served.down == Cause::kNone && ready.writable) {
    served.down = send_queued(context, served.bytes);
  }
  if (served.down == Cause::kProtocol) ++context.counters.protocol_errors;
  if (served.down != Cause::kNone) {
    break_down(served.down);
    return served.bytes + 1;
  }
  if (served.bytes > 0 && now >= round_trip_due_) sample_round_trip(now);
  return served.bytes;
}

void OutboundLane::sample_round_trip(Instant now) {
  round_trip_due_ = after(now, kRoundTripEvery);
  round_trip_ns_ = read_min_round_trip_ns(socket_.get());
}

void OutboundLane::break_down(Cause cause) {
  if (state_ != State::kUp) return;
  reset_and_close(socket_, epoll_);
  state_ = State::kDown;
  down_news_ = cause;
}

void OutboundLane::fence(Generation generation) {
  fenced_ = std::max(fenced_.value_or(generation), generation);
  last_fenced_ = std::max(last_fenced_.value_or(generation), generation);
  if (state_ == State::kIdle || generation < generation_) return;
  // What was not told yet is as good as never heard: the responder's report
  // settles it.
  reset_and_close(socket_, epoll_);
  stream_.reset();
  state_ = State::kIdle;
  up_news_ = false;
  round_trip_ns_ = 0;
  down_news_ = Cause::kNone;
}

std::uint64_t OutboundLane::progress() const {
  return direction_ == Operation::kWrite ? stream_->acks.progress() : stream_->reads.progress();
}

bool OutboundLane::tell(BoundedVector<RailEvent>& events) {
  const auto say = [&](RailEventKind kind, Generation generation, std::uint64_t value,
                       Cause cause = Cause::kNone) {
    RailEvent event;
    event.kind = kind;
    event.cause = cause;
    event.lane = index_;
    event.generation = generation;
    event.value = value;
    return events.push(event);
  };
  if (fenced_) {
    if (!say(RailEventKind::kLocalFenced, *fenced_, 0)) return false;
    fenced_.reset();
  }
  if (state_ == State::kIdle) return true;
  if (up_news_) {
    if (!say(RailEventKind::kLaneUp, generation_, 0)) return false;
    up_news_ = false;
  }
  if (progress() != told_progress_) {
    if (!say(RailEventKind::kProgress, generation_, progress())) return false;
    told_progress_ = progress();
  }
  stream_->queue.tell(index_, generation_, events);
  if (stream_->queue.has_news()) return false;
  if (round_trip_ns_ != 0) {
    if (!say(RailEventKind::kRoundTrip, generation_, round_trip_ns_)) return false;
    round_trip_ns_ = 0;
  }
  if (down_news_ != Cause::kNone) {
    if (!say(RailEventKind::kLaneDown, generation_, 0, down_news_)) return false;
    down_news_ = Cause::kNone;
  }
  return true;
}

}  // namespace spindrift::rails::tcp
