// Two TcpDrivers over real loopback sockets, with a relay between them when a
// fault is to be injected. The tests of what only TCP has use it directly.
#pragma once

#include <poll.h>

#include <array>
#include <vector>

#include "base/file_descriptor.h"
#include "ground.h"
#include "rails/tcp/tcp_driver.h"

namespace spindrift::conformance {

// A connected pair of non-blocking loopback sockets.
struct SocketPair {
  FileDescriptor left;
  FileDescriptor right;
};
SocketPair connected_sockets();

// Bytes on their way from one socket to another, with at most one fault.
class Pump {
 public:
  Pump(int from, int to, std::uint64_t skip) : from_(from), to_(to), position_(0 - skip) {}
  void arm(const LinkFault& fault) { fault_ = fault; }
  // True when something moved or the connection ended.
  bool run();
  bool ended() const { return ended_; }
  int from() const { return from_; }
  int to() const { return to_; }
  bool blocked() const { return sent_ < have_; }

 private:
  void damage(std::size_t& bytes);
  int from_;
  int to_;
  std::uint64_t position_;  // of the next byte from `from`, counted as LinkFault does
  std::optional<LinkFault> fault_;
  std::array<char, 16 * 1024> buffer_{};
  std::size_t have_ = 0;
  std::size_t sent_ = 0;
  bool ended_ = false;
};

class TcpGround final : public Ground {
 public:
  explicit TcpGround(const rails::tcp::TcpOptions& options = {});

  rails::tcp::TcpDriver& initiator() override { return initiator_; }
  rails::tcp::TcpDriver& responder() override { return responder_; }
  rails::RegionTable& regions() override { return responder_regions_; }
  Instant now() override;
  bool wait(Duration most) override;
  Ends link(LaneIndex lane, rails::InboundLaneId id) override;
  std::optional<LaneAnswer> answer(rails::LaneEndpoint& initiator_end) override;
  bool inject(const LinkFault& fault) override;

 private:
  struct Relay {
    FileDescriptor towards_initiator;
    FileDescriptor towards_responder;
    Pump to_responder;
    Pump to_initiator;
  };
  bool pump();

  rails::RegionTable initiator_regions_;
  rails::RegionTable responder_regions_;
  rails::tcp::TcpDriver initiator_;
  rails::tcp::TcpDriver responder_;
  std::optional<LinkFault> fault_;
  std::vector<std::unique_ptr<Relay>> relays_;
};

}  // namespace spindrift::conformance
