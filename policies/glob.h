// Shell patterns over names, for rules and selectors. Pure; safe from any thread.
//
//   *        any run of characters, also none
//   ?        any one character
//   [a-c1]   one of these; [!a-c1] or [^a-c1] one that is none of these
//
// Everything else stands for itself, a '[' without its ']' too; there is no
// escape character, "[*]" is a literal star. Not fnmatch(3): that one depends on
// the locale, and we must be able to say which pattern covers which.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spindrift::policies {

// Does `text` as a whole fit? Takes at most pattern x text steps, whatever the
// pattern, so that a policy file cannot make planning slow.
bool glob_match(std::string_view pattern, std::string_view text);

// The same for a list of patterns, where an empty list fits everything.
bool any_glob_matches(const std::vector<std::string>& patterns, std::string_view text);

// True only when it is certain that `general` fits every text that `specific`
// fits. False means "perhaps not".
bool glob_covers(std::string_view general, std::string_view specific);

}  // namespace spindrift::policies
