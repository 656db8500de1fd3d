#include "planner/natural_order.h"

#include <cstddef>

namespace spindrift::planner {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The run of digits at `position`, without leading zeros; `position` moves
// behind it.
std::string_view number_at(std::string_view text, std::size_t& position) {
  while (position + 1 < text.size() && text[position] == '0' && is_digit(text[position + 1])) {
    ++position;
  }
  const std::size_t begin = position;
  while (position < text.size() && is_digit(text[position])) ++position;
  return text.substr(begin, position - begin);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = number_at(a, i);
      const std::string_view y = number_at(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  if (i < a.size() || j < b.size()) return i == a.size();
  return a < b;
}

}  // namespace spindrift::planner
