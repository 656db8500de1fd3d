// One listening socket: accepts and hands over. Control thread only. When the
// process is out of descriptors it pauses, since the kernel would report the
// same connection again and again at full speed.
#pragma once

#include <functional>
#include <memory>

#include "base/file_descriptor.h"
#include "control/reactor.h"

namespace spindrift::control {

class Listener {
 public:
  using Accepted = std::function<void(FileDescriptor)>;

  static Result<std::unique_ptr<Listener>> start(Reactor& reactor, FileDescriptor socket,
                                                 Accepted accepted);

  Listener(Reactor& reactor, std::unique_ptr<Watch> socket, Accepted accepted);

 private:
  void wait();
  void on_readable();
  void pause(int error);

  std::unique_ptr<Watch> socket_;
  Accepted accepted_;
  Timer resume_;
};

}  // namespace spindrift::control
