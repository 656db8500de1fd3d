// Network interfaces of this host: what the system says of them, and whether
// data may use them. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace spindrift::rails::discover {

enum class InterfaceKind : std::uint8_t {
  kPhysical,  // also a NIC of a virtual machine
  kVeth,
  kVlan,
  kBond,
  kLoopback,
  kBridge,
  kTunnel,   // tun, tap, wireguard, ipip, sit, gre ...
  kDummy,    // dummy, ifb: leads nowhere
  kVirtual,  // any other without a device behind it
};
const char* to_string(InterfaceKind kind);

// Larger is better.
enum class AddressScope : std::uint8_t {
  kLoopback,     // 127/8, ::1
  kLinkLocal,    // 169.254/16, fe80::/10
  kUniqueLocal,  // fc00::/7
  kRoutable,     // everything else; private IPv4 ranges are as good as public ones
};

struct InterfaceAddress {
  std::string address;  // "10.0.2.1"; link-local IPv6 with its scope, "fe80::1%eth0"
  std::uint8_t prefix = 0;
  bool ipv6 = false;
  AddressScope scope = AddressScope::kRoutable;
};

// What the system says.
struct SystemInterface {
  std::string name;
  bool up = false;       // by its administrator
  bool carrier = false;  // the link is there
  bool loopback = false;
  InterfaceKind kind = InterfaceKind::kPhysical;
  std::vector<InterfaceAddress> addresses;
  Rate line_rate;      // 0: unknown
  int numa = -1;       // -1: unknown
  std::string pci;     // "0000:3b:00.0", empty: none
  std::string master;  // the bridge or bond that it is a port of
};

// The verdict on it.
struct InterfaceInfo {
  std::string name;    // of the rail: the interface's, or "lo/127.0.0.2"
  std::string device;  // of the kernel: "lo"
  InterfaceKind kind = InterfaceKind::kPhysical;
  // Usable ones, best first, IPv4 before IPv6 of the same scope. With used ==
  // false: all that there are.
  std::vector<InterfaceAddress> addresses;
  bool up = false;  // and has a carrier
  Rate line_rate;
  int numa = -1;
  std::string pci;
  bool used = false;
  std::string reason;  // why it is used, or why not; for people
};

}  // namespace spindrift::rails::discover
