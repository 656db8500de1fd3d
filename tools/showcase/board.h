// What one sees while the demo's bytes move: the rate of each rail and their sum
// against what the links can carry. On a terminal a table with bars that is drawn
// over itself; elsewhere a line per second. Writes to standard output. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"
#include "spindrift/engine.h"

namespace spindrift::tools::showcase {

// What a link of this rate carries of a transfer's own bytes: of every 1514 bytes
// of a full Ethernet frame 1448 are payload (IPv4, TCP with timestamps).
constexpr double payload_share() {
  return 1448.0 / 1514.0;
}

class Board {
 public:
  // `rates_mbit` empty: the links have no set rate.
  Board(std::vector<std::uint32_t> rates_mbit, Instant now);

  // `phase`: "moving". Cheap when it is not yet time to draw.
  void update(const std::vector<RailStatus>& rails, const std::string& phase, Instant now);

  double ideal_mbit() const;

 private:
  struct Line {
    std::string rail;
    double mbit = 0;
    std::uint32_t nominal = 0;  // 0: not set
  };
  void draw_table(const std::vector<Line>& lines, const std::string& phase);
  void print_line(const std::vector<Line>& lines, const std::string& phase, Instant now);

  const std::vector<std::uint32_t> rates_mbit_;
  const bool terminal_;
  const Instant begin_;
  Instant last_;
  std::vector<std::uint64_t> last_bytes_;
  double fastest_mbit_ = 1;  // scale of the bars where links have no set rate
  std::size_t drawn_ = 0;    // lines of the table on the terminal
};

}  // namespace spindrift::tools::showcase
