// What this backend asks of the kernel for one connected socket, and what it
// got. Stateless; no errors but those said. A socket that is not TCP (tests use
// socket pairs) gets none of the options, which is no error.
#pragma once

#include <cstdint>
#include <string>

#include "base/cause.h"
#include "base/file_descriptor.h"
#include "rails/tcp/tcp_options.h"

struct iovec;

namespace spindrift::rails::tcp {

// For metrics and `topo`: what the kernel really does for a lane.
struct LaneSocketInfo {
  std::string congestion;  // what is in use, whatever was asked for
  bool congestion_as_asked = false;
  bool small_rto_min = false;           // the kernel took TCP_RTO_MIN_US
  std::uint64_t min_round_trip_ns = 0;  // 0: not measured yet
};

// TCP_NODELAY, TCP_NOTSENT_LOWAT, congestion control, smallest retransmission
// timeout. Never SO_RCVBUF or SO_SNDBUF: setting them ends the kernel's own
// tuning. Makes the socket non-blocking, whatever it was.
void apply_socket_options(int fd, const TcpOptions& options);
LaneSocketInfo read_socket_info(int fd, const TcpOptions& options);
// TCP_INFO's smallest round trip; 0: none yet.
std::uint64_t read_min_round_trip_ns(int fd);

// Closes with a reset, so that nothing queued in the kernel is sent any more
// and the peer learns of it at once: also when a forked child holds a duplicate,
// for which close() alone would not do. `epoll`, if any, forgets the socket.
void reset_and_close(FileDescriptor& socket, int epoll = -1);

// One sendmsg or recvmsg, repeated only for EINTR.
struct Moved {
  std::size_t bytes = 0;
  bool blocked = false;       // nothing now; wait for epoll
  Cause down = Cause::kNone;  // the connection is over
};
Moved send_some(int fd, const iovec* pieces, std::size_t count);
Moved receive_some(int fd, const iovec* pieces, std::size_t count);

}  // namespace spindrift::rails::tcp
