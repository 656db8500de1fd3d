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
// kProtocol for what a correct peer cannot send; drop the connection then. A
// frame that a connection loses, or that comes too early to be held, costs only
// time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/units.h"
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
  Duration resend_after = std::chrono::milliseconds(100);  // doubles per resend, to 8 times
  std::uint32_t unacked_max = 1024;
  // Bytes of the waiting messages, and of those that came too early: a peer that
  // asks much and acknowledges nothing must not fill our memory.
  std::uint64_t unacked_bytes_max = 16 * kMiB;
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
  std::uint64_t resent() const { return resent_; }  // cumulative

 private:
  struct Pending {
    std::uint64_t seq = 0;
    std::string message;
    ConnectionId sent_on = 0;  // last; 0: waits for a connection
    Instant resend_at = kNever;
    std::uint32_t resends = 0;
  };
  struct Connection {
    ConnectionId id = 0;
    // Every unacknowledged message up to this one was sent here before, so that
    // a burst of kAll messages takes its predecessors along once, not each time.
    std::uint64_t covered = 0;
  };

  Connection* find(ConnectionId connection);
  void put(const Pending& pending, Connection& connection);
  void catch_up(Connection& connection);
  void follow(Pending& pending, const Connection& connection, Instant now);
  void transmit(Pending& pending, Connection& connection, Instant now);
  void resend(Pending& pending, Instant now);
  void acknowledge(std::uint64_t up_to);
  void receive(const SessionFrame& frame);
  void deliver(std::string message);
  void add_acknowledgements();

  SessionOptions options_;
  std::vector<Connection> connections_;  // the one to prefer first
  std::deque<Pending> unacked_;
  std::uint64_t unacked_bytes_ = 0;
  std::map<std::uint64_t, std::string> early_;  // bounded by unacked_max
  std::uint64_t early_bytes_ = 0;
  std::uint64_t next_seq_ = 1;
  std::uint64_t acked_ = 0;      // by the peer, cumulative
  std::uint64_t delivered_ = 0;  // cumulative
  std::uint64_t resent_ = 0;
  std::vector<ConnectionId> acks_due_;  // connections that brought a message
  std::vector<Outgoing> outgoing_;
  std::vector<std::string> delivered_messages_;
};

}  // namespace spindrift::control
