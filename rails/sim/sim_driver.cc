#include "rails/sim/sim_driver.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace spindrift::rails::sim {

namespace {

// Calls visit(range, offset, length) for each part of an attempt.
template <typename Visit>
void for_each_range(const Attempt& attempt, Visit visit) {
  std::uint64_t offset = attempt.offset;
  std::uint64_t left = attempt.bytes;
  for (const ResolvedDescriptor* range = attempt.descriptors; left > 0; ++range, offset = 0) {
    const std::uint64_t length = std::min(left, range->length - offset);
    visit(*range, offset, length);
    left -= length;
  }
}

struct Blob {
  SimDriver* driver = nullptr;
  InboundLaneId id;
  LaneIndex lane = kNoLane;
};

LaneEndpoint pack(const Blob& blob) {
  LaneEndpoint endpoint;
  endpoint.blob.resize(sizeof blob);
  std::memcpy(endpoint.blob.data(), &blob, sizeof blob);
  return endpoint;
}

Blob unpack(const LaneEndpoint& endpoint) {
  Blob blob;
  SPINDRIFT_CHECK(endpoint.blob.size() == sizeof blob);
  std::memcpy(&blob, endpoint.blob.data(), sizeof blob);
  return blob;
}

}  // namespace

SimDriver::SimDriver(SimNetwork& network, RegionTable& regions, std::function<void()> wake)
    : network_(network), regions_(regions), wake_(std::move(wake)) {
  capabilities_.attempts_max = 64;
  capabilities_.ranges_max = 32;
}

LaneEndpoint SimDriver::initiator_endpoint(SimDriver& responder, InboundLaneId id) const {
  return pack({.driver = &responder, .id = id});
}

LaneEndpoint SimDriver::responder_endpoint(SimDriver& initiator, LaneIndex lane) const {
  return pack({.driver = &initiator, .lane = lane});
}

void SimDriver::emit(const RailEvent& event) {
  events_.push_back(event);
  wake_();
}

std::size_t SimDriver::poll(Instant, BoundedVector<RailEvent>& events) {
  std::size_t count = 0;
  while (!events_.empty() && events.push(events_.front())) {
    events_.pop_front();
    ++count;
  }
  return count;
}

// --- as initiator -----------------------------------------------------------------

Status SimDriver::add_lane(const LaneSpec& spec) {
  Lane& lane = lanes_[spec.lane];
  lane.spec = spec;
  lane.out = network_.find(spec.facts.local_device, spec.facts.remote_device);
  lane.in = network_.find(spec.facts.remote_device, spec.facts.local_device);
  if (lane.out.link != nullptr) return {};
  return Status(Code::kNotFound, "no simulated link for " + spec.facts.name());
}

void SimDriver::remove_lane(LaneIndex lane) {
  lanes_.erase(lane);
}

void SimDriver::connect_lane(LaneIndex index, Generation generation, AttemptSeq,
                             LaneEndpoint endpoint) {
  Lane& lane = lanes_.at(index);
  SPINDRIFT_CHECK(generation > lane.generation || !lane.up);
  const Blob blob = unpack(endpoint);
  lane.generation = generation;
  lane.up = true;
  lane.fenced = false;
  lane.broken = false;
  lane.late = Duration(0);
  lane.last_arrival = Instant{};
  lane.outstanding = 0;
  lane.responder = blob.driver;
  lane.id = blob.id;
  emit({.kind = RailEventKind::kLaneUp, .lane = index, .generation = generation});
}

bool SimDriver::current(const Attempt& attempt) const {
  const Lane& lane = lanes_.at(attempt.lane);
  return !lane.fenced && lane.generation == attempt.generation;
}

std::size_t SimDriver::post(LaneIndex index, std::span<const Attempt> attempts) {
  Lane& lane = lanes_.at(index);
  const std::size_t room = capabilities_.attempts_max - lane.outstanding;
  std::size_t count = std::min(room, attempts.size());
  // Now and then a rail takes less than it is offered.
  if (count > 1 && network_.prng_.chance(200)) count = 1 + network_.prng_.below(count - 1);
  for (std::size_t i = 0; i < count; ++i) {
    const Attempt attempt = attempts[i];
    ++lane.outstanding;
    const std::uint64_t bytes =
        lane.spec.direction == Operation::kWrite ? attempt.bytes : std::uint64_t{64};
    network_.queue_.schedule(network_.departure(lane.out, bytes),
                             [this, attempt] { depart_write(attempt); });
  }
  return count;
}

// The moment at which the source is read and the bytes are beyond recall; for a
// read, the moment at which the request leaves.
void SimDriver::depart_write(const Attempt& attempt) {
  if (!current(attempt)) return;
  Lane& lane = lanes_.at(attempt.lane);
  const LinkOptions& options = lane.out.link->options;
  if (!lane.broken && network_.prng_.chance(options.break_per_mille)) break_lane(lane);
  const bool damaged = network_.prng_.chance(options.fail_per_mille);
  SimDriver* responder = lane.responder;
  const InboundLaneId id = lane.id;
  const Instant at = arrival(lane, network_.queue_.now());
  if (lane.spec.direction == Operation::kRead) {
    network_.queue_.schedule(
        at, [responder, id, attempt, damaged] { responder->arrive_read(id, attempt, damaged); });
    return;
  }
  Bytes bytes;
  bytes.reserve(attempt.bytes);
  for_each_range(attempt,
                 [&](const ResolvedDescriptor& range, std::uint64_t offset, std::uint64_t length) {
                   network_.witness_.on_source_read(attempt, range.local + offset, length);
                   bytes.insert(bytes.end(), range.local + offset, range.local + offset + length);
                 });
  network_.queue_.schedule(at, [responder, id, attempt, damaged, bytes = std::move(bytes)] {
    responder->arrive_write(id, attempt, bytes, damaged);
  });
}

// From here on the initiator will be told that the lane is down, while what is
// under way, and what departs until then, arrives late instead of never.
void SimDriver::break_lane(Lane& lane) {
  const LinkOptions& options = lane.out.link->options;
  lane.broken = true;
  lane.late = Duration(static_cast<std::int64_t>(
      network_.prng_.below(static_cast<std::uint64_t>(options.late_max.count()) + 1)));
  const LaneIndex index = lane.spec.lane;
  const Generation generation = lane.generation;
  const Duration told_after =
      std::chrono::microseconds(static_cast<std::int64_t>(network_.prng_.below(20'000)));
  network_.queue_.schedule(network_.queue_.now() + told_after, [this, index, generation] {
    Lane& broken = lanes_.at(index);
    if (broken.generation != generation || !broken.up) return;
    broken.up = false;
    emit({.kind = RailEventKind::kLaneDown,
          .cause = Cause::kConnectionReset,
          .lane = index,
          .generation = generation});
  });
}

Instant SimDriver::arrival(Lane& lane, Instant departed) {
  lane.last_arrival = std::max(lane.last_arrival, departed + network_.flight(lane.out) + lane.late);
  return lane.last_arrival;
}

void SimDriver::settle(const Attempt& attempt, Cause cause) {
  Lane& lane = lanes_.at(attempt.lane);
  // A broken lane's acknowledgements are lost with it.
  if (!current(attempt) || !lane.up || lane.broken) return;
  --lane.outstanding;
  emit({.kind = cause == Cause::kNone ? RailEventKind::kLanded : RailEventKind::kFailed,
        .cause = cause,
        .lane = attempt.lane,
        .generation = attempt.generation,
        .value = attempt.seq});
}

void SimDriver::arrive_data(const Attempt& attempt, const Bytes& bytes, Cause cause) {
  if (!current(attempt)) return;  // a broken lane's data land until it is fenced
  if (cause == Cause::kNone) {
    std::uint64_t done = 0;
    for_each_range(
        attempt, [&](const ResolvedDescriptor& range, std::uint64_t offset, std::uint64_t length) {
          network_.witness_.on_destination_write(attempt, range.local + offset, length);
          std::memcpy(range.local + offset, bytes.data() + done, length);
          done += length;
        });
  }
  settle(attempt, cause);
}

void SimDriver::fence_lane(LaneIndex index, Generation generation) {
  Lane& lane = lanes_.at(index);
  lane.generation = std::max(lane.generation, generation);
  lane.up = false;
  std::erase_if(events_, [index](const RailEvent& event) { return event.lane == index; });
  // What it had taken goes on until the fence is reported, as on hardware whose
  // queues must be flushed.
  const Duration lasts = std::chrono::microseconds(
      static_cast<std::int64_t>(network_.prng_.chance(300) ? network_.prng_.below(100'000) : 0));
  network_.queue_.schedule(network_.queue_.now() + lasts, [this, index, generation] {
    lanes_.at(index).fenced = true;
    emit({.kind = RailEventKind::kLocalFenced, .lane = index, .generation = generation});
  });
}

// --- as responder -----------------------------------------------------------------

SimDriver::Inbound& SimDriver::inbound(InboundLaneId id) {
  Inbound& lane = inbound_[{id.peer, id.lane_key}];
  lane.id = id;
  return lane;
}

Status SimDriver::adopt(InboundLane incoming) {
  Inbound& lane = inbound(incoming.id);
  if (incoming.generation < lane.min_generation || incoming.generation <= lane.generation) {
    adopted_(incoming.id, incoming.generation, false);
    return Status(Code::kProtocol, "the lane's generation is fenced");
  }
  const Blob blob = unpack(incoming.endpoint);
  lane.rights_peer = incoming.rights_peer;
  lane.generation = incoming.generation;
  lane.min_generation = incoming.generation;
  lane.direction = incoming.direction;
  lane.open = true;
  lane.report = {.settled_end = incoming.first_seq};
  lane.initiator = blob.driver;
  lane.lane = blob.lane;
  adopted_(incoming.id, incoming.generation, true);
  return {};
}

InboundFenceReport SimDriver::fence_inbound(InboundLaneId id, Generation min_generation) {
  Inbound& lane = inbound(id);
  lane.min_generation = std::max(lane.min_generation, min_generation);
  if (lane.generation < lane.min_generation) lane.open = false;
  return lane.report;
}

void SimDriver::drop_inbound(std::uint32_t peer) {
  std::erase_if(inbound_, [peer](const auto& entry) { return entry.first.first == peer; });
}

std::byte* SimDriver::check(const Inbound& lane, const ResolvedDescriptor& range,
                            std::uint64_t offset, std::uint64_t length, Cause& why) const {
  const Rights want =
      lane.direction == Operation::kWrite ? Rights::kRemoteWrite : Rights::kRemoteRead;
  return regions_.check(lane.rights_peer, range.remote_key, range.remote + offset, length, want,
                        why);
}

void SimDriver::answer(const Inbound& from, const Attempt& attempt, Cause cause) {
  SimDriver* initiator = from.initiator;
  const SimNetwork::Passage back = initiator->lanes_.at(attempt.lane).in;
  network_.queue_.schedule(network_.queue_.now() + network_.flight(back),
                           [initiator, attempt, cause] { initiator->settle(attempt, cause); });
}

void SimDriver::arrive_write(InboundLaneId id, const Attempt& attempt, const Bytes& bytes,
                             bool damaged) {
  Inbound& lane = inbound(id);
  if (!lane.open || attempt.generation != lane.generation) return;
  SPINDRIFT_CHECK(attempt.seq == lane.report.settled_end);
  Cause why = damaged ? Cause::kChecksum : Cause::kNone;
  for_each_range(attempt,
                 [&](const ResolvedDescriptor& range, std::uint64_t offset, std::uint64_t length) {
                   if (why == Cause::kNone) (void)check(lane, range, offset, length, why);
                 });
  if (why == Cause::kNone) {
    std::uint64_t done = 0;
    for_each_range(
        attempt, [&](const ResolvedDescriptor& range, std::uint64_t offset, std::uint64_t length) {
          std::byte* to = check(lane, range, offset, length, why);
          network_.witness_.on_destination_write(attempt, to, length);
          std::memcpy(to, bytes.data() + done, length);
          done += length;
        });
  } else {
    lane.report.refused.push_back(attempt.seq);
  }
  lane.report.settled_end = attempt.seq + 1;
  answer(lane, attempt, why);
}

void SimDriver::arrive_read(InboundLaneId id, const Attempt& attempt, bool damaged) {
  Inbound& lane = inbound(id);
  if (!lane.open || attempt.generation != lane.generation) return;
  Cause why = damaged ? Cause::kChecksum : Cause::kNone;
  Bytes bytes;
  for_each_range(attempt, [&](const ResolvedDescriptor& range, std::uint64_t offset,
                              std::uint64_t length) {
    const std::byte* from = why == Cause::kNone ? check(lane, range, offset, length, why) : nullptr;
    if (from != nullptr) bytes.insert(bytes.end(), from, from + length);
  });
  SimDriver* initiator = lane.initiator;
  const SimNetwork::Passage back = initiator->lanes_.at(attempt.lane).in;
  lane.last_departure =
      std::max(lane.last_departure, network_.departure(back, bytes.size()) + network_.flight(back));
  network_.queue_.schedule(lane.last_departure,
                           [initiator, attempt, why, bytes = std::move(bytes)] {
                             initiator->arrive_data(attempt, bytes, why);
                           });
}

}  // namespace spindrift::rails::sim
