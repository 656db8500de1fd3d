// Against a tree of files that looks like /sys/class/net.
#include <catch2/catch.hpp>

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "rails/discover/discover.h"

namespace spindrift::rails::discover {
namespace {

namespace fs = std::filesystem;

class FakeSysfs {
 public:
  FakeSysfs() {
    std::string pattern = (fs::temp_directory_path() / "spindrift-sysfs-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
  }
  ~FakeSysfs() { fs::remove_all(root_); }

  std::string net() const { return (root_ / "class/net").string(); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  void folder(const std::string& path) { fs::create_directories(root_ / path); }
  void link(const std::string& path, const std::string& target) {
    fs::create_directories((root_ / path).parent_path());
    fs::create_symlink(root_ / target, root_ / path);
  }
  SystemInterface read(const std::string& name, bool loopback = false) const {
    SystemInterface interface;
    interface.name = name;
    interface.up = true;
    interface.carrier = true;
    interface.loopback = loopback;
    read_sysfs(net(), interface);
    return interface;
  }

 private:
  fs::path root_;
};

TEST_CASE("a NIC on a PCI bus: speed, NUMA node and address") {
  FakeSysfs sysfs;
  const std::string device = "devices/pci0000:3a/0000:3a:02.0/0000:3b:00.1";
  sysfs.write(device + "/numa_node", "1");
  sysfs.write("class/net/eth2/type", "1");
  sysfs.write("class/net/eth2/speed", "100000");
  sysfs.write("class/net/eth2/carrier", "1");
  sysfs.write("class/net/eth2/operstate", "up");
  sysfs.link("class/net/eth2/device", device);
  const SystemInterface nic = sysfs.read("eth2");
  CHECK(nic.kind == InterfaceKind::kPhysical);
  CHECK(nic.line_rate == Rate{12'500'000'000});
  CHECK(nic.numa == 1);
  CHECK(nic.pci == "0000:3b:00.1");
  CHECK(nic.carrier);
}

TEST_CASE("a virtio NIC lies where its parent lies, and speed -1 is unknown") {
  FakeSysfs sysfs;
  const std::string parent = "devices/pci0000:00/0000:00:05.0";
  sysfs.write(parent + "/numa_node", "-1");
  sysfs.folder(parent + "/virtio2");
  sysfs.write("class/net/eth0/type", "1");
  sysfs.write("class/net/eth0/speed", "-1");
  sysfs.link("class/net/eth0/device", parent + "/virtio2");
  const SystemInterface nic = sysfs.read("eth0");
  CHECK(nic.line_rate == Rate{0});
  CHECK(nic.numa == -1);
  CHECK(nic.pci == "0000:00:05.0");
}

TEST_CASE("what kind an interface is") {
  FakeSysfs sysfs;
  for (const char* name : {"lan", "br9", "vnet", "tap7", "eth0.5", "bond0", "ppp0", "dummy3",
                           "ifb0", "ib0", "docker0", "mystery", "wg0"}) {
    sysfs.write(std::string("class/net/") + name + "/type", "1");
    sysfs.write(std::string("class/net/") + name + "/ifindex", "4");
    sysfs.write(std::string("class/net/") + name + "/iflink", "4");
  }
  sysfs.folder("class/net/lan/device");
  sysfs.folder("class/net/br9/bridge");
  sysfs.write("class/net/vnet/iflink", "17");
  sysfs.write("class/net/tap7/tun_flags", "0x1002");
  sysfs.write("class/net/eth0.5/uevent", "DEVTYPE=vlan\nINTERFACE=eth0.5");
  sysfs.folder("class/net/bond0/bonding");
  sysfs.write("class/net/ppp0/type", "512");
  sysfs.write("class/net/ib0/type", "32");
  sysfs.folder("class/net/ib0/device");
  const std::pair<const char*, InterfaceKind> rows[] = {
      {"lan", InterfaceKind::kPhysical},   {"br9", InterfaceKind::kBridge},
      {"vnet", InterfaceKind::kVeth},      {"tap7", InterfaceKind::kTunnel},
      {"eth0.5", InterfaceKind::kVlan},    {"bond0", InterfaceKind::kBond},
      {"ppp0", InterfaceKind::kTunnel},    {"dummy3", InterfaceKind::kDummy},
      {"ifb0", InterfaceKind::kDummy},     {"ib0", InterfaceKind::kPhysical},
      {"docker0", InterfaceKind::kBridge}, {"mystery", InterfaceKind::kVirtual},
      {"wg0", InterfaceKind::kTunnel},
  };
  for (const auto& [name, kind] : rows) {
    CAPTURE(name);
    CHECK(std::string(to_string(sysfs.read(name).kind)) == to_string(kind));
  }
  CHECK(sysfs.read("lan", true).kind == InterfaceKind::kLoopback);
}

TEST_CASE("a bond lies where its first port lies; its ports name it") {
  FakeSysfs sysfs;
  sysfs.write("devices/pci0000:80/0000:81:00.0/numa_node", "2");
  sysfs.write("class/net/eth4/type", "1");
  sysfs.link("class/net/eth4/device", "devices/pci0000:80/0000:81:00.0");
  sysfs.write("class/net/bond0/type", "1");
  sysfs.write("class/net/bond0/speed", "50000");
  sysfs.folder("class/net/bond0/bonding");
  sysfs.link("class/net/bond0/lower_eth4", "class/net/eth4");
  sysfs.link("class/net/eth4/master", "class/net/bond0");
  const SystemInterface bond = sysfs.read("bond0");
  CHECK(bond.numa == 2);
  CHECK(bond.pci == "0000:81:00.0");
  CHECK(bond.line_rate == Rate{6'250'000'000});
  CHECK(sysfs.read("eth4").master == "bond0");
}

TEST_CASE("no carrier, by the file or by the state") {
  FakeSysfs sysfs;
  sysfs.write("class/net/a/carrier", "0");
  sysfs.write("class/net/b/operstate", "down");
  sysfs.write("class/net/c/operstate", "unknown");
  CHECK_FALSE(sysfs.read("a").carrier);
  CHECK_FALSE(sysfs.read("b").carrier);
  CHECK(sysfs.read("c").carrier);
}

TEST_CASE("a name without a folder is judged by its name") {
  FakeSysfs sysfs;  // as when /sys shows another network namespace
  CHECK(sysfs.read("docker0").kind == InterfaceKind::kBridge);
  CHECK(sysfs.read("virbr0").kind == InterfaceKind::kBridge);
  CHECK(sysfs.read("tun0").kind == InterfaceKind::kTunnel);
  CHECK(sysfs.read("rail0").kind == InterfaceKind::kPhysical);
  CHECK(sysfs.read("rail0").carrier);
}

TEST_CASE("this machine's loopback interface is found") {
  const auto interfaces = list_interfaces("/sys/class/net");
  REQUIRE(interfaces.ok());
  const SystemInterface* loopback = nullptr;
  for (const SystemInterface& one : *interfaces) {
    if (one.loopback) loopback = &one;
  }
  REQUIRE(loopback != nullptr);
  CHECK(loopback->kind == InterfaceKind::kLoopback);
  REQUIRE_FALSE(loopback->addresses.empty());
  CHECK(loopback->addresses.front().scope == AddressScope::kLoopback);
  CHECK(loopback->addresses.front().prefix == 8);
}

}  // namespace
}  // namespace spindrift::rails::discover
