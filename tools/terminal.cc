#include "tools/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace spindrift::tools {
namespace {

constexpr Duration kRedraw = std::chrono::milliseconds(100);
constexpr Duration kPlainLine = std::chrono::seconds(5);  // for logs: signs of life, not noise
constexpr int kBarCells = 24;

}  // namespace

bool is_terminal(std::FILE* stream) {
  return ::isatty(::fileno(stream)) == 1;
}

std::string bar(double fraction, int width) {
  const int full = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * width));
  return std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(width - full), '-');
}

ProgressLine::ProgressLine(bool enabled) : enabled_(enabled), terminal_(is_terminal(stderr)) {}

void ProgressLine::show(const std::string& what, double fraction, const std::string& detail,
                        Instant now) {
  if (!enabled_) return;
  if (next_ == Instant{} && !terminal_) next_ = now + kPlainLine;  // short work needs no sign
  if (now < next_) return;
  next_ = now + (terminal_ ? kRedraw : kPlainLine);
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s [%s] %s", what.c_str(), bar(fraction, kBarCells).c_str(),
                 detail.c_str());
    drawn_ = true;
  } else {
    std::fprintf(stderr, "%s: %.0f %%, %s\n", what.c_str(), 100 * std::clamp(fraction, 0.0, 1.0),
                 detail.c_str());
  }
}

void ProgressLine::clear() {
  if (drawn_) std::fprintf(stderr, "\r\033[K");
  drawn_ = false;
}

}  // namespace spindrift::tools
