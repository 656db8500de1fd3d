// IP addresses with prefix lengths, as far as pairing needs them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace spindrift::planner {

// "10.0.2.1/24", "fd00::1/64". Without a prefix length an address has no subnet
// but itself.
struct Address {
  std::array<std::uint8_t, 16> bytes{};  // network order; IPv4 uses the first four
  bool v6 = false;
  unsigned prefix = 0;
  std::string text;  // without the prefix length
};

// Nothing when `text` is no address or its prefix is too long.
std::optional<Address> parse_address(const std::string& text);

// Each lies in the subnet of the other.
bool share_subnet(const Address& a, const Address& b);

// 169.254/16 and fe80::/10: every link has the same ones, so equal prefixes say
// nothing about who can reach whom.
bool is_link_local(const Address& address);
// 127/8 and ::1: reaches nobody but this host.
bool is_loopback(const Address& address);

}  // namespace spindrift::planner
