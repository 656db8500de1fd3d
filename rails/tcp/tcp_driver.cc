#include "rails/tcp/tcp_driver.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "rails/tcp/frames.h"
#include "rails/tcp/inbound_lane.h"
#include "rails/tcp/inbound_read.h"
#include "rails/tcp/inbound_write.h"
#include "rails/tcp/outbound_lane.h"

namespace spindrift::rails::tcp {
namespace {

// Sockets looked at per poll; the kernel gives the others their turn next time.
constexpr int kReadyMax = 128;
// Lanes that closed keep their record until their session ends.
constexpr std::uint32_t kRecordsPerPeer = 1024;

// The upper half of an epoll tag.
constexpr std::uint64_t kKick = 0;
constexpr std::uint64_t kOutbound = 1;
constexpr std::uint64_t kInbound = 2;
constexpr std::uint64_t tag_of(std::uint64_t kind, std::uint32_t index) {
  return (kind << 32) | index;
}

// A socket in error wakes us whatever was asked for: reading and writing tell.
constexpr std::uint32_t kBroken = EPOLLERR | EPOLLHUP;
bool readable(std::uint32_t ready) {
  return (ready & (EPOLLIN | kBroken)) != 0;
}
bool writable(std::uint32_t ready) {
  return (ready & (EPOLLOUT | kBroken)) != 0;
}

// Interest in room to send is taken back only when epoll reports it in vain: a
// busy lane that is drained and filled again costs no system call for it.
std::uint32_t wanted_events(bool receive, bool send, std::uint32_t interest, std::uint32_t ready) {
  const bool keep_send = (interest & EPOLLOUT) != 0 && (ready & EPOLLOUT) == 0;
  return (receive ? EPOLLIN : 0u) | (send || keep_send ? EPOLLOUT : 0u);
}

RailCapabilities tcp_capabilities() {
  RailCapabilities capabilities;
  capabilities.slice_max = kSliceMax;
  capabilities.ranges_max = kRangesMax;
  return capabilities;
}

}  // namespace

TcpDriver::TcpDriver(const TcpOptions& options, const RegionTable* regions)
    : capabilities_(tcp_capabilities()),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      kick_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      context_(options, regions),
      records_(kRecordsPerPeer, capabilities_.attempts_max) {
  SPINDRIFT_CHECK(regions != nullptr);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag_of(kKick, 0);
  if (!epoll_ || !kick_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, kick_.get(), &event) != 0) {
    open_error_ = errno;
  }
}

TcpDriver::~TcpDriver() {
  for (InboundSlot slot = 0; slot < inbound_.size(); ++slot) close_inbound(slot);
  for (auto& lane : outbound_) {
    if (lane) lane->break_down(Cause::kShutDown);
  }
}

Status TcpDriver::ready() const {
  if (open_error_ == 0) return {};
  Status::Detail detail;
  detail.what = "TCP backend: epoll could not be opened";
  detail.hint = "raise the limit of open files (ulimit -n)";
  detail.os_error = open_error_;
  return Status(Code::kIoError, std::move(detail));
}

// --- as initiator ------------------------------------------------------------

OutboundLane* TcpDriver::find(LaneIndex lane) const {
  return lane < outbound_.size() ? outbound_[lane].get() : nullptr;
}

Status TcpDriver::add_lane(const LaneSpec& spec) {
  if (spec.lane >= kLanesMax) {
    return Status(Code::kInvalidArgument, "TCP lane " + std::to_string(spec.lane) + " of " +
                                              spec.facts.name() + ": at most " +
                                              std::to_string(kLanesMax) + " lanes per worker");
  }
  if (find(spec.lane) != nullptr) {
    return Status(Code::kAlreadyExists, "TCP lane " + std::to_string(spec.lane) + " of " +
                                            spec.facts.name() + ": its index is taken");
  }
  if (spec.lane >= outbound_.size()) outbound_.resize(spec.lane + 1);
  dirty_.reserve(outbound_.size());
  outbound_[spec.lane] =
      std::make_unique<OutboundLane>(spec, capabilities_.attempts_max, epoll_.get());
  return {};
}

void TcpDriver::remove_lane(LaneIndex index) {
  OutboundLane* const lane = find(index);
  if (lane == nullptr) return;
  SPINDRIFT_CHECK(lane->idle());
  if (lane->dirty) std::erase(dirty_, index);
  outbound_[index].reset();
}

void TcpDriver::connect_lane(LaneIndex index, Generation generation, AttemptSeq first_seq,
                             LaneEndpoint endpoint) {
  OutboundLane* const lane = find(index);
  SPINDRIFT_CHECK(lane != nullptr);
  if (endpoint.socket) apply_socket_options(endpoint.socket.get(), context_.options);
  lane->connect(generation, first_seq, std::move(endpoint.socket));
  if (lane->up()) {
    lane->interest = 0;
    watch(index, *lane);
  }
  mark_dirty(index, *lane);
  update_kick();
}

std::size_t TcpDriver::post(LaneIndex index, std::span<const Attempt> attempts) {
  OutboundLane* const lane = find(index);
  SPINDRIFT_CHECK(lane != nullptr);
  const std::size_t taken = lane->post(attempts, context_);
  if (lane->wants_to_send()) watch(index, *lane);
  return taken;
}

void TcpDriver::fence_lane(LaneIndex index, Generation generation) {
  OutboundLane* const lane = find(index);
  SPINDRIFT_CHECK(lane != nullptr);
  lane->fence(generation);
  mark_dirty(index, *lane);
  update_kick();
}

void TcpDriver::mark_dirty(LaneIndex index, OutboundLane& lane) {
  if (lane.dirty) return;
  lane.dirty = true;
  dirty_.push_back(index);
}

void TcpDriver::watch(LaneIndex index, OutboundLane& lane) {
  const std::uint32_t wanted = wanted_events(true, lane.wants_to_send(), lane.interest, 0);
  if (ask_epoll(lane.fd(), tag_of(kOutbound, index), wanted, lane.interest)) return;
  lane.break_down(Cause::kConnectFailed);
  mark_dirty(index, lane);
}

// --- as responder ------------------------------------------------------------

Status TcpDriver::refuse(InboundLane& lane, LaneAnswer answer, Status why) {
  ++context_.counters.lanes_refused;
  const auto bytes = encode_lane_answer(answer);
  const iovec piece{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  // Closed in order, not reset: the answer is to arrive.
  if (lane.endpoint.socket) (void)send_some(lane.endpoint.socket.get(), &piece, 1);
  lane.endpoint.socket.reset();
  return why;
}

Status TcpDriver::adopt(InboundLane lane) {
  const std::string what = "lane " + std::to_string(lane.id.lane_key) + " of inbound session " +
                           std::to_string(lane.id.peer) + ", generation " +
                           std::to_string(lane.generation);
  const auto status = [&what](Code code, std::string why, int os_error = 0) {
    Status::Detail detail;
    detail.what = what;
    detail.why = std::move(why);
    detail.os_error = os_error;
    return Status(code, std::move(detail));
  };
  InboundRecord* const record = records_.find_or_make(lane.id);
  if (record != nullptr && !record->admits(lane.generation)) {
    return refuse(lane, LaneAnswer::kStaleGeneration,
                  status(Code::kProtocol, "this generation is fenced or already adopted"));
  }
  const bool replaces = record != nullptr && record->slot != kNoInboundSlot;
  if (record == nullptr || (!replaces && inbound_used_ >= context_.options.inbound_lanes_max)) {
    return refuse(lane, LaneAnswer::kBusy,
                  status(Code::kBusy, "tcp.inbound_lanes_max (" +
                                          std::to_string(context_.options.inbound_lanes_max) +
                                          ") is reached"));
  }
  if (!record->adopt(lane.generation, lane.first_seq)) {
    return refuse(lane, LaneAnswer::kStaleGeneration,
                  status(Code::kProtocol, "its first attempt was settled before"));
  }
  if (replaces) close_inbound(record->slot);

  FileDescriptor& socket = lane.endpoint.socket;
  apply_socket_options(socket.get(), context_.options);
  const auto answer = encode_lane_answer(LaneAnswer::kAdopted);
  const iovec piece{const_cast<std::uint8_t*>(answer.data()), answer.size()};
  // Nothing was ever sent on this socket, so eight bytes fit or it is broken.
  if (send_some(socket.get(), &piece, 1).bytes != answer.size()) {
    reset_and_close(socket);
    return status(Code::kIoError, "its connection broke before it was adopted");
  }
  const InboundSlot slot = free_slot();
  auto& place = inbound_[slot];
  if (lane.direction == Operation::kWrite) {
    place = std::make_unique<InboundWrite>(std::move(socket), lane.rights_peer, *record);
  } else {
    place = std::make_unique<InboundRead>(std::move(socket), lane.rights_peer, *record,
                                          context_.options.inbound_reads_max);
  }
  record->slot = slot;
  ++inbound_used_;
  if (!ask_epoll(place->socket().get(), tag_of(kInbound, slot), EPOLLIN, place->interest)) {
    const int error = errno;
    close_inbound(slot);
    return status(Code::kIoError, "epoll refused its socket", error);
  }
  ++context_.counters.lanes_adopted;
  return {};
}

InboundSlot TcpDriver::free_slot() {
  if (!free_inbound_.empty()) {
    const InboundSlot slot = free_inbound_.back();
    free_inbound_.pop_back();
    return slot;
  }
  inbound_.emplace_back();
  free_inbound_.reserve(inbound_.size());
  return static_cast<InboundSlot>(inbound_.size() - 1);
}

void TcpDriver::close_inbound(InboundSlot slot) {
  std::unique_ptr<InboundConnection>& connection = inbound_[slot];
  if (!connection) return;
  reset_and_close(connection->socket(), epoll_.get());
  connection->record().slot = kNoInboundSlot;
  connection.reset();
  free_inbound_.push_back(slot);
  --inbound_used_;
}

InboundFenceReport TcpDriver::fence_inbound(InboundLaneId id, Generation min_generation) {
  InboundRecord* const record = records_.find_or_make(id);
  // Over the bound nothing of this lane was ever adopted nor ever will be.
  if (record == nullptr) return {};
  if (record->slot != kNoInboundSlot && record->adopted < min_generation) {
    close_inbound(record->slot);
  }
  record->end_below(min_generation);
  return record->report();
}

void TcpDriver::drop_inbound(std::uint32_t peer) {
  records_.drop(peer, [this](InboundRecord& record) {
    if (record.slot != kNoInboundSlot) close_inbound(record.slot);
  });
}

// --- both --------------------------------------------------------------------

bool TcpDriver::ask_epoll(int fd, std::uint64_t tag, std::uint32_t wanted,
                          std::uint32_t& interest) {
  if (wanted == interest) return true;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = tag;
  // 0 also means "not yet added": a lane that pauses both directions would never
  // be heard again, and none does.
  const int operation = interest == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_.get(), operation, fd, &event) != 0) return false;
  interest = wanted;
  return true;
}

std::size_t TcpDriver::poll(Instant now, BoundedVector<RailEvent>& events) {
  const std::size_t before = events.size();
  std::size_t work = 0;
  tell_dirty(events);
  std::array<epoll_event, kReadyMax> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), kReadyMax, 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    const auto index = static_cast<std::uint32_t>(event.data.u64);
    const std::uint64_t kind = event.data.u64 >> 32;
    std::uint64_t bytes = 0;
    if (kind == kOutbound) bytes = serve_outbound(index, event.events, now, events);
    if (kind == kInbound) bytes = serve_inbound(index, event.events);
    if (bytes > 0) ++work;
  }
  update_kick();
  return work + events.size() - before;
}

std::uint64_t TcpDriver::serve_outbound(LaneIndex index, std::uint32_t ready, Instant now,
                                        BoundedVector<RailEvent>& events) {
  OutboundLane* const lane = find(index);
  if (lane == nullptr || !lane->up()) return 0;
  const std::uint64_t bytes = lane->serve(now, {readable(ready), writable(ready)}, context_);
  if (lane->up()) {
    const std::uint32_t wanted = wanted_events(true, lane->wants_to_send(), lane->interest, ready);
    if (!ask_epoll(lane->fd(), tag_of(kOutbound, index), wanted, lane->interest)) {
      lane->break_down(Cause::kConnectionReset);
    }
  }
  if (!lane->dirty && !lane->tell(events)) mark_dirty(index, *lane);
  return bytes;
}

std::uint64_t TcpDriver::serve_inbound(InboundSlot slot, std::uint32_t ready) {
  if (slot >= inbound_.size() || !inbound_[slot]) return 0;
  InboundConnection& connection = *inbound_[slot];
  const Served served = connection.serve(readable(ready), writable(ready), context_);
  if (served.down == Cause::kProtocol) ++context_.counters.protocol_errors;
  const std::uint32_t wanted = wanted_events(
      connection.wants_to_receive(), connection.wants_to_send(), connection.interest, ready);
  if (served.down != Cause::kNone ||
      !ask_epoll(connection.socket().get(), tag_of(kInbound, slot), wanted, connection.interest)) {
    close_inbound(slot);
    return served.bytes + 1;
  }
  return served.bytes;
}

// Lanes whose events did not fit, and those with news that no socket brings.
void TcpDriver::tell_dirty(BoundedVector<RailEvent>& events) {
  std::size_t kept = 0;
  for (const LaneIndex index : dirty_) {
    OutboundLane& lane = *outbound_[index];
    lane.dirty = !lane.tell(events);
    if (lane.dirty) dirty_[kept++] = index;
  }
  dirty_.resize(kept);
}

void TcpDriver::update_kick() {
  const bool wanted = !dirty_.empty();
  if (wanted == kicked_ || !kick_) return;
  std::uint64_t value = 1;
  const ssize_t done = wanted ? ::write(kick_.get(), &value, sizeof value)
                              : ::read(kick_.get(), &value, sizeof value);
  if (done == static_cast<ssize_t>(sizeof value)) kicked_ = wanted;
}

std::optional<LaneSocketInfo> TcpDriver::lane_info(LaneIndex index) const {
  const OutboundLane* const lane = find(index);
  if (lane == nullptr || !lane->up()) return {};
  return read_socket_info(lane->fd(), context_.options);
}

}  // namespace spindrift::rails::tcp
