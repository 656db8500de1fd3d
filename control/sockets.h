// Sockets as the control plane wants them: non-blocking, closed on exec, bound
// to a device and an address. Stateless.
#pragma once

#include <cstdint>
#include <string>

#include "base/file_descriptor.h"
#include "control/socket_address.h"
#include "spindrift/status.h"

namespace spindrift::control {

struct PortRange {
  std::uint16_t min = 0;  // 0-0: any free port
  std::uint16_t max = 0;
};

// A listener on the first free port of the range; `address` gets that port.
// kAddressInUse names address and port, kInvalidArgument a range upside down.
Result<FileDescriptor> open_listener(SocketAddress& address, PortRange ports,
                                     const std::string& device);

// Starts to connect. `local`, if given, is the address to leave from, `device`,
// if not empty, the interface. The socket becomes writable when it is over.
Result<FileDescriptor> start_connect(const SocketAddress& remote, const SocketAddress* local,
                                     const std::string& device);
// How it went: 0 or an errno.
int connect_outcome(int socket);

// For a control connection: small messages leave at once, and the kernel notices
// a path that died, so that it is not counted on for ever.
void tune_control_socket(int socket);

}  // namespace spindrift::control
