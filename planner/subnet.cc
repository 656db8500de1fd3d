#include "planner/subnet.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace spindrift::planner {

std::optional<Address> parse_address(const std::string& text) {
  Address address;
  const std::size_t slash = text.find('/');
  address.text = text.substr(0, slash);
  address.v6 = address.text.find(':') != std::string::npos;
  if (::inet_pton(address.v6 ? AF_INET6 : AF_INET, address.text.c_str(), address.bytes.data()) !=
      1) {
    return {};
  }
  const unsigned longest = address.v6 ? 128 : 32;
  address.prefix = longest;
  if (slash == std::string::npos) return address;
  const char* begin = text.data() + slash + 1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, address.prefix);
  if (error != std::errc() || stop != end || address.prefix > longest) return {};
  return address;
}

bool share_subnet(const Address& a, const Address& b) {
  if (a.v6 != b.v6) return false;
  // Lying in each other's subnet is agreeing in the longer of both prefixes.
  const unsigned prefix = std::max(a.prefix, b.prefix);
  const unsigned whole = prefix / 8;
  if (!std::equal(a.bytes.begin(), a.bytes.begin() + whole, b.bytes.begin())) return false;
  const unsigned rest = prefix % 8;
  return rest == 0 || (a.bytes[whole] ^ b.bytes[whole]) >> (8 - rest) == 0;
}

bool is_link_local(const Address& address) {
  if (address.v6) return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
  return address.bytes[0] == 169 && address.bytes[1] == 254;
}

bool is_loopback(const Address& address) {
  if (!address.v6) return address.bytes[0] == 127;
  const auto last = address.bytes.end() - 1;
  return *last == 1 &&
         std::all_of(address.bytes.begin(), last, [](auto byte) { return byte == 0; });
}

}  // namespace spindrift::planner
