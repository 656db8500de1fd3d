#include "config/text_rules.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace spindrift::config {
namespace {

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// One of the letters and digits, or of `more`, each.
bool made_of(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_alnum(c) || more.find(c) != more.npos; });
}

bool sized(std::string_view text, std::size_t max) {
  return !text.empty() && text.size() <= max;
}

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

std::optional<unsigned> parse_unsigned(std::string_view text, unsigned max) {
  unsigned value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value > max) return {};
  return value;
}

// AF_INET, AF_INET6, or 0 for what is no address. `out` gets network order.
int parse_address(std::string_view text, std::array<unsigned char, 16>& out) {
  if (!sized(text, INET6_ADDRSTRLEN)) return 0;
  const std::string terminated(text);
  if (inet_pton(AF_INET, terminated.c_str(), out.data()) == 1) return AF_INET;
  if (inet_pton(AF_INET6, terminated.c_str(), out.data()) == 1) return AF_INET6;
  return 0;
}

int family(std::string_view text) {
  std::array<unsigned char, 16> unused{};
  return parse_address(text, unused);
}

bool is_name(std::string_view t) {
  return sized(t, 64) && made_of(t, "._-");
}
bool is_segment(std::string_view t) {
  return sized(t, 64) && made_of(t, "._-/:");
}
bool is_pattern(std::string_view t) {
  return sized(t, 128) && printable(t);
}
// Linux: 15 bytes for an interface; RDMA device names may have 63.
bool is_device(std::string_view t) {
  return sized(t, 63) && made_of(t, "._-:@");
}
bool is_address(std::string_view t) {
  return family(t) != 0;
}
bool is_loopback_address(std::string_view t) {
  return is_address(t) && is_loopback(t);
}
bool is_endpoint(std::string_view t) {
  const std::size_t colon = t.rfind(':');
  if (colon == t.npos) return false;
  std::string_view address = t.substr(0, colon);
  const auto port = parse_unsigned(t.substr(colon + 1), 65535);
  if (!port || *port == 0) return false;
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    return family(address.substr(1, address.size() - 2)) == AF_INET6;
  }
  return family(address) == AF_INET;
}
bool is_subnet(std::string_view t) {
  const std::size_t slash = t.find('/');
  if (slash == t.npos) return false;
  const int kind = family(t.substr(0, slash));
  return kind != 0 && parse_unsigned(t.substr(slash + 1), kind == AF_INET ? 32 : 128).has_value();
}
bool is_pci(std::string_view t) {
  // dddd:bb:dd.f
  if (t.size() != 12 || t[4] != ':' || t[7] != ':' || t[10] != '.') return false;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (i == 4 || i == 7 || i == 10) continue;
    if (std::string_view("0123456789abcdefABCDEF").find(t[i]) == std::string_view::npos)
      return false;
  }
  return t[11] <= '7';
}
bool is_path(std::string_view t) {
  return sized(t, 4096);
}
bool is_algorithm(std::string_view t) {
  return sized(t, 15) && made_of(t, "_-");
}
bool is_sentence(std::string_view t) {
  return sized(t, 256) && printable(t);
}
bool is_secret(std::string_view t) {
  return t.size() >= 16 && t.size() <= 256;
}

}  // namespace

const TextRule kNodeName{"1 to 64 letters, digits and . _ -", is_name};
const TextRule kSegmentName{"1 to 64 letters, digits and . _ - / :", is_segment};
const TextRule kPattern{"a shell pattern of 1 to 128 characters", is_pattern};
const TextRule kDeviceName{"a device name of 1 to 63 letters, digits and . _ - : @", is_device};
const TextRule kIpAddress{"an IP address, like 127.0.0.1 or ::1", is_address};
const TextRule kLoopbackAddress{"a loopback address, like 127.0.0.2 or ::1", is_loopback_address};
const TextRule kEndpoint{"IP:PORT, like 10.0.0.2:7400 or [fd00::2]:7400", is_endpoint};
const TextRule kSubnet{"an IP address with its prefix length, like 10.0.2.1/24", is_subnet};
const TextRule kPciAddress{"a PCI address, like 0000:3b:00.0", is_pci};
const TextRule kFilePath{"the path of a file", is_path};
const TextRule kAlgorithm{"the name of a congestion control, like cubic", is_algorithm};
const TextRule kSentence{"1 to 256 characters on one line", is_sentence};
const TextRule kSecret{"16 to 256 characters", is_secret, true};

bool is_loopback(std::string_view address) {
  std::array<unsigned char, 16> bytes{};
  switch (parse_address(address, bytes)) {
    case AF_INET:
      return bytes[0] == 127;
    case AF_INET6: {
      std::array<unsigned char, 16> loopback{};
      loopback[15] = 1;
      return bytes == loopback;
    }
    default:
      return false;
  }
}

}  // namespace spindrift::config
