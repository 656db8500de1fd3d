#include "control/look_ups.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/units.h"

namespace spindrift::control {

LookUps::LookUps(Context& context, Send send, WhyLate why_late)
    : send_(std::move(send)), why_late_(std::move(why_late)), timer_(context.reactor) {}

void LookUps::start(const std::string& segment, Instant deadline, Done done) {
  if (pending_.size() >= kPendingMax) {
    return done(Status(Code::kBusy,
                       {.what = "look-up of segment " + segment,
                        .why = std::to_string(pending_.size()) + " look-ups wait for this peer",
                        .hint = "retry when some have been answered"}));
  }
  Pending& added = pending_[++last_id_];
  added.segment = segment;
  added.deadline = deadline;
  added.done = std::move(done);
  request(last_id_, added);
  set_timer();
}

void LookUps::request(std::uint64_t id, Pending& pending) {
  const bool sent = send_({.id = id,
                           .segment = pending.segment,
                           .first = static_cast<std::uint32_t>(pending.regions.size()),
                           .edition = pending.edition});
  pending.waits = !sent;
  pending.asked = pending.asked || sent;
}

void LookUps::send_pending(bool again) {
  for (auto& [id, pending] : pending_) {
    if (again) pending.regions.clear();
    if (again || pending.waits) request(id, pending);
  }
}

void LookUps::on_reply(const LookUpReply& reply, const Established& peer, PeerSlot slot) {
  const auto it = pending_.find(reply.id);
  if (it == pending_.end()) return;  // late, or nobody asked
  Pending& pending = it->second;
  if (!reply.found) {
    return finish(
        it, Status(Code::kNotFound,
                   {.what = "segment " + pending.segment,
                    .why = "peer " + peer.peer.name + " has no such segment (" + reply.why + ")",
                    .hint = "check the name, and what the peer grants to this node",
                    .peer = peer.peer.name}));
  }
  if (Status bad = add_page(pending, reply); !bad.ok()) return finish(it, std::move(bad));
  if (pending.regions.size() < reply.total) return request(reply.id, pending);
  Segment::Data data{.peer = peer.peer.name,
                     .name = pending.segment,
                     .incarnation = peer.peer.incarnation,
                     .peer_slot = slot,
                     .regions = std::move(pending.regions)};
  finish(it, std::move(data));
}

Status LookUps::add_page(Pending& pending, const LookUpReply& reply) const {
  const auto wrong = [&](const char* why) {
    return Status(Code::kProtocol,
                  Status::Detail{.what = "look-up of segment " + pending.segment, .why = why});
  };
  // The directory changed between two pages: the peer begins again.
  if (reply.first == 0) pending.regions.clear();
  pending.edition = reply.edition;
  if (reply.first != pending.regions.size()) return wrong("the pages do not fit together");
  if (reply.regions.empty()) return wrong("an empty page");
  for (const SegmentRegion& region : reply.regions) {
    if (!pending.regions.empty()) {
      const SegmentRegion& last = pending.regions.back();
      if (region.address < last.address + last.length) return wrong("the regions overlap");
    }
    pending.regions.push_back(region);
  }
  return {};
}

void LookUps::fail_all(const Status& why) {
  auto failed = std::exchange(pending_, {});
  timer_.cancel();
  for (auto& [id, pending] : failed) pending.done(why);
}

void LookUps::fail_sent(const Status& why) {
  std::vector<Done> failed;
  std::erase_if(pending_, [&](auto& entry) {
    if (!entry.second.asked) return false;
    failed.push_back(std::move(entry.second.done));
    return true;
  });
  for (const Done& done : failed) done(why);
  set_timer();
}

void LookUps::finish(Iterator it, Result<Segment::Data> result) {
  const Done done = std::move(it->second.done);
  pending_.erase(it);
  set_timer();
  done(std::move(result));
}

void LookUps::set_timer() {
  Instant earliest = kNever;
  for (const auto& [id, pending] : pending_) earliest = std::min(earliest, pending.deadline);
  timer_.set(earliest, [this] {
    const Instant now = read_monotonic_clock();
    std::vector<Done> late;
    std::erase_if(pending_, [&](auto& entry) {
      if (entry.second.deadline > now) return false;
      late.push_back(std::move(entry.second.done));
      return true;
    });
    const Status why = why_late_();
    set_timer();
    for (const Done& done : late) done(why);
  });
}

}  // namespace spindrift::control
