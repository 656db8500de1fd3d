// Numbers for people: messages, tables, reports. Only for the edge; never read
// back by a program. All are pure and safe from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/instant.h"
#include "base/units.h"

namespace spindrift {

// Exact: "64 KiB", "3 GiB", "1048577 bytes", "1 byte". The largest unit that
// divides evenly, because "1 MiB is above 1 MiB" explains nothing.
std::string format_bytes(std::uint64_t bytes);

// Rounded down to three digits: "1.33 MiB", "24.9 KiB", "512 bytes".
std::string format_bytes_short(std::uint64_t bytes);

// In bits, as NICs are sold: "100 Gbit/s", "12.5 Mbit/s"; "unknown" for 0.
std::string format_rate(Rate rate);

// "1.34 ms", "850 ns", "2 min 5 s"; a negative span has its sign.
std::string format_duration(Duration span);

}  // namespace spindrift
