#include "rails/sim/sim_driver.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace spindrift::rails::sim {

namespace {

constexpr std::uint32_t kAttemptsMax = 512;
constexpr std::uint32_t kRecordsMax = 4096;
constexpr std::uint64_t kRequestBytes = 64;

// Calls visit(range, offset, length) for each range of `length` bytes of an
// attempt, from its byte `begin` on.
template <typename Visit>
void for_each_range(const Attempt& attempt, std::uint64_t begin, std::uint64_t length,
                    Visit visit) {
  std::uint64_t offset = attempt.offset + begin;
  const ResolvedDescriptor* range = attempt.descriptors;
  while (length > 0) {
    if (offset >= range->length) {
      offset -= range++->length;
      continue;
    }
    const std::uint64_t here = std::min(length, range->length - offset);
    visit(*range, offset, here);
    length -= here;
    offset += here;
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

// No driver: not an endpoint of this backend.
Blob unpack(const LaneEndpoint& endpoint) {
  Blob blob;
  if (endpoint.blob.size() == sizeof blob) {
    std::memcpy(&blob, endpoint.blob.data(), sizeof blob);
  }
  return blob;
}

}  // namespace

SimDriver::SimDriver(SimNetwork& network, RegionTable& regions, std::function<void()> wake)
    : network_(network),
      regions_(regions),
      wake_(std::move(wake)),
      records_(kRecordsMax, kAttemptsMax) {
  capabilities_.attempts_max = kAttemptsMax;
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
  if (generation < lane.fenced_below) return;  // the fence was told, nothing else will be
  SPINDRIFT_CHECK(generation > lane.generation || !lane.up);
  const Blob blob = unpack(endpoint);
  lane.generation = generation;
  if (blob.driver == nullptr) {
    emit({.kind = RailEventKind::kLaneDown,
          .cause = Cause::kConnectFailed,
          .lane = index,
          .generation = generation});
    return;
  }
  lane.up = true;
  lane.fenced = false;
  lane.broken = false;
  lane.late = Duration(0);
  lane.last_arrival = Instant{};
  lane.outstanding = 0;
  lane.progress = 0;
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
  if (!lane.up) return 0;
  const std::size_t room = capabilities_.attempts_max - lane.outstanding;
  std::size_t count = std::min(room, attempts.size());
  // Now and then a rail takes less than it is offered.
  if (count > 1 && network_.prng_.chance(200)) count = 1 + network_.prng_.below(count - 1);
  for (std::size_t i = 0; i < count; ++i) post_one(lane, attempts[i]);
  return count;
}

std::vector<SimDriver::Part> SimDriver::cut(const Attempt& attempt, const LinkOptions& options) {
  std::vector<Part> parts;
  for (std::uint64_t begin = 0; begin < attempt.bytes; begin += options.part) {
    parts.push_back({.begin = begin, .length = std::min(options.part, attempt.bytes - begin)});
  }
  parts.back().last = true;
  return parts;
}

void SimDriver::post_one(Lane& lane, const Attempt& attempt) {
  const LinkOptions& options = lane.out.link->options;
  ++lane.outstanding;
  std::vector<Part> parts = cut(attempt, options);
  const bool is_read = lane.spec.direction == Operation::kRead;
  if (is_read) parts.resize(1);  // the request
  const bool damaged = network_.prng_.chance(options.fail_per_mille);
  if (network_.prng_.chance(options.break_per_mille)) {
    parts[network_.prng_.below(parts.size())].breaks = true;
  }
  for (Part& part : parts) {
    part.damaged = damaged;
    const std::uint64_t bytes = is_read ? kRequestBytes : part.length;
    network_.queue_.schedule(network_.departure(lane.out, bytes),
                             [this, attempt, part] { depart(attempt, part); });
  }
}

// The moment at which the source is read and the bytes are beyond recall; for a
// read, the moment at which the request leaves.
void SimDriver::depart(const Attempt& attempt, const Part& part) {
  if (!current(attempt)) return;
  Lane& lane = lanes_.at(attempt.lane);
  if (!lane.broken && part.breaks) break_lane(lane);
  SimDriver* responder = lane.responder;
  const InboundLaneId id = lane.id;
  const Instant at = arrival(lane, network_.queue_.now());
  if (lane.spec.direction == Operation::kRead) {
    network_.queue_.schedule(at, [responder, id, attempt, damaged = part.damaged] {
      responder->arrive_read(id, attempt, damaged);
    });
    return;
  }
  Bytes bytes;
  bytes.reserve(part.length);
  for_each_range(attempt, part.begin, part.length,
                 [&](const ResolvedDescriptor& range, std::uint64_t offset, std::uint64_t length) {
                   network_.witness_.on_source_read(attempt, range.local + offset, length);
                   bytes.insert(bytes.end(), range.local + offset, range.local + offset + length);
                 });
  network_.queue_.schedule(at, [responder, id, attempt, part, bytes = std::move(bytes)] {
    responder->arrive_write(id, attempt, part, bytes);
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
    lane_ends(index, generation, Cause::kConnectionReset);
  });
}

void SimDriver::lane_ends(LaneIndex index, Generation generation, Cause cause) {
  const auto it = lanes_.find(index);
  if (it == lanes_.end() || it->second.generation != generation || !it->second.up) return;
  it->second.up = false;
  emit({.kind = RailEventKind::kLaneDown, .cause = cause, .lane = index, .generation = generation});
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

void SimDriver::progress(const Attempt& attempt, std::uint64_t bytes) {
  Lane& lane = lanes_.at(attempt.lane);
  if (!current(attempt) || !lane.up || lane.broken) return;
  lane.progress += bytes;
  emit({.kind = RailEventKind::kProgress,
        .lane = attempt.lane,
        .generation = attempt.generation,
        .value = lane.progress});
}

void SimDriver::arrive_data(const Attempt& attempt, const Part& part, const Bytes& bytes,
                            Cause cause) {
  if (!current(attempt)) return;  // a broken lane's data land until it is fenced
  if (cause == Cause::kNone) {
    std::uint64_t done = 0;
    for_each_range(
        attempt, part.begin, part.length,
        [&](const ResolvedDescriptor& range, std::uint64_t offset, std::uint64_t length) {
          network_.witness_.on_destination_write(attempt, range.local + offset, length);
          std::memcpy(range.local + offset, bytes.data() + done, length);
          done += length;
        });
    progress(attempt, part.length);
  }
  if (part.last) settle(attempt, cause);
}

void SimDriver::fence_lane(LaneIndex index, Generation generation) {
  Lane& lane = lanes_.at(index);
  lane.generation = std::max(lane.generation, generation);
  lane.fenced_below = std::max(lane.fenced_below, generation + 1);
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

Status SimDriver::adopt(InboundLane incoming) {
  InboundRecord* const record = records_.find_or_make(incoming.id);
  const Blob blob = unpack(incoming.endpoint);
  const bool admitted =
      record != nullptr && blob.driver != nullptr && record->admits(incoming.generation);
  if (admitted) close_inbound(*record);
  if (!admitted || !record->adopt(incoming.generation, incoming.first_seq)) {
    adopted_(incoming.id, incoming.generation, false);
    return Status(Code::kProtocol, "the lane's generation is fenced");
  }
  record->slot = next_slot_++;
  inbound_[record->slot] = {.record = record,
                            .rights_peer = incoming.rights_peer,
                            .direction = incoming.direction,
                            .initiator = blob.driver,
                            .lane = blob.lane};
  adopted_(incoming.id, incoming.generation, true);
  return {};
}

// The initiator notices a little later, unless it was the one to end it.
void SimDriver::close_inbound(InboundRecord& record) {
  const auto it = inbound_.find(record.slot);
  if (it == inbound_.end()) return;
  const Inbound lane = it->second;
  const Generation generation = record.adopted;
  inbound_.erase(it);
  record.slot = kNoInboundSlot;
  network_.queue_.schedule(
      network_.queue_.now() + network_.flight(lane.initiator->lanes_.at(lane.lane).in),
      [lane, generation] {
        lane.initiator->lane_ends(lane.lane, generation, Cause::kConnectionClosed);
      });
}

InboundFenceReport SimDriver::fence_inbound(InboundLaneId id, Generation min_generation) {
  InboundRecord* const record = records_.find_or_make(id);
  if (record == nullptr) return {};
  if (record->adopted < min_generation) close_inbound(*record);
  record->end_below(min_generation);
  return record->report();
}

void SimDriver::drop_inbound(std::uint32_t peer) {
  records_.drop(peer, [this](InboundRecord& record) { close_inbound(record); });
}

// What serves this attempt's lane; nullptr when its generation is not served any more.
SimDriver::Inbound* SimDriver::serving(InboundLaneId id, const Attempt& attempt) {
  const InboundRecord* const record = records_.find(id);
  if (record == nullptr || record->adopted != attempt.generation) return nullptr;
  const auto it = inbound_.find(record->slot);
  return it == inbound_.end() ? nullptr : &it->second;
}

std::byte* SimDriver::check(const Inbound& lane, const ResolvedDescriptor& range,
                            std::uint64_t offset, std::uint64_t length, Cause& why) const {
  const Rights want =
      lane.direction == Operation::kWrite ? Rights::kRemoteWrite : Rights::kRemoteRead;
  return regions_.check(lane.rights_peer, range.remote_key, range.remote + offset, length, want,
                        why);
}

// Whenever a part is moved, the rights of the whole attempt are checked: one that
// has lost a byte ends at once.
void SimDriver::begin_part(Inbound& lane, const Attempt& attempt, const Part& part) const {
  if (part.begin == 0) {
    SPINDRIFT_CHECK(attempt.seq == lane.record->next());
    lane.refusal = part.damaged ? Cause::kChecksum : Cause::kNone;
  }
  for_each_range(attempt, 0, attempt.bytes,
                 [&](const ResolvedDescriptor& range, std::uint64_t offset, std::uint64_t length) {
                   if (lane.refusal == Cause::kNone) {
                     (void)check(lane, range, offset, length, lane.refusal);
                   }
                 });
}

void SimDriver::end_part(Inbound& lane, const Part& part) {
  if (!part.last) return;
  lane.refusal == Cause::kNone ? lane.record->settle() : lane.record->refuse();
}

void SimDriver::answer(Inbound& from, const Attempt& attempt, const Part& part) {
  SimDriver* initiator = from.initiator;
  const SimNetwork::Passage back = initiator->lanes_.at(attempt.lane).in;
  const Instant at = std::max(from.last_progress, network_.queue_.now() + network_.flight(back));
  if (!part.last) from.last_progress = at;
  network_.queue_.schedule(at, [initiator, attempt, part, cause = from.refusal] {
    if (cause == Cause::kNone) initiator->progress(attempt, part.length);
    if (part.last) initiator->settle(attempt, cause);
  });
}

void SimDriver::arrive_write(InboundLaneId id, const Attempt& attempt, const Part& part,
                             const Bytes& bytes) {
  Inbound* const lane = serving(id, attempt);
  if (lane == nullptr) return;
  begin_part(*lane, attempt, part);
  if (lane->refusal == Cause::kNone) {
    std::uint64_t done = 0;
    for_each_range(
        attempt, part.begin, part.length,
        [&](const ResolvedDescriptor& range, std::uint64_t offset, std::uint64_t length) {
          std::byte* to = check(*lane, range, offset, length, lane->refusal);
          network_.witness_.on_destination_write(attempt, to, length);
          std::memcpy(to, bytes.data() + done, length);
          done += length;
        });
  }
  end_part(*lane, part);
  answer(*lane, attempt, part);
}

void SimDriver::arrive_read(InboundLaneId id, const Attempt& attempt, bool damaged) {
  Inbound* const lane = serving(id, attempt);
  if (lane == nullptr) return;
  const SimNetwork::Passage back = lane->initiator->lanes_.at(attempt.lane).in;
  for (Part& part : cut(attempt, back.link->options)) {
    part.damaged = damaged;
    network_.queue_.schedule(network_.departure(back, part.length),
                             [this, id, attempt, part] { depart_data(id, attempt, part); });
  }
}

void SimDriver::depart_data(InboundLaneId id, const Attempt& attempt, const Part& part) {
  Inbound* const lane = serving(id, attempt);
  if (lane == nullptr) return;
  begin_part(*lane, attempt, part);
  Bytes bytes;
  if (lane->refusal == Cause::kNone) {
    for_each_range(
        attempt, part.begin, part.length,
        [&](const ResolvedDescriptor& range, std::uint64_t offset, std::uint64_t length) {
          const std::byte* from = check(*lane, range, offset, length, lane->refusal);
          bytes.insert(bytes.end(), from, from + length);
        });
  }
  end_part(*lane, part);
  SimDriver* initiator = lane->initiator;
  const SimNetwork::Passage back = initiator->lanes_.at(attempt.lane).in;
  lane->last_departure =
      std::max(lane->last_departure, network_.queue_.now() + network_.flight(back));
  network_.queue_.schedule(lane->last_departure, [initiator, attempt, part, cause = lane->refusal,
                                                  bytes = std::move(bytes)] {
    initiator->arrive_data(attempt, part, bytes, cause);
  });
}

}  // namespace spindrift::rails::sim
