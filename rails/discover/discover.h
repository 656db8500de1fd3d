// Which network interfaces of this host data may use, and why not the others.
//
// Without settings: every interface that is up, has a carrier and an address,
// except loopback, bridges, tunnels and dummies. A veth counts as a NIC: inside
// a network namespace it is one. Of an interface's addresses the best scope
// wins; link-local ones are used only when the host has nothing better.
//
//   Result<std::vector<InterfaceInfo>> found = discover(options);
//   for (const InterfaceInfo& nic : *found) print(nic.name, nic.used, nic.reason);
//
// Thread-safety: pure functions but for the reads of the system.
// Errors: kNotFound when a pattern of `include` matches nothing, naming what
// there is; kInvalidArgument for a loopback address that is none; kIoError.
#pragma once

#include <string>
#include <vector>

#include "rails/discover/interface.h"
#include "spindrift/status.h"

namespace spindrift::rails::discover {

struct DiscoverOptions {
  // Shell patterns over interface names. A name that `include` matches is used
  // even if its kind would exclude it; `exclude` wins over `include`.
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  // One rail each over the loopback interface.
  std::vector<std::string> loopback_addresses;
  bool ipv4 = true;
  bool ipv6 = true;
  std::string sysfs_root = "/sys/class/net";
};

// getifaddrs() and sysfs, sorted by name.
Result<std::vector<SystemInterface>> list_interfaces(const std::string& sysfs_root);
// Fills in what <sysfs_root>/<name>/ says. A missing file leaves its field: in a
// network namespace /sys may show another one.
void read_sysfs(const std::string& sysfs_root, SystemInterface& interface);

// The verdicts, in the order given. Pure.
Result<std::vector<InterfaceInfo>> choose(const std::vector<SystemInterface>& interfaces,
                                          const DiscoverOptions& options);

Result<std::vector<InterfaceInfo>> discover(const DiscoverOptions& options);

}  // namespace spindrift::rails::discover
