#include "base/wakeup.h"

#include <poll.h>

#include <catch2/catch.hpp>
#include <thread>

#include "base/mpsc_queue.h"

namespace spindrift {
namespace {

// True when the fd became readable; a lost wake-up shows as false.
bool sleep_until_woken(int fd, int timeout_ms) {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, timeout_ms) == 1;
}

TEST_CASE("only a sleeper that announced itself is woken") {
  Wakeup wakeup;
  REQUIRE(wakeup.open().ok());
  wakeup.notify();
  CHECK_FALSE(sleep_until_woken(wakeup.fd(), 0));  // busy: no system call was spent
  wakeup.prepare();
  wakeup.notify();
  CHECK(sleep_until_woken(wakeup.fd(), 0));
  wakeup.done();
  CHECK_FALSE(sleep_until_woken(wakeup.fd(), 0));
}

TEST_CASE("many notifications wake once") {
  Wakeup wakeup;
  REQUIRE(wakeup.open().ok());
  wakeup.prepare();
  for (int i = 0; i < 1000; ++i) wakeup.notify();
  CHECK(sleep_until_woken(wakeup.fd(), 0));
  wakeup.done();
  CHECK_FALSE(sleep_until_woken(wakeup.fd(), 0));
}

TEST_CASE("who is done without having slept is not woken afterwards") {
  Wakeup wakeup;
  REQUIRE(wakeup.open().ok());
  wakeup.prepare();
  wakeup.done();
  wakeup.notify();
  CHECK_FALSE(sleep_until_woken(wakeup.fd(), 0));
}

// The owner sleeps whenever the queue is empty, the caller pushes one item and
// waits for the answer: each round is a race between going to sleep and waking.
TEST_CASE("no wake-up is lost between looking and sleeping") {
  constexpr int kRounds = 20'000;
  constexpr int kLostAfterMs = 20'000;  // reached only by a lost wake-up
  Wakeup wakeup;
  REQUIRE(wakeup.open().ok());
  MpscQueue<int> queue(16);
  std::atomic<int> taken{0};
  std::atomic<bool> lost{false};
  std::thread owner([&] {
    for (int expected = 1; expected <= kRounds && !lost;) {
      int item = 0;
      if (queue.pop(item)) {
        if (item != expected++) lost = true;
        taken.store(item, std::memory_order_release);
        continue;
      }
      wakeup.prepare();
      if (queue.empty() && !sleep_until_woken(wakeup.fd(), kLostAfterMs)) lost = true;
      wakeup.done();
    }
  });
  for (int i = 1; i <= kRounds && !lost; ++i) {
    int item = i;
    if (!queue.push(item)) lost = true;
    wakeup.notify();
    while (taken.load(std::memory_order_acquire) < i && !lost) std::this_thread::yield();
  }
  owner.join();
  CHECK_FALSE(lost);
  CHECK(taken == kRounds);
}

}  // namespace
}  // namespace spindrift
