// The event loop of the control thread: file descriptors, timers and tasks from
// other threads. Boost.Asio inside, in reactor.cc alone; the shell's other files
// use plain sockets.
//
// Thread-safety: post() and stop() from any thread; the rest, and every method of
// Watch and Timer, from the thread that runs the loop (or with none running).
// Lifetime: watches and timers are destroyed before their reactor.
// Idle, the thread sleeps in the kernel.
#pragma once

#include <functional>
#include <memory>

#include "base/file_descriptor.h"
#include "base/instant.h"
#include "spindrift/status.h"

namespace spindrift::control {

class Watch;

class Reactor {
 public:
  static Result<std::unique_ptr<Reactor>> make();
  ~Reactor();

  void run();  // until stop()
  void stop();
  // Runs what is ready and returns; after run() has returned.
  void drain();
  // The caller bounds how many tasks wait.
  void post(std::function<void()> task);

  // Takes a non-blocking descriptor. kIoError when the kernel cannot watch it.
  Result<std::unique_ptr<Watch>> watch(FileDescriptor descriptor);

  struct Loop;  // Asio
  Loop& loop() { return *loop_; }

 private:
  explicit Reactor(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

// Owns a descriptor and says once, for each call, when it is ready; spurious
// calls happen. No call comes after destruction or release().
class Watch {
 public:
  struct State;  // Asio
  explicit Watch(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~Watch();

  int fd() const;
  void when_readable(std::function<void()> call);
  void when_writable(std::function<void()> call);
  FileDescriptor release();

 private:
  void when(bool writable, std::function<void()> call);
  std::shared_ptr<State> state_;
};

// One pending call at a time. None comes after cancel() or destruction.
class Timer {
 public:
  explicit Timer(Reactor& reactor);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void set(Instant when, std::function<void()> call);  // kNever: cancel()
  void cancel();
  bool pending() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace spindrift::control
