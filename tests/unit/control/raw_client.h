// A plain blocking TCP client: the stranger at the door.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"

namespace spindrift::control {

class RawClient {
 public:
  // To 127.0.0.1 or whatever "IP:PORT" says.
  explicit RawClient(const std::string& address) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const auto colon = address.rfind(':');
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
    ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
    const timeval limit{20, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }

  bool connected() const { return connected_; }
  bool send(std::string_view bytes) {
    return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // Everything until the other side closes; `closed` false: it did not in 20 s.
  std::string read_to_end(bool& closed) {
    std::string all;
    char buffer[4096];
    while (true) {
      const ssize_t n = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      if (n > 0) {
        all.append(buffer, static_cast<std::size_t>(n));
        continue;
      }
      closed = n == 0 || errno == ECONNRESET;
      return all;
    }
  }
  bool closed_by_peer() {
    bool closed = false;
    read_to_end(closed);
    return closed;
  }
  int fd() const { return fd_.get(); }

 private:
  FileDescriptor fd_;
  bool connected_ = false;
};

}  // namespace spindrift::control
