#include "config/suggest.h"

#include <algorithm>
#include <cstddef>

namespace spindrift::config {
namespace {

constexpr std::size_t kWordMax = 64;  // longer words are nobody's typing errors

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of
// neighbours, each 1. Case and '-' against '_' cost nothing.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return lower(x == '-' ? '_' : x) == lower(y == '-' ? '_' : y);
  };
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitute});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string closest(std::string_view written, const std::vector<std::string>& words) {
  if (written.empty() || written.size() > kWordMax) return {};
  std::size_t best = std::max<std::size_t>(2, written.size() / 3) + 1;
  std::string nearest;
  for (const std::string& word : words) {
    const std::size_t distance = edit_distance(written, word);
    // Not when nothing of the word is left.
    if (distance >= best || distance >= std::max(written.size(), word.size())) continue;
    best = distance;
    nearest = word;
  }
  return nearest;
}

std::string quoted(std::string_view text, std::size_t shown_max) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size() && i < shown_max; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    out += c < 0x20 || c == 0x7f ? '?' : static_cast<char>(c);
  }
  if (text.size() > shown_max) {
    // Never half a UTF-8 character.
    std::size_t end = shown_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    out.resize(end + 1);
    out += "...";
  }
  return out + "\"";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace spindrift::config
