// One lane between the two drivers of a ground, memory at both ends, and a
// checker that sees every event. The tests of the suite speak through this.
//
// `local` is the initiator's memory, `remote` the responder's, one region with
// the key kKey. Every wait has a bound, and reaching it fails the test.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "attempt_checker.h"
#include "ground.h"
#include "memory.h"

namespace spindrift::conformance {

inline constexpr rails::RegionKey kKey = rails::make_region_key(5, 77);
inline constexpr std::uint32_t kRightsPeer = 3;
inline constexpr std::uint32_t kSession = 9;

struct Range {
  std::size_t local = 0;  // offsets
  std::size_t remote = 0;
  std::size_t length = 0;
};

struct PostOptions {
  bool checksum = false;
  std::uint64_t offset = 0;  // into the first range
  std::uint32_t key = kKey;
};

class Rig {
 public:
  Rig(Operation direction, std::size_t memory_bytes, std::size_t events_per_poll = 1024);
  ~Rig();

  // Link, hello, answer, up. Fails the test when any of it does.
  void connect(Generation generation = 1);
  // The same without waiting for kLaneUp.
  void connect_unawaited(Generation generation);
  Status adopt(Generation generation, rails::LaneEndpoint responder_end);
  rails::InboundLaneId id() const { return {kSession, lane_}; }

  // Posts one attempt and says what it expects of the destination; false when
  // the driver did not take it.
  bool post(const std::vector<Range>& ranges, PostOptions options = {});
  // Posts as they are, without any expectation.
  std::size_t post_raw(const std::vector<Attempt>& attempts);
  Attempt make_attempt(const std::vector<Range>& ranges, PostOptions options = {});
  // The destination is to hold what the source holds now.
  void expect(const std::vector<Range>& ranges);

  // One turn of both drivers.
  std::size_t step();
  std::size_t poll_initiator();
  std::size_t poll_responder();
  void run_until(const std::function<bool()>& done, const char* what);
  // Until neither driver has work left for a while.
  void run_dry();
  void settle(AttemptSeq end);  // until all below `end` have an outcome

  void fence_local(Generation generation);
  rails::InboundFenceReport fence_remote(Generation minimum);

  Ground& ground() { return *ground_; }
  rails::RailDriver& initiator() { return ground_->initiator(); }
  rails::RailDriver& responder() { return ground_->responder(); }
  Memory& source() { return direction_ == Operation::kWrite ? local : remote; }
  Memory& destination() { return direction_ == Operation::kWrite ? remote : local; }
  AttemptSeq next_seq() const { return next_seq_; }
  LaneIndex lane() const { return lane_; }
  Operation direction() const { return direction_; }
  void publish(Rights rights = Rights::kRemoteReadWrite);
  // Checks what must hold at the end of every test.
  void verify();

  AttemptChecker checker;
  Memory local;
  Memory remote;

 private:
  const Operation direction_;
  const LaneIndex lane_ = 2;
  std::unique_ptr<Ground> ground_;
  BoundedVector<RailEvent> events_;
  std::deque<std::vector<ResolvedDescriptor>> descriptors_;
  Generation generation_ = 0;
  AttemptSeq next_seq_ = 0;
  bool verified_ = false;
};

}  // namespace spindrift::conformance
