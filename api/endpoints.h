// Which local addresses data may use: what discovery found on this host under
// the TCP settings, as the control plane's endpoints.
#pragma once

#include <vector>

#include "control/control_plane.h"
#include "rails/tcp/tcp_options.h"
#include "spindrift/status.h"

namespace spindrift::api {

// An engine that listens on loopback only uses the loopback interface, or the
// addresses that `tcp.loopback_addresses` names; all others use what discovery
// says. kNotFound lists what there is when nothing fits.
Result<std::vector<control::DataEndpoint>> data_endpoints(const rails::tcp::TcpOptions& tcp,
                                                          const control::ControlOptions& control);

}  // namespace spindrift::api
