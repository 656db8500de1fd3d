// One lane of which this end is the responder: the connection that a peer opened
// to write here or to read here. Everything that comes in is untrusted.
// Owned by one thread; no allocation after construction.
#pragma once

#include <cstdint>

#include "base/file_descriptor.h"
#include "rails/inbound_records.h"
#include "rails/tcp/lane_context.h"

namespace spindrift::rails::tcp {

class InboundConnection {
 public:
  InboundConnection(FileDescriptor socket, std::uint32_t rights_peer, InboundRecord& record)
      : socket_(std::move(socket)), rights_peer_(rights_peer), record_(record) {}
  virtual ~InboundConnection() = default;

  // Moves what can move; `down` says that the connection is to be closed.
  virtual Served serve(bool readable, bool writable, LaneContext& context) = 0;
  // Whether there is room for more input, and output that waits.
  virtual bool wants_to_receive() const = 0;
  virtual bool wants_to_send() const = 0;

  FileDescriptor& socket() { return socket_; }
  InboundRecord& record() { return record_; }

  std::uint32_t interest = 0;  // what epoll was asked for; the driver's note

 protected:
  FileDescriptor socket_;
  const std::uint32_t rights_peer_;
  InboundRecord& record_;  // outlives the connection: the driver drops it first
};

}  // namespace spindrift::rails::tcp
