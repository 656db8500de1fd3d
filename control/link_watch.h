// What the kernel says about the network links of this host (rtnetlink, read with
// libmnl): which went down, which came back. In the network namespace of the thread
// that starts it. Control thread only. Idle, it costs nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "control/reactor.h"
#include "spindrift/status.h"

namespace spindrift::control {

// What is known of the links, by their name: one that is removed and made anew, under
// another index, has come back. Pure, but for the library that reads the kernel's
// messages. Bounded: over kLinksMax names it begins anew.
class LinkTable {
 public:
  using Changed = std::function<void(const std::string& device, bool up)>;

  // One datagram of the kernel. Calls `changed` for each link that went down or came
  // up, and for one that is down when first heard of.
  void read(std::span<const std::byte> datagram, const Changed& changed);

 private:
  static constexpr std::size_t kLinksMax = 4096;

  std::map<std::string, bool> up_;
};

class LinkWatch {
 public:
  static Result<std::unique_ptr<LinkWatch>> start(Reactor& reactor, LinkTable::Changed changed);
  LinkWatch(std::unique_ptr<Watch> socket, LinkTable::Changed changed);

 private:
  void wait();
  void on_readable();
  void ask_for_all();

  std::unique_ptr<Watch> socket_;
  LinkTable::Changed changed_;
  LinkTable table_;
};

}  // namespace spindrift::control
