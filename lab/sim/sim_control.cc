#include "lab/sim/sim_control.h"

#include "control/codec.h"

namespace spindrift::lab::sim {

namespace {
constexpr std::size_t kConnections = 2;
}  // namespace

SimControl::SimControl(rails::sim::EventQueue& queue, Prng& prng, const ControlFaults& faults)
    : queue_(queue),
      prng_(prng),
      faults_(faults),
      ends_{control::Session(control::SessionOptions{}),
            control::Session(control::SessionOptions{})} {
  for (std::size_t i = 0; i < kConnections; ++i) connect();
}

void SimControl::connect() {
  const control::ConnectionId id = next_connection_++;
  for (control::Session& end : ends_) end.connection_up(id, queue_.now());
  pump(kInitiator);
  pump(kResponder);
}

void SimControl::cut(control::ConnectionId connection) {
  for (control::Session& end : ends_) end.connection_down(connection, queue_.now());
  const Duration after = std::chrono::microseconds(static_cast<std::int64_t>(prng_.below(50'000)));
  queue_.schedule(queue_.now() + after, [this] { connect(); });
}

void SimControl::send(const control::FenceRequest& request) {
  send(kInitiator, control::encode(control::SessionMessage(request)));
}

void SimControl::send(const control::FenceReply& reply) {
  send(kResponder, control::encode(control::SessionMessage(reply)));
}

void SimControl::send(End end, std::string message) {
  sent_[end].push_back(message);
  const Status sent = ends_[end].send(std::move(message), control::Spread::kAll, queue_.now());
  if (!sent.ok()) on_error(sent.to_string());
  pump(end);
}

// Puts what an end wants to send on its way, and hands on what it delivered.
void SimControl::pump(End end) {
  const End other = end == kInitiator ? kResponder : kInitiator;
  for (const auto& outgoing : ends_[end].take_outgoing()) {
    const control::ConnectionId connection = outgoing.connection;
    if (prng_.chance(faults_.cut_per_mille)) {
      queue_.schedule(queue_.now(), [this, connection] { cut(connection); });
      continue;
    }
    if (prng_.chance(faults_.lose_per_mille)) continue;
    const int copies = prng_.chance(faults_.duplicate_per_mille) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      const Duration delay = Duration(static_cast<std::int64_t>(
          prng_.below(static_cast<std::uint64_t>(faults_.delay_max.count()) + 1)));
      queue_.schedule(queue_.now() + delay,
                      [this, other, connection, bytes = control::encode(outgoing.frame)] {
                        carry(other, connection, bytes);
                      });
    }
  }
  for (const std::string& message : ends_[end].take_delivered()) deliver(end, message);
  arm_timer(end);
}

void SimControl::carry(End to, control::ConnectionId connection, const std::string& bytes) {
  const Result<control::SessionFrame> frame = control::decode_frame(bytes);
  if (!frame.ok()) {
    on_error(frame.status().to_string());
    return;
  }
  const Status taken = ends_[to].on_frame(connection, *frame, queue_.now());
  if (!taken.ok()) on_error(taken.to_string());
  pump(to);
}

void SimControl::deliver(End end, const std::string& bytes) {
  std::deque<std::string>& expected = sent_[end == kInitiator ? kResponder : kInitiator];
  if (expected.empty() || expected.front() != bytes) {
    on_error("a message was delivered twice or out of order");
    return;
  }
  expected.pop_front();
  const Result<control::SessionMessage> message = control::decode_message(bytes);
  if (!message.ok()) {
    on_error(message.status().to_string());
    return;
  }
  if (const auto* request = std::get_if<control::FenceRequest>(&*message)) {
    if (end == kResponder) on_request(*request);
  } else if (const auto* reply = std::get_if<control::FenceReply>(&*message)) {
    if (end == kInitiator) on_reply(*reply);
  }
}

void SimControl::arm_timer(End end) {
  const Instant due = ends_[end].next_deadline();
  if (due == kNever || due >= timer_[end]) return;
  timer_[end] = due;
  queue_.schedule(due, [this, end] {
    timer_[end] = kNever;
    ends_[end].advance(queue_.now());
    pump(end);
  });
}

}  // namespace spindrift::lab::sim
