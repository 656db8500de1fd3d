// Watches one lane from outside and says what broke the rail contract: exactly
// one of landed and failed per attempt, nothing before its cause, nothing after
// a lane went down or was fenced. Knows nothing of any backend.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rail_types.h"

namespace spindrift::conformance {

class AttemptChecker {
 public:
  void on_connect(Generation generation);
  void on_post(const Attempt& attempt);
  void on_fence(Generation generation);
  void on_event(const RailEvent& event);

  // kNone: landed. Nothing: no terminal event yet.
  std::optional<Cause> outcome(AttemptSeq seq) const;
  std::size_t settled() const { return outcomes_.size(); }
  bool up() const { return state_ == State::kUp; }
  bool down() const { return state_ == State::kDown; }
  Cause down_cause() const { return down_cause_; }
  bool fence_told() const { return state_ == State::kFenced; }
  std::uint64_t progress() const { return progress_; }
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  enum class State : std::uint8_t { kIdle, kConnecting, kUp, kDown, kFencing, kFenced };
  void wrong(const RailEvent& event, const std::string& what);
  void on_terminal(const RailEvent& event, Cause outcome);

  State state_ = State::kIdle;
  Generation generation_ = 0;
  Generation fencing_ = 0;
  Cause down_cause_ = Cause::kNone;
  std::uint64_t progress_ = 0;
  std::uint64_t posted_bytes_ = 0;
  std::map<AttemptSeq, Generation> posted_;
  std::map<AttemptSeq, Cause> outcomes_;
  std::vector<std::string> violations_;
};

}  // namespace spindrift::conformance
