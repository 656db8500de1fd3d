#include "attempt_checker.h"

namespace spindrift::conformance {

void AttemptChecker::on_connect(Generation generation) {
  state_ = State::kConnecting;
  generation_ = generation;
  progress_ = 0;
  posted_bytes_ = 0;
  down_cause_ = Cause::kNone;
}

void AttemptChecker::on_post(const Attempt& attempt) {
  posted_[attempt.seq] = attempt.generation;
  posted_bytes_ += attempt.bytes;
}

void AttemptChecker::on_fence(Generation generation) {
  fencing_ = generation;
  state_ = State::kFencing;
}

void AttemptChecker::wrong(const RailEvent& event, const std::string& what) {
  violations_.push_back(what + " (event kind " + std::to_string(static_cast<int>(event.kind)) +
                        ", generation " + std::to_string(event.generation) + ", value " +
                        std::to_string(event.value) + ")");
}

void AttemptChecker::on_event(const RailEvent& event) {
  if (event.kind == RailEventKind::kLocalFenced) {
    if (state_ != State::kFencing) wrong(event, "a fence that was not asked for");
    if (event.generation != fencing_) wrong(event, "another generation's fence");
    state_ = State::kFenced;
    return;
  }
  if (event.generation != generation_) wrong(event, "an event of another generation");
  if (state_ == State::kFencing || state_ == State::kFenced) {
    wrong(event, "an event after the fence");
  }
  if (state_ == State::kDown) wrong(event, "an event after the lane went down");
  switch (event.kind) {
    case RailEventKind::kLanded:
      on_terminal(event, Cause::kNone);
      break;
    case RailEventKind::kFailed:
      if (event.cause == Cause::kNone) wrong(event, "failed without a cause");
      on_terminal(event, event.cause);
      break;
    case RailEventKind::kProgress:
      if (event.value < progress_) wrong(event, "progress went back");
      if (event.value > posted_bytes_) wrong(event, "more progress than was posted");
      progress_ = event.value;
      break;
    case RailEventKind::kRoundTrip:
      if (event.value == 0) wrong(event, "a round trip of nothing");
      break;
    case RailEventKind::kLaneUp:
      if (state_ != State::kConnecting) wrong(event, "up, but not connecting");
      state_ = State::kUp;
      break;
    case RailEventKind::kLaneDown:
      if (event.cause == Cause::kNone) wrong(event, "down without a cause");
      down_cause_ = event.cause;
      state_ = State::kDown;
      break;
    case RailEventKind::kLocalFenced:
      break;
  }
}

void AttemptChecker::on_terminal(const RailEvent& event, Cause outcome) {
  if (state_ != State::kUp) wrong(event, "an outcome on a lane that is not up");
  const auto posted = posted_.find(event.value);
  if (posted == posted_.end()) {
    wrong(event, "the outcome of what was never posted");
  } else if (posted->second != event.generation) {
    wrong(event, "an outcome under another generation");
  }
  if (!outcomes_.emplace(event.value, outcome).second) wrong(event, "a second outcome");
}

std::optional<Cause> AttemptChecker::outcome(AttemptSeq seq) const {
  const auto it = outcomes_.find(seq);
  if (it == outcomes_.end()) return {};
  return it->second;
}

}  // namespace spindrift::conformance
