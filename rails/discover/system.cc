// What getifaddrs() and sysfs say of this host's interfaces.
#include <arpa/inet.h>
#include <fnmatch.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <bit>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "rails/discover/discover.h"

namespace spindrift::rails::discover {
namespace {

namespace fs = std::filesystem;

// From linux/if_arp.h.
constexpr long long kTypeEthernet = 1;
constexpr long long kTypeInfiniband = 32;
constexpr long long kTypeLoopback = 772;

AddressScope scope_of(const in_addr& address) {
  const std::uint32_t host = ntohl(address.s_addr);
  if (host >> 24 == 127) return AddressScope::kLoopback;
  if (host >> 16 == 0xa9fe) return AddressScope::kLinkLocal;
  return AddressScope::kRoutable;
}

AddressScope scope_of(const in6_addr& address) {
  if (IN6_IS_ADDR_LOOPBACK(&address)) return AddressScope::kLoopback;
  if (IN6_IS_ADDR_LINKLOCAL(&address)) return AddressScope::kLinkLocal;
  if ((address.s6_addr[0] & 0xfe) == 0xfc) return AddressScope::kUniqueLocal;
  return AddressScope::kRoutable;
}

std::uint8_t prefix_of(const unsigned char* mask, std::size_t bytes) {
  int bits = 0;
  for (std::size_t i = 0; i < bytes; ++i) bits += std::popcount(mask[i]);
  return static_cast<std::uint8_t>(bits);
}

std::optional<InterfaceAddress> address_of(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || entry.ifa_netmask == nullptr) return {};
  InterfaceAddress found;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (entry.ifa_addr->sa_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in*>(entry.ifa_addr)->sin_addr;
    const auto& mask = reinterpret_cast<const sockaddr_in*>(entry.ifa_netmask)->sin_addr;
    ::inet_ntop(AF_INET, &address, text.data(), text.size());
    found.scope = scope_of(address);
    found.prefix = prefix_of(reinterpret_cast<const unsigned char*>(&mask), sizeof mask);
  } else if (entry.ifa_addr->sa_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr)->sin6_addr;
    const auto& mask = reinterpret_cast<const sockaddr_in6*>(entry.ifa_netmask)->sin6_addr;
    ::inet_ntop(AF_INET6, &address, text.data(), text.size());
    found.scope = scope_of(address);
    found.prefix = prefix_of(mask.s6_addr, sizeof mask.s6_addr);
    found.ipv6 = true;
  } else {
    return {};
  }
  found.address = text.data();
  if (found.ipv6 && found.scope == AddressScope::kLinkLocal) {
    found.address += std::string("%") + entry.ifa_name;
  }
  return found;
}

// The first line of a file; empty when it cannot be read, which sysfs also says
// for attributes that have no value (the speed of a link that is down).
std::string read_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<long long> read_number(const fs::path& path) {
  const std::string line = read_line(path);
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(line.c_str(), &end, 0);
  if (line.empty() || end == line.c_str() || errno != 0) return {};
  return value;
}

bool present(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool named(const std::string& name, std::initializer_list<const char*> patterns) {
  for (const char* pattern : patterns) {
    if (::fnmatch(pattern, name.c_str(), 0) == 0) return true;
  }
  return false;
}

// Container hosts name their bridges like this; the name is all there is when
// /sys shows another network namespace.
InterfaceKind kind_by_name(const std::string& name) {
  if (named(name, {"docker*", "br-*", "virbr*", "cni*", "lxcbr*", "lxdbr*", "podman*"})) {
    return InterfaceKind::kBridge;
  }
  if (named(name, {"dummy*", "ifb*"})) return InterfaceKind::kDummy;
  if (named(name, {"tun[0-9]*", "tap[0-9]*", "wg[0-9]*", "sit[0-9]*", "gre[0-9]*", "vxlan*",
                   "flannel*", "tailscale*"})) {
    return InterfaceKind::kTunnel;
  }
  return InterfaceKind::kPhysical;
}

InterfaceKind kind_by_sysfs(const fs::path& folder, const std::string& name) {
  const long long type = read_number(folder / "type").value_or(kTypeEthernet);
  const std::string uevent_kind = [&folder] {
    std::ifstream file(folder / "uevent");
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("DEVTYPE=", 0) == 0) return line.substr(8);
    }
    return std::string();
  }();
  if (type == kTypeLoopback) return InterfaceKind::kLoopback;
  if (present(folder / "bridge") || uevent_kind == "bridge") return InterfaceKind::kBridge;
  if (present(folder / "bonding") || uevent_kind == "bond") return InterfaceKind::kBond;
  if (uevent_kind == "vlan") return InterfaceKind::kVlan;
  if (uevent_kind == "vxlan" || uevent_kind == "wireguard" || present(folder / "tun_flags")) {
    return InterfaceKind::kTunnel;
  }
  if (type != kTypeEthernet && type != kTypeInfiniband) return InterfaceKind::kTunnel;
  const InterfaceKind by_name = kind_by_name(name);
  if (by_name != InterfaceKind::kPhysical) return by_name;
  if (present(folder / "device")) return InterfaceKind::kPhysical;
  // A veth has a peer: its iflink is another interface's index.
  const auto own = read_number(folder / "ifindex");
  const auto peer = read_number(folder / "iflink");
  if (own && peer && *own != *peer) return InterfaceKind::kVeth;
  return InterfaceKind::kVirtual;
}

// The innermost PCI function on the way to the device: a virtio NIC sits below it.
std::string pci_of(const fs::path& device) {
  std::error_code error;
  const fs::path real = fs::canonical(device, error);
  if (error) return {};
  std::string pci;
  for (const fs::path& part : real) {
    constexpr const char* kPattern =
        "[0-9a-f][0-9a-f][0-9a-f][0-9a-f]:[0-9a-f][0-9a-f]:[0-9a-f][0-9a-f].[0-7]";
    if (::fnmatch(kPattern, part.c_str(), 0) == 0) pci = part.string();
  }
  return pci;
}

int numa_of(const fs::path& device) {
  std::error_code error;
  fs::path at = fs::canonical(device, error);
  // A virtio device has no file of its own; its parent has.
  for (int depth = 0; !error && depth < 3; ++depth, at = at.parent_path()) {
    if (const auto node = read_number(at / "numa_node")) {
      return *node >= 0 && *node < 4096 ? static_cast<int>(*node) : -1;
    }
  }
  return -1;
}

// A vlan or bond lies where its first lower interface lies.
fs::path device_of(const fs::path& folder) {
  if (present(folder / "device")) return folder / "device";
  std::error_code error;
  std::string lower;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("lower_", 0) == 0 && (lower.empty() || name < lower)) lower = name;
  }
  return lower.empty() ? fs::path() : folder / lower / "device";
}

}  // namespace

void read_sysfs(const std::string& sysfs_root, SystemInterface& interface) {
  const fs::path folder = fs::path(sysfs_root) / interface.name;
  if (!present(folder)) {
    interface.kind = interface.loopback ? InterfaceKind::kLoopback : kind_by_name(interface.name);
    return;
  }
  interface.kind =
      interface.loopback ? InterfaceKind::kLoopback : kind_by_sysfs(folder, interface.name);
  if (const auto carrier = read_number(folder / "carrier")) interface.carrier = *carrier != 0;
  if (read_line(folder / "operstate") == "down") interface.carrier = false;
  // Megabits; what a veth or a bridge says there is made up.
  const auto speed = read_number(folder / "speed");
  const bool real = interface.kind == InterfaceKind::kPhysical ||
                    interface.kind == InterfaceKind::kVlan ||
                    interface.kind == InterfaceKind::kBond;
  constexpr long long kUnknownSpeed = 0xffffffffLL;  // some drivers' -1
  if (real && speed && *speed > 0 && *speed < kUnknownSpeed) {
    interface.line_rate = Rate{static_cast<std::uint64_t>(*speed) * 1'000'000 / 8};
  }
  if (present(folder / "master")) {
    std::error_code error;
    interface.master = fs::read_symlink(folder / "master", error).filename().string();
  }
  const fs::path device = device_of(folder);
  if (device.empty()) return;
  interface.pci = pci_of(device);
  interface.numa = numa_of(device);
}

Result<std::vector<SystemInterface>> list_interfaces(const std::string& sysfs_root) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    Status::Detail detail;
    detail.what = "network interfaces could not be listed";
    detail.os_error = errno;
    return Status(Code::kIoError, std::move(detail));
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::map<std::string, SystemInterface> by_name;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    SystemInterface& interface = by_name[entry->ifa_name];
    interface.name = entry->ifa_name;
    interface.up = (entry->ifa_flags & IFF_UP) != 0;
    interface.carrier = (entry->ifa_flags & IFF_RUNNING) != 0;
    interface.loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    if (auto address = address_of(*entry)) interface.addresses.push_back(std::move(*address));
  }
  std::vector<SystemInterface> interfaces;
  for (auto& [name, interface] : by_name) {
    read_sysfs(sysfs_root, interface);
    interfaces.push_back(std::move(interface));
  }
  return interfaces;
}

}  // namespace spindrift::rails::discover
