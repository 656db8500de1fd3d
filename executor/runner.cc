#include "executor/runner.h"

#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/clock.h"

namespace spindrift::executor {

Runner::Runner(Worker& worker, Duration spin, int cpu) : worker_(worker), spin_(spin), cpu_(cpu) {}

Runner::~Runner() {
  stop();
}

Status Runner::start() {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) {
    return Status(Code::kIoError, {.what = "epoll_create1 for a worker",
                                   .hint = "raise the limit of open files (ulimit -n)",
                                   .os_error = errno});
  }
  for (const int fd : worker_.wait_fds()) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
      return Status(Code::kIoError, {.what = "epoll_ctl for a worker", .os_error = errno});
    }
  }
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return Status(Code::kIoError, {.what = "starting a worker thread",
                                   .hint = "raise the limit of processes (ulimit -u)",
                                   .os_error = error.code().value()});
  }
  return {};
}

void Runner::stop() {
  stop_.store(true, std::memory_order_release);
  if (!thread_.joinable()) return;
  worker_.wakeup().notify();
  thread_.join();
}

void Runner::run() {
  ::pthread_setname_np(::pthread_self(), "spindrift-data");
  if (cpu_ >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(cpu_), &set);
    // Checked when the configuration was read; a CPU taken offline since then
    // costs placement, not correctness.
    (void)::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
  }
  Instant idle_since = kNever;
  while (!stop_.load(std::memory_order_acquire)) {
    const Instant now = read_monotonic_clock();
    if (worker_.do_work(now) > 0) {
      idle_since = kNever;
      continue;
    }
    if (idle_since == kNever) idle_since = now;
    if (now - idle_since < spin_) continue;
    sleep(worker_.next_deadline());
  }
}

void Runner::sleep(Instant until) {
  worker_.wakeup().prepare();
  if (!worker_.has_commands() && !stop_.load(std::memory_order_acquire)) {
    int timeout_ms = -1;
    if (until != kNever) {
      // Rounded up: waking early would only spin.
      const auto wait =
          std::chrono::ceil<std::chrono::milliseconds>(until - read_monotonic_clock());
      timeout_ms = static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, 60'000));
    }
    std::array<epoll_event, 8> events{};
    (void)::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  }
  worker_.wakeup().done();
}

}  // namespace spindrift::executor
