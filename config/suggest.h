// Words for messages: the nearest of what is allowed, and quoting that is safe
// to print. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spindrift::config {

// The word that `written` was probably meant to be; empty when none is near:
// more than a third of its letters, and more than two, would have to change.
std::string closest(std::string_view written, const std::vector<std::string>& words);

// In double quotes, shortened to about `shown_max` bytes, and with nothing in it that moves a
// cursor.
std::string quoted(std::string_view text, std::size_t shown_max = 48);

// "a, b, c"
std::string joined(const std::vector<std::string>& words);

bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace spindrift::config
