#include "control/reactor.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <utility>

namespace spindrift::control {

namespace asio = boost::asio;

struct Reactor::Loop {
  asio::io_context context{1};  // one thread: Asio may drop its locks' cost
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
};

Reactor::Reactor(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Reactor::~Reactor() = default;

Result<std::unique_ptr<Reactor>> Reactor::make() {
  try {
    return std::unique_ptr<Reactor>(new Reactor(std::make_unique<Loop>()));
  } catch (const std::exception& error) {
    return Status(Code::kIoError, {.what = "event loop of the control plane",
                                   .why = error.what(),
                                   .hint = "raise the limit of open files (ulimit -n)"});
  }
}

void Reactor::run() {
  loop_->context.run();
}
void Reactor::stop() {
  loop_->context.stop();
}

void Reactor::drain() {
  loop_->context.restart();
  loop_->context.poll();
}

void Reactor::post(std::function<void()> task) {
  asio::post(loop_->context, std::move(task));
}

struct Watch::State {
  explicit State(asio::io_context& context) : descriptor(context) {}
  asio::posix::stream_descriptor descriptor;
  bool alive = true;
};

Result<std::unique_ptr<Watch>> Reactor::watch(FileDescriptor descriptor) {
  auto state = std::make_shared<Watch::State>(loop_->context);
  boost::system::error_code error;
  state->descriptor.assign(descriptor.get(), error);
  if (error) {
    return Status(
        Code::kIoError,
        {.what = "watching a socket", .why = "the kernel refused", .os_error = error.value()});
  }
  descriptor.release();
  return std::make_unique<Watch>(std::move(state));
}

Watch::~Watch() {
  if (!state_) return;
  state_->alive = false;
  boost::system::error_code ignored;
  state_->descriptor.close(ignored);
}

int Watch::fd() const {
  return state_->descriptor.native_handle();
}

FileDescriptor Watch::release() {
  state_->alive = false;
  return FileDescriptor(std::exchange(state_, nullptr)->descriptor.release());
}

void Watch::when_readable(std::function<void()> call) {
  when(false, std::move(call));
}
void Watch::when_writable(std::function<void()> call) {
  when(true, std::move(call));
}

void Watch::when(bool writable, std::function<void()> call) {
  const auto kind =
      writable ? asio::posix::descriptor_base::wait_write : asio::posix::descriptor_base::wait_read;
  state_->descriptor.async_wait(
      kind, [state = state_, call = std::move(call)](const boost::system::error_code& error) {
        // An error other than cancellation shows in the read or write that follows.
        if (state->alive && error != asio::error::operation_aborted) call();
      });
}

struct Timer::State {
  explicit State(asio::io_context& context) : timer(context) {}
  asio::steady_timer timer;
  unsigned long long round = 0;  // a call of an earlier round is void
  bool pending = false;
};

Timer::Timer(Reactor& reactor) : state_(std::make_shared<State>(reactor.loop().context)) {}
Timer::~Timer() {
  cancel();
}

bool Timer::pending() const {
  return state_->pending;
}

void Timer::cancel() {
  ++state_->round;
  if (!std::exchange(state_->pending, false)) return;
  state_->timer.cancel();
}

void Timer::set(Instant when, std::function<void()> call) {
  cancel();
  if (when == kNever) return;
  state_->pending = true;
  state_->timer.expires_at(std::chrono::steady_clock::time_point(when.time_since_epoch()));
  state_->timer.async_wait([state = state_, round = state_->round,
                            call = std::move(call)](const boost::system::error_code&) {
    if (state->round != round || !state->pending) return;
    state->pending = false;
    call();
  });
}

}  // namespace spindrift::control
