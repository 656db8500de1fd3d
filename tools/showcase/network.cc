#include "tools/showcase/network.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/instant.h"
#include "tools/child_process.h"

namespace spindrift::tools::showcase {
namespace {

constexpr Duration kCommandTakes = std::chrono::seconds(20);
constexpr char kPrefix[] = "spindrift-demo-";
constexpr char kNamespaces[] = "/run/netns";  // where `ip netns` keeps them

// One command line, split at spaces.
Status net(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return run_quietly(words, kCommandTakes);
}

bool lives(long pid) {
  return pid > 0 && (::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH);
}

// Those of demos that were killed outright.
void remove_stale() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kNamespaces, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kPrefix, 0) != 0) continue;
    if (!lives(std::strtol(name.c_str() + sizeof kPrefix - 1, nullptr, 10))) {
      (void)net("ip netns delete " + name);
    }
  }
}

}  // namespace

std::string rail_address(std::size_t rail, std::size_t end) {
  return "10.77." + std::to_string(rail) + "." + std::to_string(end + 1);
}

Result<VethNetwork> VethNetwork::create(const std::vector<std::uint32_t>& rates_mbit) {
  if (::geteuid() != 0) {
    return Status(Code::kUnsupported, "network namespaces need root");
  }
  remove_stale();
  VethNetwork network;
  Status status;
  for (const char* end : {"-a", "-b"}) {
    const std::string name = kPrefix + std::to_string(::getpid()) + end;
    if (status = net("ip netns add " + name); !status.ok()) break;
    network.names_.push_back(name);
    if (status = net("ip -n " + name + " link set lo up"); !status.ok()) break;
  }
  for (std::size_t i = 0; i < rates_mbit.size() && status.ok(); ++i) {
    status = network.make_rail(i, rates_mbit[i]);
  }
  if (status.ok()) return network;
  return Status(Code::kUnsupported, {.what = status.detail().what, .why = status.detail().why});
}

Status VethNetwork::make_rail(std::size_t rail, std::uint32_t rate_mbit) const {
  const std::string device = "rail" + std::to_string(rail);
  Status status = net("ip link add " + device + " netns " + names_[0] + " type veth peer name " +
                      device + " netns " + names_[1]);
  for (std::size_t end = 0; end < names_.size() && status.ok(); ++end) {
    const std::string at = " -n " + names_[end];
    status = net("ip" + at + " address add " + rail_address(rail, end) + "/24 dev " + device);
    if (status.ok()) status = net("ip" + at + " link set " + device + " up");
    // Deep enough for the bursts of segmentation offload, shallow enough that
    // the queue does not hide what the link does.
    if (status.ok()) {
      status = net("tc" + at + " qdisc add dev " + device + " root tbf rate " +
                   std::to_string(rate_mbit) + "mbit burst 256kb latency 20ms");
    }
  }
  return status;
}

VethNetwork::~VethNetwork() {
  for (const std::string& name : names_) (void)net("ip netns delete " + name);
}

std::vector<std::string> VethNetwork::inside(std::size_t end,
                                             std::vector<std::string> command) const {
  // `ip netns exec` replaces itself by the command, so the process is the command's.
  command.insert(command.begin(), {"ip", "netns", "exec", names_[end]});
  return command;
}

}  // namespace spindrift::tools::showcase
