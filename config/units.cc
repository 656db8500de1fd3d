#include "config/units.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include "config/suggest.h"

namespace spindrift::config {
namespace {

__extension__ using Wide = unsigned __int128;

// One unit is multiplier / divisor of the base unit (bits are eighths of bytes).
struct Unit {
  const char* name;
  std::uint64_t multiplier;
  std::uint64_t divisor = 1;
};

constexpr std::uint64_t kK = 1000, kM = kK * kK, kG = kM * kK, kT = kG * kK;
constexpr std::uint64_t kTiB = 1024 * kGiB;

constexpr Unit kSizes[] = {{"B", 1},   {"KiB", kKiB}, {"MiB", kMiB}, {"GiB", kGiB}, {"TiB", kTiB},
                           {"kB", kK}, {"MB", kM},    {"GB", kG},    {"TB", kT}};
constexpr Unit kRates[] = {
    {"bit", 1, 8},     {"kbit", kK, 8},   {"Mbit", kM, 8},   {"Gbit", kG, 8},  {"Tbit", kT, 8},
    {"B/s", 1},        {"kB/s", kK},      {"MB/s", kM},      {"GB/s", kG},     {"TB/s", kT},
    {"KiB/s", kKiB},   {"MiB/s", kMiB},   {"GiB/s", kGiB},   {"TiB/s", kTiB},  {"bit/s", 1, 8},
    {"kbit/s", kK, 8}, {"Mbit/s", kM, 8}, {"Gbit/s", kG, 8}, {"Tbit/s", kT, 8}};
constexpr Unit kDurations[] = {{"ns", 1}, {"us", kK},       {"ms", kM},
                               {"s", kG}, {"min", 60 * kG}, {"h", 3600 * kG}};

// What people write instead.
struct Alias {
  const char* written;
  const char* meant;
};
constexpr Alias kAliases[] = {
    {"K", "KiB"},        {"k", "KiB"},     {"M", "MiB"},       {"G", "GiB"},
    {"T", "TiB"},        {"KB", "KiB"},    {"Kb", "KiB"},      {"b", "B"},
    {"bytes", "B"},      {"byte", "B"},    {"kbps", "kbit"},   {"Mbps", "Mbit"},
    {"Gbps", "Gbit"},    {"Tbps", "Tbit"}, {"Kbit", "kbit"},   {"Mb", "Mbit"},
    {"Gb", "Gbit"},      {"Mb/s", "Mbit"}, {"Gb/s", "Gbit"},   {"bps", "bit"},
    {"m", "min"},        {"sec", "s"},     {"secs", "s"},      {"seconds", "s"},
    {"second", "s"},     {"msec", "ms"},   {"usec", "us"},     {"\xc2\xb5s", "us"},
    {"\xce\xbcs", "us"}, {"hours", "h"},   {"minutes", "min"}, {"mins", "min"},
    {"hr", "h"},         {"nsec", "ns"}};

struct Kind {
  std::span<const Unit> units;
  const char* noun;
  const char* allowed;
};
constexpr Kind kSizeKind{kSizes, "size",
                         "allowed: a number with B, KiB, MiB, GiB, TiB (1024) or "
                         "kB, MB, GB, TB (1000), like 64KiB"};
constexpr Kind kRateKind{kRates, "rate",
                         "allowed: a number with kbit, Mbit, Gbit, Tbit, or a size "
                         "per second, like 25Gbit or 3GB/s"};
constexpr Kind kDurationKind{kDurations, "duration",
                             "allowed: a number with ns, us, ms, s, min or h, like 5ms"};

Status wrong(std::string what, const Kind& kind, const std::string& advice = {}) {
  return Status(Code::kInvalidArgument,
                Status::Detail{.what = std::move(what), .hint = advice + kind.allowed});
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

const Unit* find_unit(std::string_view name, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (name == unit.name) return &unit;
  }
  return nullptr;
}

Status unknown_unit(std::string_view text, std::string_view name, const Kind& kind) {
  std::string meant;
  for (const Alias& alias : kAliases) {
    if (name == alias.written && find_unit(alias.meant, kind.units)) meant = alias.meant;
  }
  for (const Unit& unit : kind.units) {
    if (meant.empty() && equal_ignoring_case(name, unit.name)) meant = unit.name;
  }
  const std::string advice = meant.empty() ? "" : "did you mean " + meant + "? ";
  return wrong(quoted(text) + " has the unit " + quoted(name) + ", which no " + kind.noun + " has",
               kind, advice);
}

// A decimal number: digits / 10^decimals.
struct Number {
  std::uint64_t digits = 0;
  std::uint64_t scale = 1;
  std::size_t length = 0;  // of its text
};

std::optional<Number> read_number(std::string_view text) {
  Number n;
  bool any = false, point = false;
  for (; n.length < text.size(); ++n.length) {
    const char c = text[n.length];
    if (c == '.' && !point && any) {
      point = true;
      continue;
    }
    if (!is_digit(c)) break;
    any = true;
    if (__builtin_mul_overflow(n.digits, std::uint64_t{10}, &n.digits)) return {};
    if (__builtin_add_overflow(n.digits, static_cast<std::uint64_t>(c - '0'), &n.digits)) return {};
    if (point && __builtin_mul_overflow(n.scale, std::uint64_t{10}, &n.scale)) return {};
  }
  if (!any || text[n.length - 1] == '.') return {};
  return n;
}

Result<std::uint64_t> parse_quantity(std::string_view text, const Kind& kind) {
  if (text.empty()) return wrong(std::string("the ") + kind.noun + " is empty", kind);
  if (text[0] == '-') return wrong(quoted(text) + " is negative", kind);
  if (!is_digit(text[0])) {
    return wrong(quoted(text) + " is not a " + kind.noun, kind);
  }
  const auto number = read_number(text);
  if (!number) return wrong(quoted(text) + " is not a number that fits", kind);
  std::string_view name = text.substr(number->length);
  if (!name.empty() && name[0] == ' ') name.remove_prefix(1);
  if (name.empty()) {
    if (number->digits == 0) return std::uint64_t{0};
    return wrong(quoted(text) + " has no unit", kind);
  }
  const Unit* unit = find_unit(name, kind.units);
  if (!unit) return unknown_unit(text, name, kind);

  const Wide product = static_cast<Wide>(number->digits) * unit->multiplier;
  const Wide divisor = static_cast<Wide>(number->scale) * unit->divisor;
  if (product % divisor != 0) {
    return wrong(quoted(text) + " does not come out as a whole number of " +
                     (kind.units.data() == kDurations ? "nanoseconds" : "bytes"),
                 kind);
  }
  const Wide value = product / divisor;
  if (value > std::numeric_limits<std::uint64_t>::max()) {
    return wrong(quoted(text) + " is too large", kind);
  }
  return static_cast<std::uint64_t>(value);
}

// The unit in which the number is smallest; of equals the first, so that the
// order of the tables decides.
std::string write_quantity(std::uint64_t value, const Kind& kind) {
  if (value == 0) return "0";
  Wide least = static_cast<Wide>(value) * 8 + 1;
  const char* name = "";
  for (const Unit& unit : kind.units) {
    const Wide scaled = static_cast<Wide>(value) * unit.divisor;
    if (scaled % unit.multiplier != 0) continue;
    const Wide number = scaled / unit.multiplier;
    if (number >= least || number > std::numeric_limits<std::uint64_t>::max()) continue;
    least = number;
    name = unit.name;
  }
  return std::to_string(static_cast<std::uint64_t>(least)) + name;
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  return parse_quantity(text, kSizeKind);
}

Result<Rate> parse_rate(std::string_view text) {
  const Result<std::uint64_t> value = parse_quantity(text, kRateKind);
  if (!value) return value.status();
  return Rate{*value};
}

Result<Duration> parse_duration(std::string_view text) {
  const Result<std::uint64_t> value = parse_quantity(text, kDurationKind);
  if (!value) return value.status();
  if (*value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return wrong(quoted(text) + " is too long", kDurationKind);
  }
  return Duration(static_cast<std::int64_t>(*value));
}

std::string write_size(std::uint64_t bytes) {
  return write_quantity(bytes, kSizeKind);
}
std::string write_rate(Rate rate) {
  return write_quantity(rate.bytes_per_s, kRateKind);
}
std::string write_duration(Duration duration) {
  const std::int64_t ns = duration.count();
  return write_quantity(ns < 0 ? 0 : static_cast<std::uint64_t>(ns), kDurationKind);
}

}  // namespace spindrift::config
