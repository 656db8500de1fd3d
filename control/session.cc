#include "control/session.h"

#include <algorithm>
#include <utility>

namespace spindrift::control {
namespace {

// A peer that stopped reading is not asked more often than every eight periods.
constexpr std::uint32_t kBackOffShiftMax = 3;

}  // namespace

Session::Session(const SessionOptions& options) : options_(options) {}

Session::Connection* Session::find(ConnectionId connection) {
  const auto it = std::find_if(connections_.begin(), connections_.end(),
                               [&](const Connection& c) { return c.id == connection; });
  return it == connections_.end() ? nullptr : &*it;
}

void Session::put(const Pending& pending, Connection& connection) {
  outgoing_.push_back({connection.id, {pending.seq, 0, pending.message}});
  // All below acked_ need no sending any more, so they do not leave a gap.
  if (std::max(connection.covered, acked_) + 1 == pending.seq) connection.covered = pending.seq;
}

void Session::catch_up(Connection& connection) {
  for (const Pending& pending : unacked_) {
    if (pending.seq > connection.covered) put(pending, connection);
  }
  connection.covered = next_seq_ - 1;
}

// The timer of a message follows its copy on one connection.
void Session::follow(Pending& pending, const Connection& connection, Instant now) {
  pending.sent_on = connection.id;
  const auto shift = std::min(pending.resends, kBackOffShiftMax);
  pending.resend_at = after(now, options_.resend_after * (1 << shift));
}

void Session::transmit(Pending& pending, Connection& connection, Instant now) {
  put(pending, connection);
  follow(pending, connection, now);
}

void Session::connection_up(ConnectionId connection, Instant now) {
  if (find(connection) != nullptr) return;
  connections_.push_back({connection, acked_});
  Connection& added = connections_.back();
  // What waits may sit in a connection that is dead without knowing it, and a
  // duplicate is cheap: the new one carries everything.
  catch_up(added);
  for (Pending& pending : unacked_) {
    if (pending.sent_on == 0) {
      follow(pending, added, now);
    } else {
      ++resent_;
    }
  }
}

void Session::connection_down(ConnectionId connection, Instant now) {
  std::erase_if(connections_, [&](const Connection& c) { return c.id == connection; });
  std::erase_if(outgoing_, [&](const Outgoing& o) { return o.connection == connection; });
  std::erase(acks_due_, connection);
  for (Pending& pending : unacked_) {
    if (pending.sent_on != connection) continue;
    if (connections_.empty()) {
      pending.sent_on = 0;
      pending.resend_at = kNever;
      pending.resends = 0;
    } else {
      ++resent_;
      transmit(pending, connections_.front(), now);
    }
  }
}

Status Session::send(std::string message, Spread spread, Instant now) {
  if (unacked_.size() >= options_.unacked_max ||
      !fits(unacked_bytes_, message.size(), options_.unacked_bytes_max)) {
    return Status(Code::kBusy,
                  {.what = "control message not queued",
                   .why = std::to_string(unacked_.size()) + " messages (" +
                          std::to_string(unacked_bytes_) + " bytes) wait for the peer already",
                   .hint = "retry when the peer answers again"});
  }
  unacked_bytes_ += message.size();
  unacked_.push_back({.seq = next_seq_++, .message = std::move(message)});
  Pending& added = unacked_.back();
  if (connections_.empty()) return {};
  if (spread == Spread::kAll) {
    for (Connection& connection : connections_) catch_up(connection);
    follow(added, connections_.front(), now);
  } else {
    transmit(added, connections_.front(), now);
  }
  return {};
}

Status Session::on_frame(ConnectionId connection, const SessionFrame& frame, Instant now) {
  static_cast<void>(now);
  if (find(connection) == nullptr) return {};  // came out of a closed connection
  if (frame.ack >= next_seq_) {
    return Status(Code::kProtocol, {.what = "session frame",
                                    .why = "acknowledges message " + std::to_string(frame.ack) +
                                           " of " + std::to_string(next_seq_ - 1) + " sent"});
  }
  if (frame.seq == 0 && !frame.message.empty()) {
    return Status(Code::kProtocol, Status::Detail{.what = "session frame",
                                                  .why = "a message without a sequence number"});
  }
  acknowledge(frame.ack);
  if (frame.seq == 0) return {};
  receive(frame);
  // Also for a duplicate: its first acknowledgement may be lost.
  if (std::find(acks_due_.begin(), acks_due_.end(), connection) == acks_due_.end()) {
    acks_due_.push_back(connection);
  }
  return {};
}

void Session::acknowledge(std::uint64_t up_to) {
  while (!unacked_.empty() && unacked_.front().seq <= up_to) {
    unacked_bytes_ -= unacked_.front().message.size();
    unacked_.pop_front();
  }
  acked_ = std::max(acked_, up_to);
}

void Session::receive(const SessionFrame& frame) {
  if (frame.seq <= delivered_) return;
  if (frame.seq == delivered_ + 1) {
    deliver(frame.message);
    while (!early_.empty() && early_.begin()->first == delivered_ + 1) {
      early_bytes_ -= early_.begin()->second.size();
      deliver(std::move(early_.begin()->second));
      early_.erase(early_.begin());
    }
    return;
  }
  // Too early to be held within the bound: dropped, and the peer sends it again.
  // Not an error, since the peer's own bound may be larger than ours.
  if (frame.seq - delivered_ > options_.unacked_max) return;
  if (!fits(early_bytes_, frame.message.size(), options_.unacked_bytes_max)) return;
  if (early_.emplace(frame.seq, frame.message).second) early_bytes_ += frame.message.size();
}

void Session::deliver(std::string message) {
  delivered_messages_.push_back(std::move(message));
  ++delivered_;
}

void Session::resend(Pending& pending, Instant now) {
  // The connection that failed to deliver goes to the back, so that repeated
  // resends visit all of them.
  if (connections_.front().id == pending.sent_on) {
    std::rotate(connections_.begin(), connections_.begin() + 1, connections_.end());
  }
  ++pending.resends;
  ++resent_;
  transmit(pending, connections_.front(), now);
}

void Session::advance(Instant now) {
  if (connections_.empty()) return;
  for (Pending& pending : unacked_) {
    if (pending.resend_at <= now) resend(pending, now);
  }
}

Instant Session::next_deadline() const {
  Instant earliest = kNever;
  for (const Pending& pending : unacked_) earliest = std::min(earliest, pending.resend_at);
  return earliest;
}

void Session::add_acknowledgements() {
  for (const ConnectionId connection : acks_due_) {
    const bool carried = std::any_of(outgoing_.begin(), outgoing_.end(),
                                     [&](const Outgoing& o) { return o.connection == connection; });
    if (!carried) outgoing_.push_back({connection, {}});
  }
  acks_due_.clear();
  for (Outgoing& out : outgoing_) out.frame.ack = delivered_;
}

std::vector<Session::Outgoing> Session::take_outgoing() {
  add_acknowledgements();
  return std::exchange(outgoing_, {});
}

std::vector<std::string> Session::take_delivered() {
  return std::exchange(delivered_messages_, {});
}

}  // namespace spindrift::control
