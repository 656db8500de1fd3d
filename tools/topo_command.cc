// spindrift topo: what this machine has to move data with.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "config/load.h"
#include "planner/text_table.h"
#include "rails/discover/discover.h"
#include "tools/commands.h"
#include "tools/kernel_facts.h"
#include "tools/quantity_options.h"
#include "tools/start_engine.h"

namespace spindrift::tools {
namespace {

using Json = nlohmann::ordered_json;
using rails::discover::InterfaceAddress;
using rails::discover::InterfaceInfo;

constexpr char kAbout[] =
    R"(Show the network interfaces found here, and which are used and why

Lists every interface with its state, rate, NUMA node and addresses, whether data
would use it and why or why not, and the settings of the kernel that matter. With
--peer it connects and lists the rails to that peer.)";

constexpr char kFooter[] =
    R"(Without --config the defaults of a node file are shown: every interface that is up,
has an address and is not loopback, a bridge, a tunnel or a dummy. `tcp.include` and
`tcp.exclude` of a node file change that.

An engine that listens on loopback only (the default, `control.bind`) uses the
loopback interface whatever is found.

Examples:
  spindrift topo
  spindrift topo --config node.yaml --json
  spindrift topo --config node.yaml --peer decode-0

Exit status: 0 done; 1 a wrong file, or the peer cannot be reached: standard error
says why.)";

struct TopoOptions {
  std::string config;
  std::string peer;
  Duration timeout = std::chrono::seconds(5);
  bool json = false;
};

std::string addresses_of(const InterfaceInfo& nic) {
  std::string text;
  for (const InterfaceAddress& address : nic.addresses) {
    text += (text.empty() ? "" : " ") + address.address + "/" + std::to_string(address.prefix);
  }
  return text.empty() ? "-" : text;
}

void print_interfaces(const std::vector<InterfaceInfo>& found) {
  std::vector<std::vector<std::string>> rows{
      {"interface", "data", "kind", "link", "rate", "NUMA", "addresses", "why"}};
  for (const InterfaceInfo& nic : found) {
    rows.push_back({nic.name, nic.used ? "used" : "unused", to_string(nic.kind),
                    nic.up ? "up" : "down", format_rate(nic.line_rate),
                    nic.numa < 0 ? "-" : std::to_string(nic.numa), addresses_of(nic), nic.reason});
  }
  std::printf("Interfaces\n%s", planner::format_table(rows).c_str());
}

void print_facts(const std::vector<KernelFact>& facts) {
  std::vector<std::vector<std::string>> rows;
  for (const KernelFact& fact : facts) {
    rows.push_back({fact.name, fact.value + (fact.advice.empty() ? "" : "; " + fact.advice)});
  }
  std::printf("\nKernel\n%s", planner::format_table(rows).c_str());
}

void print_rails(const std::string& peer, const std::vector<RailStatus>& rails) {
  std::vector<std::vector<std::string>> rows{{"rail", "state", "rate out", "rate in", "why"}};
  for (const RailStatus& rail : rails) {
    const auto rate = [](std::uint64_t bytes_per_s) {
      return bytes_per_s == 0 ? std::string("not measured") : format_rate(Rate{bytes_per_s});
    };
    rows.push_back({rail.rail, rail.usable ? "usable" : "unusable", rate(rail.rate_out_bps),
                    rate(rail.rate_in_bps), rail.usable ? "" : rail.reason});
  }
  std::printf("\nRails to %s\n%s", peer.c_str(), planner::format_table(rows).c_str());
}

Json to_json(const std::vector<InterfaceInfo>& found) {
  Json list = Json::array();
  for (const InterfaceInfo& nic : found) {
    Json addresses = Json::array();
    for (const InterfaceAddress& address : nic.addresses) {
      addresses.push_back(address.address + "/" + std::to_string(address.prefix));
    }
    list.push_back(
        {{"name", nic.name},
         {"device", nic.device},
         {"used", nic.used},
         {"reason", nic.reason},
         {"kind", to_string(nic.kind)},
         {"up", nic.up},
         {"bytes_per_s",
          nic.line_rate.bytes_per_s == 0 ? Json(nullptr) : Json(nic.line_rate.bytes_per_s)},
         {"numa", nic.numa < 0 ? Json(nullptr) : Json(nic.numa)},
         {"pci", nic.pci},
         {"addresses", addresses}});
  }
  return list;
}

Json to_json(const std::vector<KernelFact>& facts) {
  Json list = Json::array();
  for (const KernelFact& fact : facts) {
    list.push_back({{"name", fact.name}, {"value", fact.value}, {"advice", fact.advice}});
  }
  return list;
}

Json to_json(const std::vector<RailStatus>& rails) {
  Json list = Json::array();
  for (const RailStatus& rail : rails) {
    list.push_back({{"peer", rail.peer},
                    {"rail", rail.rail},
                    {"usable", rail.usable},
                    {"reason", rail.reason},
                    {"rate_out_bytes_per_s", rail.rate_out_bps},
                    {"rate_in_bytes_per_s", rail.rate_in_bps}});
  }
  return list;
}

bool is_loopback(const std::string& address) {
  return address.rfind("127.", 0) == 0 || address == "::1";
}

struct PeerRails {
  std::string name;
  std::vector<RailStatus> rails;
};

// Asks for a segment that no peer has: what counts is the connection, and the
// answer shows that the peer looked.
Result<PeerRails> connect(config::NodeConfig node, const TopoOptions& options) {
  // Ports of the agent that may run with this file, and its name: a peer takes a
  // node of the same name for the agent's next process.
  if (!node.name.empty()) {
    node.name = node.name.substr(0, 48) + "-topo-" + std::to_string(::getpid());
  }
  node.metrics.enabled = false;
  node.control.port_min = node.control.port_max = 0;
  node.tcp.port_min = node.tcp.port_max = 0;
  Result<std::unique_ptr<Engine>> engine = start_engine(std::move(node));
  if (!engine.ok()) return engine.status();
  const Result<Segment> none =
      (*engine)->open_segment(options.peer, "spindrift:topo", options.timeout);
  PeerRails found;
  found.rails = (*engine)->rails();
  if (found.rails.empty() || (!none.ok() && none.code() != Code::kNotFound)) return none.status();
  found.name = found.rails.front().peer;
  return found;
}

int show(const TopoOptions& options) {
  Result<config::NodeConfig> node =
      options.config.empty()
          ? Result<config::NodeConfig>(config::NodeConfig{.policy = config::builtin_policy()})
          : read_node_file(options.config);
  if (!node.ok()) return fail(node.status());
  rails::tcp::TcpOptions& tcp = node->tcp;
  const std::string& bind = node->control.bind;
  const bool stays_here = !options.config.empty() && is_loopback(bind);
  if (stays_here && tcp.include.empty() && tcp.loopback_addresses.empty()) {
    tcp.loopback_addresses = {bind};
  }
  const auto found = rails::discover::discover({.include = tcp.include,
                                                .exclude = tcp.exclude,
                                                .loopback_addresses = tcp.loopback_addresses,
                                                .ipv4 = tcp.ipv4,
                                                .ipv6 = tcp.ipv6});
  if (!found.ok()) return fail(found.status());
  const std::vector<KernelFact> facts = read_kernel_facts(tcp.congestion);
  Json page{
      {"schema", "spindrift/topo/1"}, {"interfaces", to_json(*found)}, {"kernel", to_json(facts)}};
  if (!options.json) {
    print_interfaces(*found);
    if (stays_here) {
      std::printf("  `control.bind` is %s: peers on this machine only, over loopback\n",
                  bind.c_str());
    }
    print_facts(facts);
  }
  if (!options.peer.empty()) {
    const Result<PeerRails> peer = connect(*node, options);
    if (!peer.ok()) return fail(peer.status());
    if (!options.json) print_rails(peer->name, peer->rails);
    page["peer"] = peer->name;
    page["rails"] = to_json(peer->rails);
  }
  if (options.json)
    std::printf("%s\n", page.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  return kDone;
}

}  // namespace

void add_topo_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("topo", kAbout);
  command->footer(kFooter);
  const auto options = std::make_shared<TopoOptions>();
  command->add_option("--config", options->config, "Node file whose settings count")
      ->type_name("FILE");
  command->add_option("--peer", options->peer, "Connect to it: a name of the config, or IP:PORT");
  add_duration(*command, {"--timeout", "For connecting; default: 5s"}, options->timeout);
  command->add_flag("--json", options->json, "One JSON object instead of tables");
  command->callback([&run, options] { run = [options] { return show(*options); }; });
}

}  // namespace spindrift::tools
