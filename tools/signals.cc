#include "tools/signals.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>

namespace spindrift::tools {

EndSignals::EndSignals() {
  ::sigemptyset(&watched_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&watched_, number);
  ::pthread_sigmask(SIG_BLOCK, &watched_, &before_);
}

EndSignals::~EndSignals() {
  release();
}

std::optional<int> EndSignals::wait_for(Duration timeout) {
  const std::int64_t ns = std::max<std::int64_t>(0, to_ns(timeout));
  const timespec span{ns / 1'000'000'000, ns % 1'000'000'000};
  const int number = ::sigtimedwait(&watched_, nullptr, &span);
  // Interrupted by another signal: as if time had passed; callers loop.
  if (number < 0) return std::nullopt;
  return number;
}

int EndSignals::wait() {
  for (;;) {
    const int number = ::sigwaitinfo(&watched_, nullptr);
    if (number > 0) return number;
  }
}

void EndSignals::release() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace spindrift::tools
