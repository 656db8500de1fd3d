// One attempt to connect a socket, with a deadline. Control thread only. Calls
// `done` once, never from within the constructor; not after destruction.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "control/reactor.h"
#include "control/socket_address.h"

namespace spindrift::control {

class Dial {
 public:
  struct Target {
    SocketAddress remote;
    std::optional<SocketAddress> local;  // leave from there
    std::string device;                  // and by this interface; empty: any
  };
  using Done = std::function<void(Result<std::unique_ptr<Watch>>)>;

  Dial(Reactor& reactor, const Target& target, Duration timeout, Done done);

 private:
  void on_writable();
  void finish(Result<std::unique_ptr<Watch>> result);
  Status begin(const Target& target);

  Reactor& reactor_;
  const SocketAddress remote_;
  Done done_;
  std::unique_ptr<Watch> socket_;
  Timer timer_;
};

}  // namespace spindrift::control
