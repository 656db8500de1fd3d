// Moves slices over TCP sockets that arrive connected: the control plane made
// them, asked the kernel to bind them to the rail's device, and spoke the hello.
// One driver per worker; one epoll descriptor for all of its lanes.
//
// A lane carries one direction. Frames are described in frames.h; the responder
// side is inbound_write.h and inbound_read.h, the initiator's outbound_lane.h.
// Rejected: one connection for both directions (a stalled reader would hold up
// acknowledgements, and a fence of one direction would kill the other).
//
// Thread-safety: none; everything from the owning worker's thread. `regions`
// belongs to the worker too and outlives the driver.
// Errors: as in rails/rail.h. ready() tells when the kernel gave no epoll; every
// lane is down then.
//
//   TcpDriver driver(options, &regions);
//   if (Status status = driver.ready(); !status.ok()) return status;
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/file_descriptor.h"
#include "base/lane_answer.h"
#include "rails/inbound_records.h"
#include "rails/rail.h"
#include "rails/tcp/lane_context.h"
#include "rails/tcp/socket.h"
#include "rails/tcp/tcp_options.h"

namespace spindrift::rails::tcp {

class InboundConnection;
class OutboundLane;

class TcpDriver final : public RailDriver {
 public:
  // Above any executor's bound of lanes; the table of lanes grows as it is used.
  static constexpr LaneIndex kLanesMax = 1u << 16;

  TcpDriver(const TcpOptions& options, const RegionTable* regions);
  ~TcpDriver() override;

  Status ready() const;

  Transport transport() const override { return Transport::kTcp; }
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
  void regions_changed() override { ++context_.regions_epoch; }

  std::size_t poll(Instant now, BoundedVector<RailEvent>& events) override;
  int wait_fd() const override { return epoll_.get(); }

  // What the kernel does for a lane that is up; for metrics and `topo`.
  std::optional<LaneSocketInfo> lane_info(LaneIndex lane) const;
  const TcpCounters& counters() const { return context_.counters; }
  std::size_t inbound_lanes() const { return inbound_used_; }

 private:
  OutboundLane* find(LaneIndex lane) const;
  void mark_dirty(LaneIndex index, OutboundLane& lane);
  void tell_dirty(BoundedVector<RailEvent>& events);
  void update_kick();
  std::uint64_t serve_outbound(LaneIndex index, std::uint32_t ready, Instant now,
                               BoundedVector<RailEvent>& events);
  std::uint64_t serve_inbound(InboundSlot slot, std::uint32_t ready);
  void watch(LaneIndex index, OutboundLane& lane);
  void watch(InboundSlot slot, InboundConnection& connection);
  bool ask_epoll(int fd, std::uint64_t tag, std::uint32_t wanted, std::uint32_t& interest);
  InboundSlot free_slot();
  void close_inbound(InboundSlot slot);
  Status refuse(InboundLane& lane, LaneAnswer answer, Status why);

  const RailCapabilities capabilities_;
  int open_error_ = 0;
  FileDescriptor epoll_;
  // Keeps epoll_ readable while lanes have news that no socket would announce.
  FileDescriptor kick_;
  bool kicked_ = false;

  LaneContext context_;
  std::vector<std::unique_ptr<OutboundLane>> outbound_;  // by LaneIndex
  std::vector<LaneIndex> dirty_;                         // lanes with news
  InboundRecords records_;
  std::vector<std::unique_ptr<InboundConnection>> inbound_;  // by InboundSlot
  std::vector<InboundSlot> free_inbound_;
  std::size_t inbound_used_ = 0;
};

}  // namespace spindrift::rails::tcp
