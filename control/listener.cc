#include "control/listener.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace spindrift::control {
namespace {

constexpr int kAcceptsPerTurn = 64;  // then the others' turn
constexpr Duration kPause = std::chrono::milliseconds(100);

LogLimiter accept_log(2);

// The connection died while it waited; the next one may be well.
bool concerns_one_connection(int error) {
  return error == ECONNABORTED || error == EINTR || error == EPROTO || error == EPERM;
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::start(Reactor& reactor, FileDescriptor socket,
                                                  Accepted accepted) {
  auto watch = reactor.watch(std::move(socket));
  if (!watch) return watch.status();
  return std::make_unique<Listener>(reactor, std::move(*watch), std::move(accepted));
}

Listener::Listener(Reactor& reactor, std::unique_ptr<Watch> socket, Accepted accepted)
    : socket_(std::move(socket)), accepted_(std::move(accepted)), resume_(reactor) {
  wait();
}

void Listener::wait() {
  socket_->when_readable([this] { on_readable(); });
}

void Listener::on_readable() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    FileDescriptor accepted(
        ::accept4(socket_->fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted) {
      accepted_(std::move(accepted));
      continue;
    }
    if (errno == EAGAIN) break;
    if (!concerns_one_connection(errno)) return pause(errno);
  }
  wait();
}

void Listener::pause(int error) {
  accept_log.log(LogLevel::kError,
                 std::string("cannot accept connections for now: ") + std::strerror(error));
  resume_.set(after(read_monotonic_clock(), kPause), [this] { wait(); });
}

}  // namespace spindrift::control
