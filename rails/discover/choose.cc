#include <arpa/inet.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "rails/discover/discover.h"

namespace spindrift::rails::discover {
namespace {

// The first pattern that matches; empty: none.
std::string matching(const std::vector<std::string>& patterns, const std::string& name) {
  for (const std::string& pattern : patterns) {
    if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return pattern;
  }
  return {};
}

std::string reason_against_kind(InterfaceKind kind) {
  switch (kind) {
    case InterfaceKind::kLoopback:
      return "loopback";
    case InterfaceKind::kBridge:
      return "a virtual bridge";
    case InterfaceKind::kTunnel:
      return "a tunnel";
    case InterfaceKind::kDummy:
      return "a dummy, which leads nowhere";
    case InterfaceKind::kPhysical:
    case InterfaceKind::kVeth:
    case InterfaceKind::kVlan:
    case InterfaceKind::kBond:
    case InterfaceKind::kVirtual:
      return {};
  }
  return {};
}

// Addresses of the families that are allowed, best first.
std::vector<InterfaceAddress> allowed_addresses(const SystemInterface& interface,
                                                const DiscoverOptions& options) {
  std::vector<InterfaceAddress> allowed;
  for (const InterfaceAddress& address : interface.addresses) {
    if (address.ipv6 ? options.ipv6 : options.ipv4) allowed.push_back(address);
  }
  std::stable_sort(allowed.begin(), allowed.end(), [](const auto& a, const auto& b) {
    return a.scope != b.scope ? a.scope > b.scope : !a.ipv6 && b.ipv6;
  });
  return allowed;
}

std::string reason_without_address(const SystemInterface& interface) {
  if (!interface.master.empty()) return "a port of " + interface.master;
  if (interface.addresses.empty()) return "no address";
  return interface.addresses.front().ipv6 ? "only IPv6 addresses, and tcp.ipv6 is off"
                                          : "only IPv4 addresses, and tcp.ipv4 is off";
}

InterfaceInfo describe(const SystemInterface& interface) {
  InterfaceInfo info;
  info.name = interface.name;
  info.device = interface.name;
  info.kind = interface.kind;
  info.addresses = interface.addresses;
  info.up = interface.up && interface.carrier;
  info.line_rate = interface.line_rate;
  info.numa = interface.numa;
  info.pci = interface.pci;
  return info;
}

InterfaceInfo judge(const SystemInterface& interface, const DiscoverOptions& options) {
  InterfaceInfo info = describe(interface);
  const std::string excluded = matching(options.exclude, interface.name);
  const std::string included = matching(options.include, interface.name);
  std::vector<InterfaceAddress> addresses = allowed_addresses(interface, options);
  if (!excluded.empty()) {
    info.reason = "excluded by pattern " + excluded;
  } else if (included.empty() && !options.include.empty()) {
    info.reason = "not named by tcp.include";
  } else if (included.empty() && !reason_against_kind(interface.kind).empty()) {
    info.reason = reason_against_kind(interface.kind);
  } else if (!interface.up) {
    info.reason = "down";
  } else if (!interface.carrier) {
    info.reason = "no carrier";
  } else if (addresses.empty()) {
    info.reason = reason_without_address(interface);
  } else {
    info.used = true;
    info.reason = included.empty() ? "up, with an address" : "named by pattern " + included;
    // Never a worse scope beside a better one: peers would be told of both.
    const AddressScope best = addresses.front().scope;
    std::erase_if(addresses, [&](const auto& address) {
      return address.scope < best && address.scope <= AddressScope::kLinkLocal;
    });
    info.addresses = std::move(addresses);
  }
  return info;
}

// A host with a routable address somewhere does not use link-local ones, unless
// they were asked for by name.
void drop_link_local(std::vector<InterfaceInfo>& infos, const DiscoverOptions& options) {
  const auto only_link_local = [](const InterfaceInfo& info) {
    return info.used && info.addresses.front().scope == AddressScope::kLinkLocal;
  };
  const bool alternative = std::any_of(infos.begin(), infos.end(), [&](const InterfaceInfo& info) {
    return info.used && !only_link_local(info);
  });
  if (!alternative) return;
  for (InterfaceInfo& info : infos) {
    if (!only_link_local(info) || !matching(options.include, info.name).empty()) continue;
    info.used = false;
    info.reason = "only link-local addresses, and others have routable ones";
  }
}

Status check_includes(const std::vector<SystemInterface>& interfaces,
                      const DiscoverOptions& options) {
  for (const std::string& pattern : options.include) {
    const bool found = std::any_of(interfaces.begin(), interfaces.end(), [&](const auto& one) {
      return ::fnmatch(pattern.c_str(), one.name.c_str(), 0) == 0;
    });
    if (found) continue;
    Status::Detail detail;
    detail.what = "tcp.include: no interface matches \"" + pattern + "\"";
    for (const SystemInterface& one : interfaces) {
      detail.why += (detail.why.empty() ? "this host has: " : ", ") + one.name;
    }
    if (interfaces.empty()) detail.why = "this host has no interface at all";
    detail.hint = "correct the name, or leave it out";
    return Status(Code::kNotFound, std::move(detail));
  }
  return {};
}

Result<InterfaceInfo> loopback_rail(const std::string& address,
                                    const std::vector<SystemInterface>& interfaces) {
  std::array<unsigned char, 16> bytes{};
  const bool v4 = ::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1 && bytes[0] == 127;
  const bool v6 = !v4 && ::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1 &&
                  std::memcmp(bytes.data(), &in6addr_loopback, bytes.size()) == 0;
  if (!v4 && !v6) {
    Status::Detail detail;
    detail.what = "tcp.loopback_addresses: \"" + address + "\" is no loopback address";
    detail.hint = "use addresses of 127.0.0.0/8, or ::1";
    return Status(Code::kInvalidArgument, std::move(detail));
  }
  InterfaceInfo info;
  for (const SystemInterface& one : interfaces) {
    if (one.kind == InterfaceKind::kLoopback) info = describe(one);
  }
  if (info.device.empty()) info.device = "lo";
  info.name = info.device + "/" + address;
  info.kind = InterfaceKind::kLoopback;
  info.addresses = {
      {address, static_cast<std::uint8_t>(v4 ? 8 : 128), v6, AddressScope::kLoopback}};
  info.used = true;
  info.reason = "named by tcp.loopback_addresses";
  return info;
}

}  // namespace

const char* to_string(InterfaceKind kind) {
  switch (kind) {
    case InterfaceKind::kPhysical:
      return "physical";
    case InterfaceKind::kVeth:
      return "veth";
    case InterfaceKind::kVlan:
      return "vlan";
    case InterfaceKind::kBond:
      return "bond";
    case InterfaceKind::kLoopback:
      return "loopback";
    case InterfaceKind::kBridge:
      return "bridge";
    case InterfaceKind::kTunnel:
      return "tunnel";
    case InterfaceKind::kDummy:
      return "dummy";
    case InterfaceKind::kVirtual:
      return "virtual";
  }
  return "unknown";
}

Result<std::vector<InterfaceInfo>> choose(const std::vector<SystemInterface>& interfaces,
                                          const DiscoverOptions& options) {
  if (Status status = check_includes(interfaces, options); !status.ok()) return status;
  std::vector<InterfaceInfo> infos;
  infos.reserve(interfaces.size());
  for (const SystemInterface& one : interfaces) infos.push_back(judge(one, options));
  drop_link_local(infos, options);
  for (const std::string& address : options.loopback_addresses) {
    Result<InterfaceInfo> rail = loopback_rail(address, interfaces);
    if (!rail) return rail.status();
    infos.push_back(std::move(*rail));
  }
  return infos;
}

Result<std::vector<InterfaceInfo>> discover(const DiscoverOptions& options) {
  Result<std::vector<SystemInterface>> interfaces = list_interfaces(options.sysfs_root);
  if (!interfaces) return interfaces.status();
  return choose(*interfaces, options);
}

}  // namespace spindrift::rails::discover
