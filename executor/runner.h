// The thread of one worker and how it idles: it spins for `spin`, then sleeps
// in the kernel until a command, a socket or the next deadline. Owns the thread;
// the destructor stops and joins it.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "base/file_descriptor.h"
#include "executor/worker.h"
#include "spindrift/status.h"

namespace spindrift::executor {

class Runner {
 public:
  // `cpu` < 0: not pinned. `grace`: how long transfers may take to settle after
  // stop() before the worker lets go of them.
  Runner(Worker& worker, Duration spin, int cpu);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  Status start();
  // Ends the loop and joins. Idempotent.
  void stop();

 private:
  void run();
  void sleep(Instant until);

  Worker& worker_;
  const Duration spin_;
  const int cpu_;
  FileDescriptor epoll_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace spindrift::executor
