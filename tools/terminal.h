// What people see while they wait: a line that is drawn over itself on a
// terminal, and a plain line now and then elsewhere. Writes to standard error,
// so that results on standard output stay clean. Not thread-safe.
#pragma once

#include <cstdio>
#include <string>

#include "base/instant.h"

namespace spindrift::tools {

bool is_terminal(std::FILE* stream);

// "######----" of `width` cells for a fraction in [0, 1].
std::string bar(double fraction, int width);

class ProgressLine {
 public:
  // `enabled` false: says nothing at all.
  explicit ProgressLine(bool enabled);
  ~ProgressLine() { clear(); }

  // `fraction` is in [0, 1]. Cheap to call often.
  void show(const std::string& what, double fraction, const std::string& detail, Instant now);
  // Takes the line away, for other output to follow.
  void clear();

 private:
  const bool enabled_;
  const bool terminal_;
  Instant next_{};  // not drawn before
  bool drawn_ = false;
};

}  // namespace spindrift::tools
