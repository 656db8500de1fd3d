#include "base/wakeup.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>

namespace spindrift {

Status Wakeup::open() {
  fd_.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (fd_) return {};
  return Status(
      Code::kIoError,
      {.what = "eventfd", .hint = "raise the limit of open files (ulimit -n)", .os_error = errno});
}

void Wakeup::notify() {
  if (!sleeping_.exchange(false, std::memory_order_acq_rel)) return;
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the sleeper wakes anyway.
  (void)!::write(fd_.get(), &one, sizeof one);
}

void Wakeup::done() {
  sleeping_.exchange(false, std::memory_order_acq_rel);
  std::uint64_t count = 0;
  (void)!::read(fd_.get(), &count, sizeof count);
}

}  // namespace spindrift
