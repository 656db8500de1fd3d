// Quantities as people write them: "64KiB", "25Gbit", "3GB/s", "5ms". Pure.
//
//   sizes      B, KiB MiB GiB TiB (powers of 1024), kB MB GB TB (powers of 1000)
//   rates      bit kbit Mbit Gbit Tbit (powers of 1000; "/s" may follow), or any
//              size with "/s": 3GB/s, 100MiB/s
//   durations  ns us ms s min h
//
// Units are case-sensitive, because "Mb" and "MB" differ by a factor of eight. A
// number without a unit is an error, but 0 is fine. Fractions are allowed where
// they come out whole: 1.5GiB is, 0.3B is not.
//
// write_*() gives the shortest text that parses back to exactly the same value; to
// show a number to people, see base/format.h.
// Errors: kInvalidArgument; `what` says what is wrong, `hint` what is allowed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "base/units.h"
#include "spindrift/status.h"

namespace spindrift::config {

Result<std::uint64_t> parse_size(std::string_view text);
Result<Rate> parse_rate(std::string_view text);
Result<Duration> parse_duration(std::string_view text);

std::string write_size(std::uint64_t bytes);
std::string write_rate(Rate rate);
std::string write_duration(Duration duration);  // not negative

}  // namespace spindrift::config
