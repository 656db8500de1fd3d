// Signals that ask a command to end (SIGINT, SIGTERM, SIGHUP), as something one
// can wait for. Made before any thread exists, so that all inherit the mask and
// the signal reaches only this object. Not thread-safe.
#pragma once

#include <signal.h>

#include <optional>

#include "base/instant.h"

namespace spindrift::tools {

class EndSignals {
 public:
  EndSignals();   // blocks them
  ~EndSignals();  // as they were before

  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // The signal's number; nothing when `timeout` passed first.
  std::optional<int> wait_for(Duration timeout);
  int wait();
  // From now on they end the process as usual: whoever asks twice means it.
  void release();

 private:
  sigset_t watched_;
  sigset_t before_;
};

}  // namespace spindrift::tools
