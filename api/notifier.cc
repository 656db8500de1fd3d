#include "api/notifier.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace spindrift::api {

Status Notifier::start() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return Status(Code::kIoError, {.what = "starting the callback thread",
                                   .hint = "raise the limit of processes (ulimit -u)",
                                   .os_error = error.code().value()});
  }
  return {};
}

void Notifier::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Notifier::post(std::shared_ptr<Transfer::State> state) {
  const bool has_callback = state->has_callback;
  const bool to_fd = state->to_fd;
  if (!has_callback && !to_fd) return false;
  std::lock_guard lock(mutex_);
  if (to_fd) {
    finished_.push_back(state);
    const std::uint64_t one = 1;
    // Fails only when the counter is full: then it is readable already.
    (void)!::write(fd_.get(), &one, sizeof one);
  }
  if (has_callback) {
    callbacks_.push_back(std::move(state));
    wake_.notify_one();
  }
  return true;
}

Result<int> Notifier::finished_fd() {
  std::lock_guard lock(mutex_);
  if (!fd_) {
    fd_.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!fd_) {
      return Status(Code::kIoError, {.what = "eventfd for finished transfers",
                                     .hint = "raise the limit of open files (ulimit -n)",
                                     .os_error = errno});
    }
    fd_in_use_.store(true, std::memory_order_release);
  }
  return fd_.get();
}

std::vector<Transfer> Notifier::take_finished(std::size_t max) {
  std::vector<Transfer> transfers;
  std::vector<std::uint32_t> places;
  {
    std::lock_guard lock(mutex_);
    while (!finished_.empty() && transfers.size() < max) {
      if (!finished_.front()->has_callback) places.push_back(finished_.front()->worker);
      transfers.emplace_back(std::move(finished_.front()));
      finished_.pop_front();
    }
    std::uint64_t count = 0;
    if (finished_.empty() && fd_) (void)!::read(fd_.get(), &count, sizeof count);
  }
  for (const std::uint32_t worker : places) taken_(worker);
  return transfers;
}

void Notifier::run() {
  ::pthread_setname_np(::pthread_self(), "spindrift-call");
  caller_.store(std::this_thread::get_id());
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !callbacks_.empty(); });
    if (callbacks_.empty()) return;
    std::shared_ptr<Transfer::State> state = std::move(callbacks_.front());
    callbacks_.pop_front();
    lock.unlock();  // also while what the caller gave us is destroyed
    // The place goes back first, so that the callback may submit again even when
    // all others are taken.
    taken_(state->worker);
    deliver(*state);
    state.reset();
    lock.lock();
  }
}

// Moved out: what the callback holds must not live as long as the handle.
void Notifier::deliver(Transfer::State& state) {
  const auto call = std::exchange(state.on_finished, nullptr);
  call(state.report());
}

}  // namespace spindrift::api
