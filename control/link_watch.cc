#include "control/link_watch.h"

#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace spindrift::control {
namespace {

constexpr std::size_t kDatagramMax = 32768;  // what the kernel sends at most in a dump
constexpr int kDatagramsPerTurn = 64;        // then the others' turn

std::string device_of(const nlmsghdr& message) {
  const auto* end = static_cast<const std::byte*>(mnl_nlmsg_get_payload_tail(&message));
  const auto* attribute =
      static_cast<const nlattr*>(mnl_nlmsg_get_payload_offset(&message, sizeof(ifinfomsg)));
  const auto left = [&] {
    return static_cast<int>(end - reinterpret_cast<const std::byte*>(attribute));
  };
  for (; mnl_attr_ok(attribute, left()); attribute = mnl_attr_next(attribute)) {
    if (mnl_attr_get_type(attribute) != IFLA_IFNAME) continue;
    if (mnl_attr_validate(attribute, MNL_TYPE_STRING) < 0) return {};
    const char* text = mnl_attr_get_str(attribute);
    return {text, strnlen(text, mnl_attr_get_payload_len(attribute))};
  }
  return {};
}

}  // namespace

void LinkTable::read(std::span<const std::byte> datagram, const Changed& changed) {
  auto left = static_cast<int>(datagram.size());
  const auto* message = reinterpret_cast<const nlmsghdr*>(datagram.data());
  for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
    const bool gone = message->nlmsg_type == RTM_DELLINK;
    if (!gone && message->nlmsg_type != RTM_NEWLINK) continue;
    if (mnl_nlmsg_get_payload_len(message) < sizeof(ifinfomsg)) continue;
    const auto& info = *static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(message));
    // Running: it has a carrier too.
    const bool up = !gone && (info.ifi_flags & IFF_UP) != 0 && (info.ifi_flags & IFF_RUNNING) != 0;
    const std::string device = device_of(*message);
    if (device.empty()) continue;
    if (up_.size() >= kLinksMax && !up_.contains(device)) up_.clear();
    const auto known = up_.emplace(device, true).first;
    if (std::exchange(known->second, up) != up) changed(device, up);
  }
}

Result<std::unique_ptr<LinkWatch>> LinkWatch::start(Reactor& reactor, LinkTable::Changed changed) {
  const auto failed = [](const char* what) {
    return Status(Code::kIoError, {.what = std::string(what) + " for news of network links",
                                   .why = "the kernel refuses a netlink socket",
                                   .hint = "allow AF_NETLINK in the sandbox of this process",
                                   .os_error = errno});
  };
  FileDescriptor socket(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!socket) return failed("socket");
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return failed("bind");
  }
  auto watch = reactor.watch(std::move(socket));
  if (!watch) return watch.status();
  return std::make_unique<LinkWatch>(std::move(*watch), std::move(changed));
}

LinkWatch::LinkWatch(std::unique_ptr<Watch> socket, LinkTable::Changed changed)
    : socket_(std::move(socket)), changed_(std::move(changed)) {
  ask_for_all();
  wait();
}

void LinkWatch::wait() {
  socket_->when_readable([this] { on_readable(); });
}

void LinkWatch::on_readable() {
  alignas(nlmsghdr) std::array<std::byte, kDatagramMax> buffer;
  for (int i = 0; i < kDatagramsPerTurn; ++i) {
    const ssize_t size = ::recv(socket_->fd(), buffer.data(), buffer.size(), 0);
    if (size > 0) {
      table_.read({buffer.data(), static_cast<std::size_t>(size)}, changed_);
    } else if (size < 0 && errno == ENOBUFS) {
      ask_for_all();  // news came faster than they were read, and some are lost
    } else {
      break;
    }
  }
  wait();
}

void LinkWatch::ask_for_all() {
  alignas(nlmsghdr) std::array<char, 64> buffer{};
  nlmsghdr* request = mnl_nlmsg_put_header(buffer.data());
  request->nlmsg_type = RTM_GETLINK;
  request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request->nlmsg_seq = 1;
  mnl_nlmsg_put_extra_header(request, sizeof(ifinfomsg));
  // A dump that runs already refuses another one; it tells the same.
  (void)::send(socket_->fd(), request, request->nlmsg_len, 0);
}

}  // namespace spindrift::control
