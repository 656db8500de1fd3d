#include "api/endpoints.h"

#include <algorithm>

#include "base/log.h"
#include "rails/discover/discover.h"

namespace spindrift::api {

namespace {

using rails::discover::InterfaceAddress;
using rails::discover::InterfaceInfo;
using rails::discover::InterfaceKind;

bool is_loopback(const std::string& address) {
  return address.rfind("127.", 0) == 0 || address == "::1" || address == "localhost";
}

control::DataEndpoint to_endpoint(const InterfaceInfo& nic, const InterfaceAddress& address) {
  control::DataEndpoint endpoint;
  endpoint.device = nic.name;
  // Without the scope of a link-local address: the device says it as well.
  endpoint.address = address.address.substr(0, address.address.find('%'));
  endpoint.prefix = address.prefix;
  // A veth claims 10 Gbit/s whatever is behind it.
  if (nic.kind != InterfaceKind::kVeth) endpoint.line_rate = nic.line_rate;
  endpoint.numa = nic.numa;
  endpoint.pci = nic.pci;
  endpoint.bind_device = nic.kind != InterfaceKind::kLoopback;
  return endpoint;
}

// The best address of each family: a peer may have only one of them.
void add_endpoints(const InterfaceInfo& nic, std::vector<control::DataEndpoint>& out) {
  for (const bool ipv6 : {false, true}) {
    const auto best =
        std::find_if(nic.addresses.begin(), nic.addresses.end(),
                     [ipv6](const InterfaceAddress& address) { return address.ipv6 == ipv6; });
    if (best != nic.addresses.end()) out.push_back(to_endpoint(nic, *best));
  }
}

}  // namespace

Result<std::vector<control::DataEndpoint>> data_endpoints(const rails::tcp::TcpOptions& tcp,
                                                          const control::ControlOptions& control) {
  if (!tcp.enabled) return std::vector<control::DataEndpoint>{};
  rails::discover::DiscoverOptions options;
  options.include = tcp.include;
  options.exclude = tcp.exclude;
  options.loopback_addresses = tcp.loopback_addresses;
  options.ipv4 = tcp.ipv4;
  options.ipv6 = tcp.ipv6;
  const bool local_only =
      is_loopback(control.bind) && tcp.include.empty() && tcp.loopback_addresses.empty();
  if (local_only) {
    options.loopback_addresses = {control.bind == "localhost" ? "127.0.0.1" : control.bind};
  }
  Result<std::vector<InterfaceInfo>> found = rails::discover::discover(options);
  if (!found.ok()) return found.status();
  std::vector<control::DataEndpoint> endpoints;
  for (const InterfaceInfo& nic : *found) {
    // Who listens on loopback only means to stay there.
    const bool wanted =
        !is_loopback(control.bind) || !tcp.include.empty() || nic.kind == InterfaceKind::kLoopback;
    const std::string reason =
        nic.used && !wanted ? "control.bind is " + control.bind + ", which only loopback reaches"
                            : nic.reason;
    log_line(LogLevel::kInfo,
             "interface " + nic.name + (nic.used && wanted ? ": used, " : ": unused, ") + reason);
    if (nic.used && wanted) add_endpoints(nic, endpoints);
  }
  if (!endpoints.empty()) return endpoints;
  std::string reasons;
  for (const InterfaceInfo& nic : *found) {
    reasons += (reasons.empty() ? "" : "; ") + nic.name + ": " + nic.reason;
  }
  return Status(Code::kNotFound,
                {.what = "no network interface can be used",
                 .why = reasons,
                 .hint = "name one in tcp.include, or addresses in tcp.loopback_addresses"});
}

}  // namespace spindrift::api
