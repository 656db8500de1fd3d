// The control plane's shell: listeners, connections and timers of one engine,
// all in one thread of its own (Boost.Asio). It keeps a session with each peer
// that this engine opened and with each that opened one to it, answers segment
// look-ups, makes the connections of data lanes off the data path, and carries
// fences. Decisions live in the pure parts beside it: handshake.h, session.h,
// directory.h, lane_hello.h.
//
// Thread-safety: all public methods from any thread; they enqueue and return.
// Events are called on the control thread and must not block.
// Lifetime: stop() (or the destructor) joins the thread; no event comes after.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/instant.h"
#include "base/rail_types.h"
#include "control/control_options.h"
#include "spindrift/ids.h"
#include "spindrift/segment.h"
#include "spindrift/status.h"

namespace spindrift::control {

// A peer that this engine opened; dense, from 0, never reused.
using PeerSlot = std::uint32_t;
// A session that a peer opened to this engine; from 1, never reused.
using InboundSession = std::uint32_t;

// Where data lanes reach a node: one per usable local address.
struct DataEndpoint {
  Transport transport = Transport::kTcp;
  std::string device;       // "eth2"
  std::string address;      // "10.0.2.1", without prefix length
  std::uint8_t prefix = 0;  // length of the subnet prefix
  std::uint16_t port = 0;   // of its listener; in the identity given to start(): 0
  Rate line_rate;
  int numa = -1;
  std::string pci;
  bool bind_device = true;  // SO_BINDTODEVICE the listener; local only, never sent
};

struct RemotePeer {
  std::string name;
  Incarnation incarnation;
  std::string host_id;  // equal on one machine
  std::vector<DataEndpoint> endpoints;
};

struct PublishedRegion {
  std::string segment;
  std::uint32_t key = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  Rights rights = Rights::kLocal;
  std::vector<Grant> grants;
  Location location;
};

// Names one generation of one lane of this engine as initiator.
struct LaneRequest {
  PeerSlot peer = 0;
  std::uint32_t worker = 0;    // of this engine
  std::uint32_t lane_key = 0;  // unique per peer; the same for all generations
  Generation generation = 0;
  AttemptSeq first_seq = 0;
  Operation direction = Operation::kWrite;
  // The two ends: index into our own endpoints, and into the RemotePeer's.
  std::uint32_t local_endpoint = 0;
  std::uint32_t remote_endpoint = 0;
};

// A data lane that a peer opened: its hello was read in full and its token was
// right, used for the first time. The worker that places for this session
// answers it (lane_hello.h) when it has adopted the socket.
struct AcceptedLane {
  InboundSession session = 0;
  std::uint32_t lane_key = 0;
  Generation generation = 0;
  AttemptSeq first_seq = 0;
  Operation direction = Operation::kWrite;
  FileDescriptor socket;
};

struct FenceRequest {
  std::uint32_t lane_key = 0;
  Generation min_generation = 0;  // everything below is to end
};

struct FenceReply {
  std::uint32_t lane_key = 0;
  Generation min_generation = 0;
  AttemptSeq settled_end = 0;  // see rails/rail.h, InboundFenceReport
  std::vector<AttemptSeq> refused;
};

class ControlEvents {
 public:
  virtual ~ControlEvents() = default;

  // As initiator. A session stands; also after the peer restarted, with its new
  // incarnation: all lanes and segments of the old one are void then.
  virtual void peer_connected(PeerSlot peer, const RemotePeer& remote) = 0;
  // No connection left. Reconnecting goes on by itself, with back-off.
  virtual void peer_lost(PeerSlot peer, const Status& why) = 0;
  // After peer_lost: the process of that incarnation is known to place nothing
  // any more, because it said goodbye, which it does last, or because all its
  // control addresses refuse connections: a listener closes after the lanes.
  virtual void peer_gone(PeerSlot peer, const Status& why) = 0;
  // The socket is connected, bound to the rail's device and address, its hello
  // sent and accepted by the placing worker, non-blocking.
  virtual void lane_connected(const LaneRequest& lane, FileDescriptor socket) = 0;
  virtual void lane_failed(const LaneRequest& lane, const Status& why) = 0;
  virtual void fenced(PeerSlot peer, const FenceReply& reply) = 0;
  // The kernel says that a link of this host lost its carrier or was set down, or
  // the opposite.
  virtual void link_changed(const std::string& device, bool up) = 0;

  // As responder.
  virtual void session_opened(InboundSession session, const RemotePeer& remote) = 0;
  // The session ended for good: its initiator said goodbye, or a newer
  // incarnation of it took its place. Nothing of it may be adopted any more.
  virtual void session_closed(InboundSession session) = 0;
  virtual void lane_accepted(AcceptedLane lane) = 0;
  // To be answered with ControlPlane::answer_fence() by the placing worker.
  virtual void fence_requested(InboundSession session, const FenceRequest& request) = 0;
};

struct LocalIdentity {
  std::string name;
  Incarnation incarnation;
  std::string host_id;
  std::vector<DataEndpoint> endpoints;
};

struct ControlCounters {  // cumulative; for metrics
  std::uint64_t handshakes_ok = 0;
  std::uint64_t handshakes_refused = 0;  // wrong key, version, token, garbage
  std::uint64_t connections_accepted = 0;
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_resent = 0;
  std::uint64_t messages_received = 0;
};

class ControlPlane {
 public:
  // Binds everything before it starts the thread; kAddressInUse names the
  // address and port, kInvalidArgument refuses a non-loopback bind without key.
  // Data listeners take ports from [data_port_min, data_port_max], 0-0: any.
  static Result<std::unique_ptr<ControlPlane>> start(const ControlOptions& options,
                                                     std::uint16_t data_port_min,
                                                     std::uint16_t data_port_max,
                                                     LocalIdentity identity, ControlEvents& events);
  ~ControlPlane();
  void stop();

  const std::string& address() const;                  // "IP:PORT" to tell others
  const std::vector<DataEndpoint>& endpoints() const;  // with the ports they got

  // Idempotent per name and per address. `name` empty: take the name from the
  // peer. The session is made and kept up from then on, with back-off.
  PeerSlot open_peer(const std::string& name, const std::vector<std::string>& addresses);
  // Calls back once, within `timeout`: the segment, or why not (kNotFound lists
  // the peer's segments, kPeerUnreachable, kUnauthenticated, ...).
  void look_up(PeerSlot peer, const std::string& segment, Duration timeout,
               std::function<void(Result<Segment::Data>)> done);

  void publish(PublishedRegion region);
  void withdraw(std::uint32_t key);
  void revoke(const std::string& peer, const std::string& segment);

  void connect_lane(const LaneRequest& lane);
  void send_fence(PeerSlot peer, const FenceRequest& request);
  void answer_fence(InboundSession session, const FenceReply& reply);

  ControlCounters counters() const;

 private:
  class Shell;
  explicit ControlPlane(std::unique_ptr<Shell> shell);
  std::unique_ptr<Shell> shell_;
};

}  // namespace spindrift::control
