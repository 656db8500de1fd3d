// The simulated backend: lanes over links with a set rate, latency and jitter,
// under virtual time, that fail in the ways that real ones do. It moves real
// bytes between real memories of one process, and it is as mean as the rail
// contract lets it be: a lane that breaks may still deliver what it had taken,
// much later, unless a fence keeps it out.
//
// Single-threaded; drivers of one SimNetwork belong to one simulated world. The
// same seed gives the same run. Lanes are wired with endpoint blobs made by
// initiator_endpoint() and responder_endpoint().
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/prng.h"
#include "base/units.h"
#include "rails/inbound_records.h"
#include "rails/rail.h"
#include "rails/sim/event_queue.h"

namespace spindrift::rails::sim {

struct LinkOptions {
  Rate rate{125'000'000};
  Duration latency = std::chrono::microseconds(100);  // one way
  Duration jitter{0};                                 // added to each passage, up to this
  std::uint64_t part = 64 * kKiB;                     // what is read, sent and placed at once
  std::uint32_t fail_per_mille = 0;                   // attempts that arrive damaged
  std::uint32_t break_per_mille = 0;                  // attempts at which the lane breaks
  Duration late_max{0};                               // how late a broken lane may still deliver
};

// Sees every access to memory; the simulator's checkers stand behind it.
class MemoryWitness {
 public:
  virtual ~MemoryWitness() = default;
  // Before bytes are read from or written to memory on behalf of an attempt.
  virtual void on_source_read(const Attempt& attempt, const std::byte* from,
                              std::uint64_t length) = 0;
  virtual void on_destination_write(const Attempt& attempt, std::byte* to,
                                    std::uint64_t length) = 0;
};

class SimDriver;

// The links between all nodes, and their drivers.
class SimNetwork {
 public:
  SimNetwork(EventQueue& queue, std::uint64_t seed, MemoryWitness& witness)
      : queue_(queue), prng_(seed), witness_(witness) {}

  // A link joins two devices, named as in RailFacts, and has two directions.
  void add_link(const std::string& device_a, const std::string& device_b, LinkOptions options);
  LinkOptions& link(const std::string& device_a, const std::string& device_b);

 private:
  friend class SimDriver;
  struct Link {
    LinkOptions options;
    Instant busy_until[2]{};  // by direction: a to b, b to a
  };
  struct Passage {
    Link* link = nullptr;
    int direction = 0;
  };
  Passage find(const std::string& from, const std::string& to);
  // When `bytes` have left over the passage, its queue considered.
  Instant departure(const Passage& passage, std::uint64_t bytes);
  Duration flight(const Passage& passage);

  EventQueue& queue_;
  Prng prng_;
  MemoryWitness& witness_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Link>> links_;
};

class SimDriver final : public RailDriver {
 public:
  // `wake` is called when poll() would find something.
  SimDriver(SimNetwork& network, RegionTable& regions, std::function<void()> wake);
  // Packets on the way refer to it: it lives as long as the event queue runs.
  ~SimDriver() override = default;

  // Told of every adopt() and how it ended; stands for the answer on the wire.
  using Adopted = std::function<void(InboundLaneId, Generation, bool ok)>;
  void on_adopted(Adopted told) { adopted_ = std::move(told); }

  // What connect_lane() and adopt() need to find each other.
  LaneEndpoint initiator_endpoint(SimDriver& responder, InboundLaneId id) const;
  LaneEndpoint responder_endpoint(SimDriver& initiator, LaneIndex lane) const;

  Transport transport() const override { return Transport::kSim; }
  const RailCapabilities& capabilities() const override { return capabilities_; }
  Status add_lane(const LaneSpec& spec) override;
  void remove_lane(LaneIndex lane) override;
  void connect_lane(LaneIndex lane, Generation generation, AttemptSeq first_seq,
                    LaneEndpoint endpoint) override;
  std::size_t post(LaneIndex lane, std::span<const Attempt> attempts) override;
  void fence_lane(LaneIndex lane, Generation generation) override;
  Status adopt(InboundLane lane) override;
  InboundFenceReport fence_inbound(InboundLaneId id, Generation min_generation) override;
  void drop_inbound(std::uint32_t peer) override;
  void regions_changed() override {}
  std::size_t poll(Instant now, BoundedVector<RailEvent>& events) override;
  int wait_fd() const override { return -1; }

 private:
  struct Lane {
    LaneSpec spec;
    SimNetwork::Passage out, in;
    Generation generation = 0;
    Generation fenced_below = 0;
    bool up = false;         // connected, not broken, not fenced
    bool fenced = true;      // nothing of `generation` may touch memory here
    bool broken = false;     // kLaneDown is on its way or was told
    Duration late{0};        // what a broken lane adds to each passage
    Instant last_arrival{};  // packets of one lane stay in order
    std::uint32_t outstanding = 0;
    std::uint64_t progress = 0;  // bytes placed in this generation
    SimDriver* responder = nullptr;
    InboundLaneId id;
  };
  // A connection that a peer opened to this end; its index is its record's slot.
  struct Inbound {
    InboundRecord* record = nullptr;
    std::uint32_t rights_peer = 0;
    Operation direction = Operation::kWrite;
    SimDriver* initiator = nullptr;
    LaneIndex lane = kNoLane;
    Cause refusal = Cause::kNone;  // of the attempt that is being moved
    Instant last_departure{};
    Instant last_progress{};
  };
  using Bytes = std::vector<std::byte>;
  // A piece of an attempt: what moves at once.
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
    bool last = false;
    bool damaged = false;
    bool breaks = false;  // its lane, when it departs
  };

  Inbound* serving(InboundLaneId id, const Attempt& attempt);
  void close_inbound(InboundRecord& record);
  void lane_ends(LaneIndex lane, Generation generation, Cause cause);
  static std::vector<Part> cut(const Attempt& attempt, const LinkOptions& options);
  void post_one(Lane& lane, const Attempt& attempt);
  void depart(const Attempt& attempt, const Part& part);
  void arrive_write(InboundLaneId id, const Attempt& attempt, const Part& part, const Bytes& bytes);
  void arrive_read(InboundLaneId id, const Attempt& attempt, bool damaged);
  void depart_data(InboundLaneId id, const Attempt& attempt, const Part& part);
  void arrive_data(const Attempt& attempt, const Part& part, const Bytes& bytes, Cause cause);
  void begin_part(Inbound& lane, const Attempt& attempt, const Part& part) const;
  void end_part(Inbound& lane, const Part& part);
  void answer(Inbound& from, const Attempt& attempt, const Part& part);
  void progress(const Attempt& attempt, std::uint64_t bytes);
  void settle(const Attempt& attempt, Cause cause);
  void break_lane(Lane& lane);
  Instant arrival(Lane& lane, Instant departed);
  bool current(const Attempt& attempt) const;
  std::byte* check(const Inbound& lane, const ResolvedDescriptor& range, std::uint64_t offset,
                   std::uint64_t length, Cause& why) const;
  void emit(const RailEvent& event);

  SimNetwork& network_;
  RegionTable& regions_;
  std::function<void()> wake_;
  Adopted adopted_ = [](InboundLaneId, Generation, bool) {};
  RailCapabilities capabilities_;
  std::map<LaneIndex, Lane> lanes_;
  InboundRecords records_;
  std::map<InboundSlot, Inbound> inbound_;
  InboundSlot next_slot_ = 0;
  std::deque<RailEvent> events_;
};

}  // namespace spindrift::rails::sim
