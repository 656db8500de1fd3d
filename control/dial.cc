#include "control/dial.h"

#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "control/sockets.h"

namespace spindrift::control {

Dial::Dial(Reactor& reactor, const Target& target, Duration timeout, Done done)
    : reactor_(reactor), remote_(target.remote), done_(std::move(done)), timer_(reactor) {
  if (Status begun = begin(target); !begun.ok()) {
    timer_.set(read_monotonic_clock(), [this, why = std::move(begun)] { finish(why); });
    return;
  }
  socket_->when_writable([this] { on_writable(); });
  timer_.set(after(read_monotonic_clock(), timeout), [this] {
    finish(Status(Code::kPeerUnreachable, {.what = "connecting to " + remote_.to_string(),
                                           .why = "no answer in time",
                                           .os_error = ETIMEDOUT}));
  });
}

Status Dial::begin(const Target& target) {
  auto fd = start_connect(target.remote, target.local ? &*target.local : nullptr, target.device);
  if (!fd) return fd.status();
  auto watch = reactor_.watch(std::move(*fd));
  if (!watch) return watch.status();
  socket_ = std::move(*watch);
  return {};
}

void Dial::on_writable() {
  const int error = connect_outcome(socket_->fd());
  if (error == 0) return finish(std::move(socket_));
  finish(Status(Code::kPeerUnreachable, {.what = "connecting to " + remote_.to_string(),
                                         .why = "it did not succeed",
                                         .os_error = error}));
}

void Dial::finish(Result<std::unique_ptr<Watch>> result) {
  timer_.cancel();
  const Done done = std::exchange(done_, nullptr);  // it may destroy us
  if (done) done(std::move(result));
}

}  // namespace spindrift::control
