#include "tools/showcase/board.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "tools/terminal.h"

namespace spindrift::tools::showcase {
namespace {

constexpr Duration kRedraw = std::chrono::milliseconds(250);
constexpr Duration kPlainLine = std::chrono::seconds(1);
constexpr int kBarCells = 40;

// "tcp:rail0>rail0" -> "rail0"
std::string short_name(const std::string& rail) {
  const std::size_t colon = rail.find(':');
  const std::size_t arrow = rail.find('>');
  return colon == std::string::npos || arrow == std::string::npos || arrow < colon
             ? rail
             : rail.substr(colon + 1, arrow - colon - 1);
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

Board::Board(std::vector<std::uint32_t> rates_mbit, Instant now)
    : rates_mbit_(std::move(rates_mbit)), terminal_(is_terminal(stdout)), begin_(now), last_(now) {}

double Board::ideal_mbit() const {
  return payload_share() * std::accumulate(rates_mbit_.begin(), rates_mbit_.end(), 0.0);
}

void Board::update(const std::vector<RailStatus>& rails, const std::string& phase, Instant now) {
  const Duration span = now - last_;
  if (span < (terminal_ ? kRedraw : kPlainLine)) return;
  last_bytes_.resize(rails.size());
  std::vector<Line> lines;
  for (std::size_t i = 0; i < rails.size(); ++i) {
    const std::uint64_t bytes = rails[i].bytes_out + rails[i].bytes_in;
    Line& line = lines.emplace_back();
    line.rail = short_name(rails[i].rail);
    line.mbit = static_cast<double>(bytes - std::min(bytes, last_bytes_[i])) * 8e3 /
                static_cast<double>(span.count());
    line.nominal = i < rates_mbit_.size() ? rates_mbit_[i] : 0;
    fastest_mbit_ = std::max({fastest_mbit_, line.mbit, static_cast<double>(line.nominal)});
    last_bytes_[i] = bytes;
  }
  last_ = now;
  if (terminal_) {
    draw_table(lines, phase);
  } else {
    print_line(lines, phase, now);
  }
}

void Board::draw_table(const std::vector<Line>& lines, const std::string& phase) {
  if (drawn_ > 0) std::printf("\033[%zuA", drawn_);
  std::vector<double> rates;
  for (const Line& line : lines) {
    // Bars of one scale show that the fast links carry more.
    const int width =
        std::max(1, static_cast<int>(kBarCells * (line.nominal > 0 ? line.nominal : fastest_mbit_) /
                                     fastest_mbit_));
    const double full = line.nominal > 0 ? line.nominal * payload_share() : fastest_mbit_;
    std::printf("\033[K  %-14s %s%*s %6.0f Mbit/s", line.rail.c_str(),
                bar(line.mbit / full, width).c_str(), kBarCells - width, "", line.mbit);
    if (line.nominal > 0) std::printf(" of %4.0f", full);
    std::printf("\n");
    rates.push_back(line.mbit);
  }
  std::printf("\033[K  %-14s %-*s %6.0f Mbit/s", "together", kBarCells, phase.c_str(),
              sum_of(rates));
  if (!rates_mbit_.empty()) std::printf(" of %4.0f", ideal_mbit());
  std::printf("\n");
  std::fflush(stdout);
  drawn_ = lines.size() + 1;
}

void Board::print_line(const std::vector<Line>& lines, const std::string& phase, Instant now) {
  std::string text;
  std::vector<double> rates;
  for (const Line& line : lines) {
    char part[64];
    std::snprintf(part, sizeof part, "%s%s %.0f", text.empty() ? "" : " + ", line.rail.c_str(),
                  line.mbit);
    text += part;
    rates.push_back(line.mbit);
  }
  std::printf("  %4.1f s  %-11s %s = %.0f Mbit/s", static_cast<double>(to_ns(now - begin_)) / 1e9,
              phase.c_str(), text.c_str(), sum_of(rates));
  if (!rates_mbit_.empty()) std::printf(" of %.0f", ideal_mbit());
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace spindrift::tools::showcase
