// The look-ups of one peer that wait for its answer: pages are put together,
// checked, and the caller is told once, at the deadline at the latest. Control
// thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "control/context.h"
#include "control/messages.h"

namespace spindrift::control {

class LookUps {
 public:
  using Done = std::function<void(Result<Segment::Data>)>;
  // Sends a request to the peer; false when it cannot be sent now.
  using Send = std::function<bool(const LookUp&)>;
  // Why a look-up that got no answer failed.
  using WhyLate = std::function<Status()>;

  static constexpr std::size_t kPendingMax = 1024;  // per peer

  LookUps(Context& context, Send send, WhyLate why_late);

  void start(const std::string& segment, Instant deadline, Done done);
  // Sends what could not be sent before; `again` sends everything.
  void send_pending(bool again);
  void on_reply(const LookUpReply& reply, const Established& peer, PeerSlot slot);
  void fail_all(const Status& why);
  // Those that the peer may have seen.
  void fail_sent(const Status& why);

 private:
  struct Pending {
    std::string segment;
    Instant deadline;
    Done done;
    bool waits = true;   // its next request could not be sent yet
    bool asked = false;  // the peer may have seen a request
    std::uint64_t edition = 0;
    std::vector<SegmentRegion> regions;  // of the pages so far
  };
  using Iterator = std::map<std::uint64_t, Pending>::iterator;

  void request(std::uint64_t id, Pending& pending);
  Status add_page(Pending& pending, const LookUpReply& reply) const;
  void finish(Iterator it, Result<Segment::Data> result);
  void set_timer();

  Send send_;
  WhyLate why_late_;
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t last_id_ = 0;
  Timer timer_;
};

}  // namespace spindrift::control
