#include "rig.h"

#include <catch2/catch.hpp>
#include <exception>

namespace spindrift::conformance {
namespace {

constexpr Duration kPatience = std::chrono::seconds(20);
constexpr Duration kNap = std::chrono::milliseconds(500);

}  // namespace

Rig::Rig(Operation direction, std::size_t memory_bytes, std::size_t events_per_poll)
    : local(memory_bytes, 1),
      remote(memory_bytes, 2),
      direction_(direction),
      ground_(make_ground()),
      events_(events_per_poll) {
  publish();
  rails::LaneSpec spec;
  spec.lane = lane_;
  spec.direction = direction;
  spec.facts = {initiator().transport(), "left", "right", Rate{}, -1, -1, ""};
  REQUIRE(initiator().add_lane(spec).ok());
}

Rig::~Rig() {
  CHECK(verified_);
}

void Rig::publish(Rights rights) {
  ground_->regions().put({kKey, remote.at(0), remote.size(), rights, {}});
}

Status Rig::adopt(Generation generation, rails::LaneEndpoint responder_end) {
  rails::InboundLane inbound;
  inbound.id = id();
  inbound.rights_peer = kRightsPeer;
  inbound.generation = generation;
  inbound.direction = direction_;
  inbound.first_seq = next_seq_;
  inbound.endpoint = std::move(responder_end);
  return responder().adopt(std::move(inbound));
}

void Rig::connect_unawaited(Generation generation) {
  Ground::Ends ends = ground_->link(lane_, id());
  const Status adopted = adopt(generation, std::move(ends.responder));
  INFO(adopted.to_string());
  REQUIRE(adopted.ok());
  REQUIRE(ground_->answer(ends.initiator) == LaneAnswer::kAdopted);
  generation_ = generation;
  checker.on_connect(generation);
  initiator().connect_lane(lane_, generation, next_seq_, std::move(ends.initiator));
}

void Rig::connect(Generation generation) {
  connect_unawaited(generation);
  run_until([this] { return checker.up() || checker.down(); }, "the lane is up");
  REQUIRE(checker.up());
}

Attempt Rig::make_attempt(const std::vector<Range>& ranges, PostOptions options) {
  std::vector<ResolvedDescriptor>& resolved = descriptors_.emplace_back();
  Attempt attempt;
  for (const Range& range : ranges) {
    resolved.push_back(
        {local.at(range.local), remote.address(range.remote), range.length, 0, options.key});
    attempt.bytes += range.length;
  }
  attempt.lane = lane_;
  attempt.generation = generation_;
  attempt.seq = next_seq_;
  attempt.descriptors = resolved.data();
  attempt.offset = options.offset;
  attempt.bytes -= options.offset;
  attempt.ranges = static_cast<std::uint32_t>(resolved.size());
  attempt.checksum = options.checksum;
  return attempt;
}

void Rig::expect(const std::vector<Range>& ranges) {
  for (const Range& range : ranges) {
    if (direction_ == Operation::kWrite) {
      remote.expect(range.remote, local.at(range.local), range.length);
    } else {
      local.expect(range.local, remote.at(range.remote), range.length);
    }
  }
}

std::size_t Rig::post_raw(const std::vector<Attempt>& attempts) {
  const std::size_t taken = initiator().post(lane_, attempts);
  REQUIRE(taken <= attempts.size());
  for (std::size_t i = 0; i < taken; ++i) checker.on_post(attempts[i]);
  next_seq_ += taken;
  return taken;
}

bool Rig::post(const std::vector<Range>& ranges, PostOptions options) {
  std::vector<Range> wanted = ranges;
  wanted.front().local += options.offset;
  wanted.front().remote += options.offset;
  wanted.front().length -= options.offset;
  if (post_raw({make_attempt(ranges, options)}) == 0) return false;
  expect(wanted);
  return true;
}

std::size_t Rig::poll_initiator() {
  events_.clear();
  const std::size_t work = initiator().poll(ground_->now(), events_);
  for (const RailEvent& event : events_) checker.on_event(event);
  return work;
}

std::size_t Rig::poll_responder() {
  events_.clear();
  const std::size_t work = responder().poll(ground_->now(), events_);
  CHECK(events_.empty());  // a responder has nothing to tell
  return work;
}

std::size_t Rig::step() {
  return poll_initiator() + poll_responder();
}

void Rig::run_until(const std::function<bool()>& done, const char* what) {
  const Instant end = after(ground_->now(), kPatience);
  bool slept_in_vain = false;
  while (!done()) {
    const std::size_t work = step();
    // Work that no descriptor announced would leave a sleeping worker asleep.
    CHECK_FALSE((slept_in_vain && work > 0));
    slept_in_vain = false;
    if (done()) break;
    if (ground_->now() >= end) FAIL("waited too long until " << what);
    if (work == 0) slept_in_vain = !ground_->wait(kNap);
  }
}

void Rig::run_dry() {
  constexpr Duration kShort = std::chrono::milliseconds(1);
  for (int quiet = 0; quiet < 2;) {
    quiet = step() == 0 && !ground_->wait(kShort) ? quiet + 1 : 0;
  }
}

void Rig::settle(AttemptSeq end) {
  run_until([&] { return checker.settled() >= end || checker.down(); }, "all attempts settled");
  REQUIRE_FALSE(checker.down());
}

void Rig::fence_local(Generation generation) {
  initiator().fence_lane(lane_, generation);
  checker.on_fence(generation);
  run_until([this] { return checker.fence_told(); }, "the lane is fenced");
}

rails::InboundFenceReport Rig::fence_remote(Generation minimum) {
  return responder().fence_inbound(id(), minimum);
}

void Rig::verify() {
  verified_ = true;
  run_dry();
  for (const std::string& violation : checker.violations()) FAIL_CHECK(violation);
  CHECK(local.intact());
  CHECK(remote.intact());
}

}  // namespace spindrift::conformance
