// Virtual time: what is due next, in the order of time and then of scheduling,
// so that a run replays exactly. Single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/instant.h"

namespace spindrift::rails::sim {

class EventQueue {
 public:
  using Action = std::function<void()>;

  Instant now() const { return now_; }
  bool empty() const { return events_.empty(); }

  void schedule(Instant at, Action action) {
    events_.push({at < now_ ? now_ : at, next_id_++, std::move(action)});
  }

  // The same where nothing that is due after `end` may happen: then only time passes.
  bool step_until(Instant end) {
    if (!events_.empty() && events_.top().at <= end) return step();
    now_ = end;
    return false;
  }

  // Jumps to the next event and performs it. False when there is none.
  bool step() {
    if (events_.empty()) return false;
    // priority_queue gives no way to move out of top(); the copy is of a small
    // closure.
    Event event = events_.top();
    events_.pop();
    now_ = event.at;
    event.action();
    return true;
  }

 private:
  struct Event {
    Instant at;
    std::uint64_t id;
    Action action;
    friend bool operator<(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.id > b.id;  // the earliest on top
    }
  };
  std::priority_queue<Event> events_;
  Instant now_{};
  std::uint64_t next_id_ = 0;
};

}  // namespace spindrift::rails::sim
