#include "api/endpoints.h"

namespace spindrift::api {

namespace {

bool is_loopback(const std::string& address) {
  return address.rfind("127.", 0) == 0 || address == "::1" || address == "localhost";
}

std::vector<control::DataEndpoint> loopback_endpoints(const std::vector<std::string>& addresses) {
  std::vector<control::DataEndpoint> endpoints;
  for (const std::string& address : addresses) {
    control::DataEndpoint& endpoint = endpoints.emplace_back();
    // One device per address, so that each is a rail of its own.
    endpoint.device = addresses.size() == 1 ? "lo" : "lo/" + address;
    endpoint.address = address;
    endpoint.prefix = address.find(':') == std::string::npos ? 8 : 128;
    endpoint.bind_device = false;
  }
  return endpoints;
}

}  // namespace

Result<std::vector<control::DataEndpoint>> data_endpoints(const rails::tcp::TcpOptions& tcp,
                                                          const control::ControlOptions& control) {
  if (!tcp.loopback_addresses.empty()) return loopback_endpoints(tcp.loopback_addresses);
  if (is_loopback(control.bind)) return loopback_endpoints({control.bind});
  return Status(Code::kUnsupported, "discovery");
}

}  // namespace spindrift::api
