// The Prometheus endpoint (prometheus-cpp). Counters live in the engine and its
// workers; they are summed when somebody scrapes, and cost nothing otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/rail_details.h"
#include "config/node_config.h"
#include "spindrift/engine.h"
#include "spindrift/status.h"

namespace spindrift::api {

// What there is to tell, at one moment.
struct MetricsSnapshot {
  struct Value {
    std::string name;  // "spindrift_transfers_total"
    std::string help;
    bool counter = true;  // else a gauge
    std::vector<std::pair<std::string, std::string>> labels;
    double value = 0;
  };
  std::vector<Value> values;
};

// The values of one rail.
void add_rail(const RailDetails& rail, MetricsSnapshot& out);

class MetricsServer {
 public:
  // kAddressInUse names the address and the port.
  static Result<std::unique_ptr<MetricsServer>> start(const config::MetricsOptions& options,
                                                      std::function<MetricsSnapshot()> collect);
  ~MetricsServer();
  const std::string& address() const;  // "IP:PORT"

 private:
  class Server;
  explicit MetricsServer(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

}  // namespace spindrift::api
