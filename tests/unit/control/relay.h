// A TCP relay on loopback in front of one address, in a thread of its own, that
// a test can cut and mend: the link that fails.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "control/socket_address.h"

namespace spindrift::control {

class Relay {
 public:
  explicit Relay(const std::string& target)
      : target_(*SocketAddress::parse(target)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_storage storage{};
    const unsigned length = SocketAddress::of("127.0.0.1", 0)->fill(&storage, "");
    const auto* local = reinterpret_cast<const sockaddr*>(&storage);
    ready_ = ::bind(listener_.get(), local, length) == 0 && ::listen(listener_.get(), 16) == 0;
    thread_ = std::thread([this] { run(); });
  }
  ~Relay() {
    stop_ = true;
    thread_.join();
  }

  bool ready() const { return ready_; }
  std::string address() const { return SocketAddress::local_of(listener_.get()).to_string(); }
  // Cut: what runs through is reset, what comes is refused.
  void cut() { cut_ = true; }
  void mend() { cut_ = false; }

 private:
  struct Pair {
    FileDescriptor ends[2];
  };

  void run() {
    while (!stop_) {
      if (cut_) pairs_.clear();
      std::vector<pollfd> polled{{listener_.get(), POLLIN, 0}};
      for (const Pair& pair : pairs_) {
        for (const FileDescriptor& end : pair.ends) polled.push_back({end.get(), POLLIN, 0});
      }
      ::poll(polled.data(), polled.size(), 5);
      for (std::size_t i = 1; i < polled.size(); ++i) {
        Pair& pair = pairs_[(i - 1) / 2];
        if (polled[i].revents != 0 && !forward(pair, (i - 1) % 2)) pair.ends[0].reset();
      }
      std::erase_if(pairs_, [](const Pair& pair) { return !pair.ends[0]; });
      if (polled[0].revents != 0) accept_one();
    }
  }

  static bool forward(Pair& pair, std::size_t from) {
    char buffer[16 * 1024];
    const ssize_t n = ::recv(pair.ends[from].get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN;
    return n > 0 && ::send(pair.ends[1 - from].get(), buffer, static_cast<std::size_t>(n),
                           MSG_NOSIGNAL) == n;
  }

  void accept_one() {
    Pair pair;
    pair.ends[0].reset(::accept(listener_.get(), nullptr, nullptr));
    if (cut_) return;
    pair.ends[1].reset(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_storage storage{};
    const unsigned length = target_.fill(&storage, "");
    const auto* to = reinterpret_cast<const sockaddr*>(&storage);
    if (::connect(pair.ends[1].get(), to, length) == 0) pairs_.push_back(std::move(pair));
  }

  const SocketAddress target_;
  FileDescriptor listener_;
  bool ready_ = false;
  std::atomic<bool> stop_{false};
  std::atomic<bool> cut_{false};
  std::vector<Pair> pairs_;
  std::thread thread_;
};

}  // namespace spindrift::control
