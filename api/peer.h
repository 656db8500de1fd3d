// A peer that this engine opened: who it is now, and the rails to it. Written by
// the control thread, read by all. Thread-safe.
//
// A rail keeps its ordinal for the life of the engine's view of the peer. When
// the peer restarts with the same devices, the rails stay and only their
// endpoints move; with other devices the list is made anew, under a new number
// in its worker.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "control/control_plane.h"
#include "executor/executor.h"
#include "planner/planner.h"

namespace spindrift::api {

struct PeerRail {
  RailFacts facts;
  std::string name;
  std::uint32_t local_endpoint = 0;   // into ControlPlane::endpoints()
  std::uint32_t remote_endpoint = 0;  // into RemotePeer::endpoints
  std::string down_reason;            // why its last lane could not be made; empty: no failure
};

// What a submission needs, taken in one go.
struct PeerView {
  std::string name;
  Incarnation incarnation;
  bool same_host = false;
  bool connected = false;
  Status status;            // why not connected
  std::uint64_t epoch = 0;  // of its process and rail list; no two peers share one
  std::uint32_t worker = 0;
  executor::PeerIndex index = 0;
  std::shared_ptr<const std::vector<std::string>> rail_names;
  std::shared_ptr<const std::vector<planner::RailCandidate>> candidates;
};

// The rails between two sets of endpoints, in the planner's pairing.
std::vector<PeerRail> pair_endpoints(const std::vector<control::DataEndpoint>& local,
                                     const std::vector<control::DataEndpoint>& remote);

class Peer {
 public:
  Peer(control::PeerSlot slot, std::uint32_t worker) : slot_(slot), worker_(worker) {}

  control::PeerSlot slot() const { return slot_; }
  std::uint32_t worker() const { return worker_; }
  PeerView view() const;

  enum class Change { kSame, kRestarted, kNewRails };
  // A session stands; `epoch` is new, and taken unless it is kSame. kNewRails: the
  // caller gives the list a number in the worker with set_index(); until then
  // nobody can submit.
  Change connected(const control::RemotePeer& remote, std::vector<PeerRail> rails,
                   const RailCapabilities& capabilities, bool same_host, std::uint64_t epoch);
  void set_index(executor::PeerIndex index, LaneIndex first_lane);
  void lost(const Status& why);
  // It cannot be used, for want of room; tried again when it next connects.
  void refused(const Status& why);
  void lane_result(LaneIndex lane, const std::string& failure);

  // What is reported while its rails cannot be used: "tcp:eth0>eth0: refused; ...".
  std::string rail_reasons() const;
  PeerRail rail(RailOrdinal ordinal) const;
  std::vector<PeerRail> rails() const;
  LaneIndex first_lane() const;
  executor::PeerIndex index() const;

 private:
  const control::PeerSlot slot_;
  const std::uint32_t worker_;
  mutable std::mutex mutex_;
  PeerView view_;
  std::vector<PeerRail> rails_;
  std::shared_ptr<const std::vector<std::string>> new_names_;  // until they have a number
  std::shared_ptr<const std::vector<planner::RailCandidate>> new_candidates_;
  LaneIndex first_lane_ = kNoLane;  // writes first, then reads, by ordinal
};

}  // namespace spindrift::api
