// The control session from one simulated node to another: the real Session and
// codec at both ends, over connections that lose, delay, duplicate and reorder
// frames and that come and go. It checks that each message arrives once and in
// order.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "base/prng.h"
#include "control/control_plane.h"
#include "control/session.h"
#include "rails/sim/event_queue.h"

namespace spindrift::lab::sim {

struct ControlFaults {
  std::uint32_t lose_per_mille = 0;
  std::uint32_t duplicate_per_mille = 0;
  std::uint32_t cut_per_mille = 0;  // per frame: its connection breaks
  Duration delay_max = std::chrono::milliseconds(1);
};

class SimControl {
 public:
  SimControl(rails::sim::EventQueue& queue, Prng& prng, const ControlFaults& faults);

  // What arrives, at the responder and at the initiator.
  std::function<void(const control::FenceRequest&)> on_request;
  std::function<void(const control::FenceReply&)> on_reply;
  // A frame that a correct peer cannot have sent: a bug.
  std::function<void(const std::string&)> on_error;

  void send(const control::FenceRequest& request);
  void send(const control::FenceReply& reply);
  // No more faults from now on, so that what waits gets through.
  void heal() { faults_ = ControlFaults{}; }
  // Messages on their way, in both directions.
  std::size_t undelivered() const { return sent_[0].size() + sent_[1].size(); }

 private:
  enum End : int { kInitiator = 0, kResponder = 1 };

  void send(End end, std::string message);
  void connect();
  void cut(control::ConnectionId connection);
  void pump(End end);
  void carry(End to, control::ConnectionId connection, const std::string& bytes);
  void deliver(End end, const std::string& message);
  void arm_timer(End end);

  rails::sim::EventQueue& queue_;
  Prng& prng_;
  ControlFaults faults_;
  control::Session ends_[2];
  std::deque<std::string> sent_[2];  // by the end that sent it
  Instant timer_[2] = {kNever, kNever};
  control::ConnectionId next_connection_ = 1;
};

}  // namespace spindrift::lab::sim
