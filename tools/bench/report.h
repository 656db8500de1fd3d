// A benchmark's results: a table for people, a line of JSON per point for
// programs. Numbers in JSON are bytes, bytes per second and nanoseconds, and all
// inputs are repeated, so that a run can be repeated from its output. Pure.
#pragma once

#include <string>

#include "tools/bench/bench_options.h"
#include "tools/bench/point.h"

namespace spindrift::tools::bench {

struct PointRecord {
  const BenchOptions& options;
  const PointOptions& point;
  const PointResult& result;
  std::uint64_t memory = 0;  // at each end
  std::string peer;          // the name it has
};

// Two lines that name the columns of to_row(). With newline.
std::string table_head();
// One line for the point, then one per rail when there are several, then what
// failed first. With newline.
std::string to_row(const PointRecord& record);

// One object without a newline.
std::string to_json(const PointRecord& record);

}  // namespace spindrift::tools::bench
