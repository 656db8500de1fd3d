#include "api/fork_guard.h"

#include <pthread.h>

#include <atomic>

namespace spindrift::api {

namespace {

std::atomic<std::uint64_t> forks{0};  // of this process and its ancestors

std::uint64_t watch_forks() {
  static const int installed =
      ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(installed);
  return forks.load(std::memory_order_relaxed);
}

}  // namespace

ForkGuard::ForkGuard() : born_(watch_forks()) {}

bool ForkGuard::in_child() const {
  return forks.load(std::memory_order_relaxed) != born_;
}

Status ForkGuard::check() const {
  if (!in_child()) return {};
  return Status(Code::kUnsupported,
                {.what = "an engine cannot be used in a forked child",
                 .why = "its threads and connections stayed with the parent process",
                 .hint = "create an engine of its own after fork(), or use posix_spawn()"});
}

}  // namespace spindrift::api
