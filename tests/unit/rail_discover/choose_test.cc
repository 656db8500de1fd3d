#include <catch2/catch.hpp>

#include "rails/discover/discover.h"

namespace spindrift::rails::discover {
namespace {

InterfaceAddress v4(const std::string& address, AddressScope scope = AddressScope::kRoutable) {
  return {address, 24, false, scope};
}
InterfaceAddress v6(const std::string& address, AddressScope scope = AddressScope::kRoutable) {
  return {address, 64, true, scope};
}

SystemInterface nic(const std::string& name, std::vector<InterfaceAddress> addresses,
                    InterfaceKind kind = InterfaceKind::kPhysical) {
  SystemInterface one;
  one.name = name;
  one.up = true;
  one.carrier = true;
  one.kind = kind;
  one.loopback = kind == InterfaceKind::kLoopback;
  one.addresses = std::move(addresses);
  return one;
}

// A container host: loopback, management, two data NICs, docker, a dead port.
std::vector<SystemInterface> host() {
  std::vector<SystemInterface> all = {
      nic("br-4f21", {v4("172.18.0.1")}, InterfaceKind::kBridge),
      nic("docker0", {v4("172.17.0.1")}, InterfaceKind::kBridge),
      nic("eth0", {v4("10.0.0.5"), v6("fe80::1%eth0", AddressScope::kLinkLocal)}),
      nic("eth1", {v6("fd00::5", AddressScope::kUniqueLocal), v4("10.0.1.5"), v6("2001:db8::5")}),
      nic("eth2", {v4("169.254.7.7", AddressScope::kLinkLocal)}),
      nic("eth3", {v4("10.0.3.5")}),
      nic("eth4", {v4("10.0.4.5")}),
      nic("eth5", {}),
      nic("lo", {v4("127.0.0.1", AddressScope::kLoopback)}, InterfaceKind::kLoopback),
      nic("tun0", {v4("10.8.0.2")}, InterfaceKind::kTunnel),
      nic("veth9", {v4("10.9.0.1")}, InterfaceKind::kVeth),
  };
  all[5].up = false;
  all[6].carrier = false;
  return all;
}

std::vector<std::string> used_names(const std::vector<InterfaceInfo>& infos) {
  std::vector<std::string> names;
  for (const InterfaceInfo& info : infos) {
    if (info.used) names.push_back(info.name);
  }
  return names;
}

const InterfaceInfo& find(const std::vector<InterfaceInfo>& infos, const std::string& name) {
  for (const InterfaceInfo& info : infos) {
    if (info.name == name) return info;
  }
  FAIL("no interface " << name);
  return infos.front();
}

using Names = std::vector<std::string>;

TEST_CASE("which interfaces are used, by the settings") {
  struct Row {
    const char* name;
    DiscoverOptions options;
    Names used;
  };
  const Row rows[] = {
      {"by default: real NICs with a link and an address", {}, {"eth0", "eth1", "veth9"}},
      {"included patterns only", {.include = {"eth[01]"}}, {"eth0", "eth1"}},
      {"a name is used even if its kind would exclude it",
       {.include = {"docker0", "lo", "tun0"}},
       {"docker0", "lo", "tun0"}},
      {"a named one with a link-local address", {.include = {"eth2", "eth0"}}, {"eth0", "eth2"}},
      {"a named one that is down stays unused", {.include = {"eth3", "eth4", "eth5"}}, {}},
      {"excluded patterns", {.exclude = {"eth0", "v*"}}, {"eth1"}},
      {"exclude wins over include", {.include = {"eth*"}, .exclude = {"eth1"}}, {"eth0", "eth2"}},
      {"an exclude that matches nothing is no error",
       {.exclude = {"wlan*"}},
       {"eth0", "eth1", "veth9"}},
      {"IPv6 only", {.ipv4 = false}, {"eth1"}},
      {"loopback addresses come in addition",
       {.include = {"eth0"}, .loopback_addresses = {"127.0.0.2", "::1"}},
       {"eth0", "lo/127.0.0.2", "lo/::1"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto infos = choose(host(), row.options);
    REQUIRE(infos.ok());
    CHECK(used_names(*infos) == row.used);
  }
}

TEST_CASE("each unused interface says why") {
  const auto infos = choose(host(), {});
  REQUIRE(infos.ok());
  const std::pair<const char*, const char*> reasons[] = {
      {"br-4f21", "a virtual bridge"},
      {"docker0", "a virtual bridge"},
      {"eth2", "only link-local addresses, and others have routable ones"},
      {"eth3", "down"},
      {"eth4", "no carrier"},
      {"eth5", "no address"},
      {"lo", "loopback"},
      {"tun0", "a tunnel"},
      {"eth0", "up, with an address"},
  };
  for (const auto& [name, reason] : reasons) CHECK(find(*infos, name).reason == reason);

  const auto named = choose(host(), {.include = {"eth*"}, .exclude = {"*0"}});
  REQUIRE(named.ok());
  CHECK(find(*named, "eth0").reason == "excluded by pattern *0");
  CHECK(find(*named, "eth1").reason == "named by pattern eth*");
  CHECK(find(*named, "veth9").reason == "not named by tcp.include");
}

TEST_CASE("addresses are ordered routable, unique local, and link-local only if alone") {
  const auto infos = choose(host(), {});
  REQUIRE(infos.ok());
  const auto addresses = [&infos](const std::string& name) {
    Names texts;
    for (const auto& address : find(*infos, name).addresses) texts.push_back(address.address);
    return texts;
  };
  CHECK(addresses("eth0") == Names{"10.0.0.5"});
  CHECK(addresses("eth1") == Names{"10.0.1.5", "2001:db8::5", "fd00::5"});

  const auto v4_only = choose(host(), {.ipv6 = false});
  REQUIRE(v4_only.ok());
  CHECK(find(*v4_only, "eth1").addresses.size() == 1);

  // A host without anything better uses what it has.
  const auto poor = choose({nic("eth0", {v4("169.254.1.1", AddressScope::kLinkLocal)})}, {});
  REQUIRE(poor.ok());
  CHECK(used_names(*poor) == Names{"eth0"});
}

TEST_CASE("a port of a bridge or bond has no address of its own") {
  SystemInterface port = nic("eth0", {});
  port.master = "bond0";
  const auto infos = choose({port}, {});
  REQUIRE(infos.ok());
  CHECK(find(*infos, "eth0").reason == "a port of bond0");
}

TEST_CASE("a pattern of include that matches nothing names what there is") {
  const auto infos =
      choose({nic("eth0", {v4("10.0.0.5")}), nic("eth1", {})}, {.include = {"eth0", "mlx5_*"}});
  REQUIRE(infos.code() == Code::kNotFound);
  const std::string text = infos.status().to_string();
  CHECK(text.find("\"mlx5_*\"") != std::string::npos);
  CHECK(text.find("eth0, eth1") != std::string::npos);
}

TEST_CASE("a loopback rail needs a loopback address") {
  for (const char* bad : {"10.0.0.1", "127.0.0.256", "::2", "localhost", ""}) {
    CAPTURE(bad);
    CHECK(choose({}, {.loopback_addresses = {bad}}).code() == Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace spindrift::rails::discover
