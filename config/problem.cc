#include "config/problem.h"

#include <algorithm>
#include <tuple>

#include "policies/matching.h"

namespace spindrift::config {

std::string to_string(const SourcePlace& place) {
  return policies::describe(place);
}

std::string Problem::to_string() const {
  std::string line = config::to_string(place);
  line += severity == Severity::kError ? ": error: " : ": warning: ";
  line += text;
  if (!hint.empty()) line += "; " + hint;
  return line;
}

bool has_error(const std::vector<Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& p) { return p.severity == Severity::kError; });
}

Status to_status(const std::vector<Problem>& problems) {
  Status::Detail detail;
  bool any = false;
  for (const Problem& problem : problems) {
    if (problem.severity != Severity::kError) continue;
    if (!any) {
      any = true;
      detail.where = to_string(problem.place);
      detail.what = problem.text;
      if (!problem.hint.empty()) detail.what += "; " + problem.hint;
    } else {
      detail.what += "\n" + problem.to_string();
    }
  }
  if (!any) return Status();
  return Status(Code::kConfig, std::move(detail));
}

void ProblemList::add(Problem problem) {
  if (full()) {
    ++left_out_;
  } else {
    problems_.push_back(std::move(problem));
  }
}

std::vector<Problem> ProblemList::take() {
  std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  if (left_out_ > 0) {
    problems_.push_back({.severity = Severity::kError,
                         .place = {.file = problems_.front().place.file},
                         .text = "and " + std::to_string(left_out_) + " more problems"});
  }
  left_out_ = 0;
  return std::exchange(problems_, {});
}

}  // namespace spindrift::config
