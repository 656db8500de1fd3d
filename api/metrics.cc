#include "api/metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <algorithm>
#include <exception>

namespace spindrift::api {

namespace {

class Collector final : public prometheus::Collectable {
 public:
  explicit Collector(std::function<MetricsSnapshot()> collect) : collect_(std::move(collect)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families;
    for (const MetricsSnapshot::Value& value : collect_().values) {
      auto family = std::find_if(families.begin(), families.end(),
                                 [&](const auto& known) { return known.name == value.name; });
      if (family == families.end()) {
        families.push_back(
            {value.name,
             value.help,
             value.counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge,
             {}});
        family = families.end() - 1;
      }
      prometheus::ClientMetric& metric = family->metric.emplace_back();
      for (const auto& [name, text] : value.labels) metric.label.push_back({name, text});
      (value.counter ? metric.counter.value : metric.gauge.value) = value.value;
    }
    return families;
  }

 private:
  const std::function<MetricsSnapshot()> collect_;
};

}  // namespace

class MetricsServer::Server {
 public:
  Server(const std::string& bind, std::function<MetricsSnapshot()> collect)
      : exposer_(std::vector<std::string>{"listening_ports", bind, "num_threads", "2",
                                          "keep_alive_timeout_ms", "500"}),
        collector_(std::make_shared<Collector>(std::move(collect))) {
    exposer_.RegisterCollectable(collector_);
  }
  int port() const {
    const std::vector<int> ports = exposer_.GetListeningPorts();
    return ports.empty() ? 0 : ports.front();
  }
  std::string address;

 private:
  prometheus::Exposer exposer_;
  std::shared_ptr<Collector> collector_;
};

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(
    const config::MetricsOptions& options, std::function<MetricsSnapshot()> collect) {
  const bool v6 = options.bind.find(':') != std::string::npos;
  const std::string host = v6 ? "[" + options.bind + "]" : options.bind;
  const std::string bind = host + ":" + std::to_string(options.port);
  try {
    auto server = std::make_unique<Server>(bind, std::move(collect));
    server->address = host + ":" + std::to_string(server->port());
    return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(server)));
  } catch (const std::exception& error) {
    // The library says only that it could not start; nearly always the port.
    return Status(Code::kAddressInUse,
                  {.what = "metrics endpoint on " + bind,
                   .why = error.what(),
                   .hint = "another process has port " + std::to_string(options.port) +
                           ", or the address is not of this host; set metrics.port: 0 for any "
                           "free one"});
  }
}

MetricsServer::MetricsServer(std::unique_ptr<Server> server) : server_(std::move(server)) {}
MetricsServer::~MetricsServer() = default;
const std::string& MetricsServer::address() const {
  return server_->address;
}

}  // namespace spindrift::api
