// One end of a session between two incarnations: messages that are delivered
// exactly once and in order for as long as both live, over any number of
// connections that come and go. Pure: no sockets, no clock. Owned by one thread.
//
// Every message has a sequence number and stays queued until the peer's
// cumulative acknowledgement covers it. It is sent on one connection, or on all
// of them at once (`Spread::kAll`, for fences: the suspect rail's included); it
// is sent again on another one when a connection is lost or `resend_after`
// passes. The receiver drops duplicates and holds what came too early (bounded).
// A kAll message takes everything before it along, so that it never waits for
// a message that was lost with a dead connection.
//
// Errors: send() says kBusy when `unacked_max` messages wait. on_frame() says
// kProtocol for what a correct peer cannot send; drop the connection then.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/instant.h"
#include "spindrift/status.h"

namespace spindrift::control {

using ConnectionId = std::uint64_t;  // given by the shell, never reused

enum class Spread : std::uint8_t { kOne, kAll };

// What travels on a connection once the handshake is done.
struct SessionFrame {
  std::uint64_t seq = 0;  // of the message; 0: none, only an acknowledgement
  std::uint64_t ack = 0;  // every message up to this one arrived
  std::string message;    // serialised control message
};

struct SessionOptions {
  Duration resend_after = std::chrono::milliseconds(100);
  std::uint32_t unacked_max = 1024;
};

class Session {
 public:
  explicit Session(const SessionOptions& options);

  void connection_up(ConnectionId connection, Instant now);
  void connection_down(ConnectionId connection, Instant now);
  bool connected() const { return !connections_.empty(); }
  std::size_t connections() const { return connections_.size(); }

  Status send(std::string message, Spread spread, Instant now);
  Status on_frame(ConnectionId connection, const SessionFrame& frame, Instant now);
  void advance(Instant now);
  Instant next_deadline() const;

  // The sinks, drained by the shell after each call above.
  struct Outgoing {
    ConnectionId connection = 0;
    SessionFrame frame;
  };
  std::vector<Outgoing> take_outgoing();
  std::vector<std::string> take_delivered();

  std::size_t unacked() const { return unacked_.size(); }

 private:
  struct Pending {
    std::uint64_t seq = 0;
    std::string message;
    ConnectionId sent_on = 0;
    Instant resend_at = kNever;
  };

  void transmit(Pending& pending, ConnectionId connection, Instant now);
  ConnectionId other_than(ConnectionId avoided) const;

  SessionOptions options_;
  std::vector<ConnectionId> connections_;
  std::deque<Pending> unacked_;
  std::map<std::uint64_t, std::string> early_;  // bounded by unacked_max
  std::uint64_t next_seq_ = 1;
  std::uint64_t delivered_ = 0;  // cumulative
  bool ack_due_ = false;
  std::vector<Outgoing> outgoing_;
  std::vector<std::string> delivered_messages_;
};

}  // namespace spindrift::control
