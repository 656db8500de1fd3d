#include "policies/glob.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace spindrift::policies {
namespace {

enum class Kind : unsigned char { kLiteral, kAnyOne, kAnyRun, kSet };

struct Token {
  Kind kind = Kind::kLiteral;
  char literal = 0;
  bool negated = false;
  std::string_view set;  // between the brackets, without the '!'
};

// The token at `position`, which moves behind it.
Token next_token(std::string_view pattern, std::size_t& position) {
  const char c = pattern[position++];
  if (c == '*') return {.kind = Kind::kAnyRun};
  if (c == '?') return {.kind = Kind::kAnyOne};
  if (c != '[') return {.kind = Kind::kLiteral, .literal = c};
  std::size_t begin = position;
  const bool negated = begin < pattern.size() && (pattern[begin] == '!' || pattern[begin] == '^');
  if (negated) ++begin;
  // A ']' in first place is a member, as in every shell.
  const std::size_t end = pattern.find(']', begin + 1);
  if (end == std::string_view::npos) return {.kind = Kind::kLiteral, .literal = '['};
  position = end + 1;
  return {.kind = Kind::kSet, .negated = negated, .set = pattern.substr(begin, end - begin)};
}

bool in_set(const Token& token, char c) {
  const auto value = static_cast<unsigned char>(c);
  const std::string_view set = token.set;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const auto low = static_cast<unsigned char>(set[i]);
    auto high = low;
    if (i + 2 < set.size() && set[i + 1] == '-') {
      high = static_cast<unsigned char>(set[i + 2]);
      i += 2;
    }
    if (low <= value && value <= high) return !token.negated;
  }
  return token.negated;
}

bool fits_one(const Token& token, char c) {
  switch (token.kind) {
    case Kind::kLiteral:
      return token.literal == c;
    case Kind::kAnyOne:
      return true;
    case Kind::kSet:
      return in_set(token, c);
    case Kind::kAnyRun:
      return false;  // handled by the caller
  }
  return false;
}

// Every character that `specific` can stand for fits `general`.
bool covers_one(const Token& general, const Token& specific) {
  if (specific.kind == Kind::kAnyRun || general.kind == Kind::kAnyRun) return false;
  if (general.kind == Kind::kAnyOne) return true;
  if (specific.kind == Kind::kLiteral) return fits_one(general, specific.literal);
  return general.kind == Kind::kSet && specific.kind == Kind::kSet &&
         general.negated == specific.negated && general.set == specific.set;
}

std::vector<Token> tokens_of(std::string_view pattern) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < pattern.size();) tokens.push_back(next_token(pattern, i));
  return tokens;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t after_star = kNone;  // what follows the latest star ...
  std::size_t star_end = 0;        // ... and how far that star reaches
  while (t < text.size()) {
    if (p < pattern.size()) {
      std::size_t next = p;
      const Token token = next_token(pattern, next);
      if (token.kind == Kind::kAnyRun) {
        p = after_star = next;
        star_end = t;
        continue;
      }
      if (fits_one(token, text[t])) {
        p = next;
        ++t;
        continue;
      }
    }
    if (after_star == kNone) return false;
    p = after_star;
    t = ++star_end;  // let the star take one more
  }
  while (p < pattern.size()) {
    if (next_token(pattern, p).kind != Kind::kAnyRun) return false;
  }
  return true;
}

bool any_glob_matches(const std::vector<std::string>& patterns, std::string_view text) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return glob_match(pattern, text); });
}

// The same walk over the tokens of `specific`: a star of `general` takes any of
// them, stars included; everything else must cover one token by itself.
bool glob_covers(std::string_view general, std::string_view specific) {
  const std::vector<Token> g = tokens_of(general);
  const std::vector<Token> s = tokens_of(specific);
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t after_star = kNone;
  std::size_t star_end = 0;
  while (j < s.size()) {
    if (i < g.size() && g[i].kind == Kind::kAnyRun) {
      after_star = ++i;
      star_end = j;
    } else if (i < g.size() && covers_one(g[i], s[j])) {
      ++i;
      ++j;
    } else if (after_star != kNone) {
      i = after_star;
      j = ++star_end;
    } else {
      return false;
    }
  }
  while (i < g.size() && g[i].kind == Kind::kAnyRun) ++i;
  return i == g.size();
}

}  // namespace spindrift::policies
