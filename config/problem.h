// What is wrong in a configuration file, and where: every problem of a file is
// found in one go and printed as a compiler would, so that editors jump to it:
//
//   node.yaml:4:9: error: `control.port`: 70000 is out of range; allowed: 0 to 65535
//
// An error makes the file unusable; a warning is about something that is legal
// and probably not meant. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "policies/rule.h"
#include "spindrift/status.h"

namespace spindrift::config {

using policies::SourcePlace;

// "policy.yaml:3:5"; just the file where there is no line.
std::string to_string(const SourcePlace& place);

enum class Severity : std::uint8_t { kError, kWarning };

struct Problem {
  Severity severity = Severity::kError;
  SourcePlace place;
  std::string text;  // what is wrong
  std::string hint;  // what is allowed, or what to do; may be empty

  std::string to_string() const;  // one line
};

bool has_error(const std::vector<Problem>& problems);
// kConfig with every error, one per line; ok when there are only warnings.
Status to_status(const std::vector<Problem>& problems);

// Collects the problems of one file, at most kProblemsMax of them: a file with
// more is of another kind, or hostile, and a person reads no more anyway.
class ProblemList {
 public:
  static constexpr std::size_t kProblemsMax = 100;

  void add(Problem problem);
  bool full() const { return problems_.size() >= kProblemsMax; }
  // Sorted by place; says how many were left out. Empties the list.
  std::vector<Problem> take();

 private:
  std::vector<Problem> problems_;
  std::size_t left_out_ = 0;
};

// What came out of a file. The value is meaningful only when ok().
template <typename T>
struct Loaded {
  T value{};
  std::vector<Problem> problems;

  bool ok() const { return !has_error(problems); }
  Status status() const { return to_status(problems); }
};

}  // namespace spindrift::config
