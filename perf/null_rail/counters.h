// Counts what the hot path must not do. Linking counters.cc into a program
// replaces its operator new and its pthread locks by ones that count and then do
// what the originals do. Per thread; nothing to own.
#pragma once

#include <cstdint>

namespace spindrift::perf {

struct Counts {
  std::uint64_t allocations = 0;
  std::uint64_t locks = 0;
};

// Of the calling thread, since its start.
Counts counts_so_far();

// False when the replacements are not in effect, so that zeros would mean nothing.
bool counting_works();

}  // namespace spindrift::perf
