// A session (session.h) with the sockets, the timer and the codec around it:
// the part that both ends have in common. Control thread only.
//
// The owner may let go of it from within a Handler call only by retire(), which
// closes everything now and destroys it when the call stack is empty again.
#pragma once

#include <map>
#include <memory>

#include "control/context.h"
#include "control/framed_stream.h"
#include "control/messages.h"
#include "control/session.h"

namespace spindrift::control {

class LiveSession {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_message(const SessionMessage& message) = 0;
    // A connection ended; ask connections() how many are left.
    virtual void on_connection_lost(ConnectionId connection, const Status& why) = 0;
  };

  LiveSession(Context& context, Handler& handler);
  ~LiveSession();

  void add(std::shared_ptr<FramedStream> stream);
  std::size_t connections() const { return streams_.size(); }
  // The one that has been there longest; 0: none.
  ConnectionId oldest() const { return streams_.empty() ? 0 : streams_.begin()->first; }
  void drop(ConnectionId connection);  // no on_connection_lost for it
  Status send(const SessionMessage& message, Spread spread);
  void close_all();

  static void retire(std::unique_ptr<LiveSession> session);

 private:
  void on_payload(ConnectionId connection, std::string_view payload);
  void on_closed(ConnectionId connection, const Status& why);
  void pump();
  void send_outgoing();

  Context& context_;
  Handler* handler_;  // null: retired
  Session session_;
  std::map<ConnectionId, std::shared_ptr<FramedStream>> streams_;
  Timer timer_;
  std::uint64_t resent_seen_ = 0;
  bool pumping_ = false;
};

}  // namespace spindrift::control
