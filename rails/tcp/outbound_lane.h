// One lane of which this end is the initiator: its socket, its outstanding
// attempts, and the events that were not told yet. Events wait here, not in a
// queue: each is a fact of the lane's state, so none is ever lost or twice.
// Owned by one thread. post(), serve() and fence() do not allocate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/bounded_vector.h"
#include "base/file_descriptor.h"
#include "rails/rail.h"
#include "rails/tcp/answer_reader.h"
#include "rails/tcp/lane_context.h"
#include "rails/tcp/outbound_queue.h"

namespace spindrift::rails::tcp {

// What epoll said of a socket.
struct Readiness {
  bool readable = false;
  bool writable = false;
};

class OutboundLane {
 public:
  // `epoll` watches its socket, once the driver has added it.
  OutboundLane(const LaneSpec& spec, std::uint32_t attempts_max, int epoll)
      : index_(spec.lane), direction_(spec.direction), attempts_max_(attempts_max), epoll_(epoll) {}

  void connect(Generation generation, AttemptSeq first_seq, FileDescriptor socket);
  // How many were taken. Sends what the socket takes at once, within a budget.
  std::size_t post(std::span<const Attempt> attempts, LaneContext& context);
  void fence(Generation generation);
  // After epoll said that the socket is ready.
  std::uint64_t serve(Instant now, Readiness ready, LaneContext& context);
  // The connection is over; the first cause is told.
  void break_down(Cause cause);

  // Appends events while there is room; true when none is left.
  bool tell(BoundedVector<RailEvent>& events);

  bool up() const { return state_ == State::kUp; }
  bool idle() const { return state_ == State::kIdle; }
  int fd() const { return socket_.get(); }
  // Something waits for the socket to take it.
  bool wants_to_send() const { return up() && !stream_->queue.all_sent(); }

  std::uint32_t interest = 0;  // what epoll was asked for; the driver's note
  bool dirty = false;          // in the driver's list of lanes with news

 private:
  enum class State : std::uint8_t {
    kIdle,  // never connected, or fenced
    kUp,    // serves
    kDown,  // broke; waits to be fenced
  };
  // What exists from connect to fence.
  struct Stream {
    Stream(std::uint32_t attempts_max, Operation direction, AttemptSeq first_seq)
        : queue(attempts_max, direction == Operation::kWrite, first_seq) {}
    OutboundQueue queue;
    AckReader acks;
    ReadReceiver reads;
  };

  Cause send_queued(LaneContext& context, std::uint64_t& bytes);
  void sample_round_trip(Instant now);
  std::uint64_t progress() const;

  const LaneIndex index_;
  const Operation direction_;
  const std::uint32_t attempts_max_;
  const int epoll_;

  State state_ = State::kIdle;
  Generation generation_ = 0;
  std::optional<Generation> last_fenced_;
  FileDescriptor socket_;
  std::unique_ptr<Stream> stream_;
  Instant round_trip_due_{};

  // News.
  std::optional<Generation> fenced_;
  bool up_news_ = false;
  std::uint64_t told_progress_ = 0;
  std::uint64_t round_trip_ns_ = 0;  // 0: no news
  Cause down_news_ = Cause::kNone;
};

}  // namespace spindrift::rails::tcp
