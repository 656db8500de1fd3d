#include "control/link_watch.h"

#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace spindrift::control {
namespace {

// A datagram of link messages, as the kernel sends them.
class Datagram {
 public:
  void link(std::uint16_t type, int index, const char* name, unsigned flags) {
    std::array<char, 512> bytes{};
    nlmsghdr* const header = mnl_nlmsg_put_header(bytes.data());
    header->nlmsg_type = type;
    auto* const info =
        static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(header, sizeof(ifinfomsg)));
    info->ifi_index = index;
    info->ifi_flags = flags;
    if (name != nullptr) mnl_attr_put_strz(header, IFLA_IFNAME, name);
    const auto* const begin = reinterpret_cast<const std::byte*>(bytes.data());
    bytes_.insert(bytes_.end(), begin, begin + NLMSG_ALIGN(header->nlmsg_len));
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

constexpr unsigned kUp = IFF_UP | IFF_RUNNING | IFF_LOWER_UP;

// What one message after another makes known.
std::vector<std::string> told(LinkTable& table, std::span<const std::byte> datagram) {
  std::vector<std::string> news;
  table.read(datagram, [&](const std::string& device, bool up) {
    news.push_back(device + (up ? " up" : " down"));
  });
  return news;
}

std::vector<std::string> one(LinkTable& table, std::uint16_t type, int index, const char* name,
                             unsigned flags) {
  Datagram datagram;
  datagram.link(type, index, name, flags);
  return told(table, datagram.bytes());
}

using News = std::vector<std::string>;

TEST_CASE("A link is news when it changes, and when it is down at first sight") {
  LinkTable table;
  CHECK(one(table, RTM_NEWLINK, 2, "eth0", kUp) == News{});
  CHECK(one(table, RTM_NEWLINK, 3, "eth1", IFF_UP) == News{"eth1 down"});
  CHECK(one(table, RTM_NEWLINK, 2, "eth0", kUp) == News{});
  CHECK(one(table, RTM_NEWLINK, 2, "eth0", IFF_UP) == News{"eth0 down"});
  CHECK(one(table, RTM_NEWLINK, 2, "eth0", IFF_UP) == News{});
  CHECK(one(table, RTM_NEWLINK, 2, "eth0", kUp) == News{"eth0 up"});
  CHECK(one(table, RTM_NEWLINK, 3, "eth1", kUp) == News{"eth1 up"});
}

TEST_CASE("A link that is removed is down, and up again when it is made anew") {
  LinkTable table;
  one(table, RTM_NEWLINK, 2, "eth0", kUp);
  CHECK(one(table, RTM_DELLINK, 2, "eth0", kUp) == News{"eth0 down"});
  CHECK(one(table, RTM_DELLINK, 2, "eth0", kUp) == News{});
  // It has another number then.
  CHECK(one(table, RTM_NEWLINK, 9, "eth0", kUp) == News{"eth0 up"});
}

TEST_CASE("A datagram brings several links in order") {
  LinkTable table;
  Datagram datagram;
  datagram.link(RTM_NEWLINK, 2, "eth0", 0);
  datagram.link(RTM_NEWLINK, 2, "eth0", kUp);
  CHECK(told(table, datagram.bytes()) == News{"eth0 down", "eth0 up"});
}

TEST_CASE("A datagram that is cut anywhere does no harm") {
  Datagram datagram;
  datagram.link(RTM_NEWLINK, 2, "eth0", kUp);
  datagram.link(RTM_NEWLINK, 3, "eth1", 0);
  const std::vector<std::byte> whole = datagram.bytes();
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    LinkTable table;
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK(told(table, cut).size() <= 1);
  }
}

}  // namespace
}  // namespace spindrift::control
