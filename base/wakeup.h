// Wakes a thread that sleeps in epoll: an eventfd that is written only when the
// sleeper said that it is about to sleep, so that a busy thread costs its
// callers no system call. notify() from any thread; the rest from the owner's.
//
//   owner:   wakeup.prepare(); if (queue.empty()) epoll_wait(...); wakeup.done();
//   caller:  queue.push(item); wakeup.notify();
#pragma once

#include <atomic>

#include "base/file_descriptor.h"
#include "spindrift/status.h"

namespace spindrift {

class Wakeup {
 public:
  Wakeup() = default;
  Status open();
  int fd() const { return fd_.get(); }

  void notify();
  // Announces sleep. What was pushed before is visible afterwards: look again
  // before sleeping.
  void prepare() { sleeping_.exchange(true, std::memory_order_acq_rel); }
  void done();

 private:
  FileDescriptor fd_;
  // Only ever exchanged: so either prepare() sees a notify() and all that was
  // pushed before it, or that notify() sees the sleeper. No fence is needed,
  // which ThreadSanitizer would not understand.
  std::atomic<bool> sleeping_{false};
};

}  // namespace spindrift
