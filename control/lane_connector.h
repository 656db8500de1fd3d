// Makes the connections of data lanes: connects from the rail's own device and
// address, says the lane's hello, waits for the placing worker's answer, and
// hands the raw socket over. Control thread only. One attempt at a time for each
// (peer, lane key), which bounds how many there are.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/lane_answer.h"
#include "control/context.h"
#include "control/dial.h"
#include "control/lane_hello.h"

namespace spindrift::control {

class LaneConnector {
 public:
  explicit LaneConnector(Context& context) : context_(context) {}

  // `established` null: the peer was never connected. An older attempt for the
  // same lane is given up, kCancelled; a newer one stays and refuses this.
  void connect(const LaneRequest& lane, const Established* established);
  // Attempts to this peer fail with `why`.
  void cancel(PeerSlot peer, const Status& why);
  // The same without events; for shutting down.
  void forget_all() { attempts_.clear(); }

 private:
  using LaneId = std::pair<PeerSlot, std::uint32_t>;
  struct Attempt {
    explicit Attempt(Reactor& reactor) : timer(reactor) {}
    LaneRequest lane;
    std::string peer;
    std::string rail;
    LaneHelloBytes hello{};
    std::unique_ptr<Dial> dial;
    std::unique_ptr<Watch> socket;
    std::array<std::uint8_t, kLaneAnswerBytes> answer{};
    std::size_t answer_got = 0;
    Timer timer;
  };

  Result<Dial::Target> target_of(const LaneRequest& lane, const Established* established) const;
  void on_dialed(LaneId id, Result<std::unique_ptr<Watch>> socket);
  void on_readable(LaneId id);
  void on_answer(LaneId id);
  void fail(LaneId id, Status why);
  Status failed(const Attempt& attempt, Code code, std::string why, int os_error = 0) const;

  Context& context_;
  std::map<LaneId, std::unique_ptr<Attempt>> attempts_;
};

}  // namespace spindrift::control
