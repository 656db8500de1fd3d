#include "base/format.h"

#include <array>
#include <limits>

namespace spindrift {
namespace {

// Three significant digits of value / unit, without trailing zeros: 1340 of
// 1000 -> "1.34". Integers only, so that every compiler prints the same.
std::string three_digits(std::uint64_t value, std::uint64_t unit) {
  const std::uint64_t whole = value / unit;
  const std::uint64_t rest = value % unit;
  std::uint64_t hundredths = mul_div(rest, 100, unit);
  if (whole >= 100) hundredths = 0;
  if (whole >= 10) hundredths -= hundredths % 10;
  std::string text = std::to_string(whole);
  if (hundredths == 0) return text;
  text += '.';
  text += static_cast<char>('0' + hundredths / 10);
  if (hundredths % 10 != 0) text += static_cast<char>('0' + hundredths % 10);
  return text;
}

struct Unit {
  std::uint64_t size;
  const char* name;
};

constexpr std::array<Unit, 4> kByteUnits{
    {{1024 * kGiB, " TiB"}, {kGiB, " GiB"}, {kMiB, " MiB"}, {kKiB, " KiB"}}};
constexpr std::array<Unit, 4> kBitUnits{{{1'000'000'000'000, " Tbit/s"},
                                         {1'000'000'000, " Gbit/s"},
                                         {1'000'000, " Mbit/s"},
                                         {1'000, " kbit/s"}}};

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  for (const Unit& unit : kByteUnits) {
    if (bytes != 0 && bytes % unit.size == 0) return std::to_string(bytes / unit.size) + unit.name;
  }
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string format_bytes_short(std::uint64_t bytes) {
  for (const Unit& unit : kByteUnits) {
    if (bytes >= unit.size) return three_digits(bytes, unit.size) + unit.name;
  }
  return format_bytes(bytes);
}

std::string format_rate(Rate rate) {
  if (rate.bytes_per_s == 0) return "unknown";
  const std::uint64_t bits = mul_div(rate.bytes_per_s, 8, 1);
  for (const Unit& unit : kBitUnits) {
    if (bits >= unit.size) return three_digits(bits, unit.size) + unit.name;
  }
  return std::to_string(bits) + " bit/s";
}

std::string format_duration(Duration span) {
  const std::int64_t signed_ns = span.count();
  const std::string sign = signed_ns < 0 ? "-" : "";
  // Negating in unsigned arithmetic keeps the most negative value defined.
  const auto ns = signed_ns < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(signed_ns)
                                : static_cast<std::uint64_t>(signed_ns);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (ns < 1'000) return sign + std::to_string(ns) + " ns";
  if (ns < 1'000'000) return sign + three_digits(ns, 1'000) + " us";
  if (ns < kSecond) return sign + three_digits(ns, 1'000'000) + " ms";
  if (ns < 60 * kSecond) return sign + three_digits(ns, kSecond) + " s";
  const std::uint64_t seconds = ns / kSecond;
  if (seconds < 3600) {
    return sign + std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  }
  return sign + std::to_string(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) + " min";
}

}  // namespace spindrift
