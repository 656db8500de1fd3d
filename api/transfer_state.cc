#include "api/transfer_state.h"

#include <algorithm>

#include "base/cause.h"

namespace spindrift {

void Transfer::State::finish() {
  for (const api::LocalRegionPtr& region : regions) region->users.fetch_sub(1);
  {
    std::lock_guard lock(mutex_);
    finished_.store(true, std::memory_order_release);
  }
  done_.notify_all();
}

bool Transfer::State::wait_until(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return done_.wait_until(lock, deadline, [this] { return finished(); });
}

void Transfer::State::wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return finished(); });
}

const TransferReport& Transfer::State::report() {
  static const TransferReport kRunning;
  if (!finished()) return kRunning;
  std::call_once(written_, [this] { write_report(); });
  return report_;
}

void Transfer::State::write_report() {
  report_.id = job.id;
  report_.state = job.outcome == Cause::kNone ? TransferState::kCompleted : TransferState::kFailed;
  report_.status = outcome();
  report_.peer = peer;
  report_.bytes = job.bytes;
  report_.landed_bytes = job.landed;
  report_.slices = job.slices;
  report_.retries = job.retries;
  // A worker's cycle may have begun before the submission that it serves.
  const Instant finished = std::max(job.finished_at, job.submitted);
  const Instant first = std::clamp(job.first_post, job.submitted, finished);
  report_.queue_time = first - job.submitted;
  report_.transport_time = finished - first;
  report_.policy_rule = job.plan->rule;
  for (std::size_t i = 0; i < job.tallies.size() && i < rail_names->size(); ++i) {
    if ((job.plan_rails >> i & 1) == 0) continue;
    const executor::RailTally& tally = job.tallies[i];
    report_.rails.push_back({(*rail_names)[i], tally.bytes, tally.attempts, tally.failures});
  }
  for (const executor::Unlanded& part : job.unlanded) {
    executor::Cursor at = part.begin;
    for (std::uint64_t left = part.bytes; left > 0;) {
      const std::uint64_t length =
          std::min(left, job.descriptors[at.descriptor].length - at.offset);
      const std::uint64_t index = original.empty() ? at.descriptor : original[at.descriptor];
      report_.unconfirmed.push_back({index, at.offset, length, part.posted});
      left -= length;
      at = {at.descriptor + 1, 0};
    }
  }
  const auto key = [](const UnconfirmedRange& range) {
    return std::pair(range.descriptor, range.offset);
  };
  std::vector<UnconfirmedRange>& ranges = report_.unconfirmed;
  std::sort(ranges.begin(), ranges.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    UnconfirmedRange& last = ranges[kept];
    const UnconfirmedRange& next = ranges[i];
    if (last.descriptor == next.descriptor && last.offset + last.length == next.offset &&
        last.may_have_landed == next.may_have_landed) {
      last.length += next.length;
    } else {
      ranges[++kept] = next;
    }
  }
  if (!ranges.empty()) ranges.resize(kept + 1);
}

Status Transfer::State::outcome() const {
  if (job.outcome == Cause::kNone) return {};
  Status::Detail detail;
  detail.what = what;
  detail.peer = peer;
  detail.why = to_string(job.outcome);
  const std::string seen = causes();
  if (!seen.empty()) detail.why += " (" + seen + ")";
  switch (job.outcome) {
    case Cause::kDeadline:
      detail.hint = "raise the intent's budget, or see `unconfirmed` and submit the rest again";
      break;
    case Cause::kNoRegion:
    case Cause::kPeerRestarted:
      detail.hint = "open the segment again";
      break;
    case Cause::kNoRight:
      detail.hint = "the peer must grant this right on the segment";
      break;
    default:
      break;
  }
  // A spent retry budget is what the attempts died of: a checksum stays one.
  Code code = to_code(job.outcome);
  if (job.outcome == Cause::kRetriesSpent && job.first_cause == Cause::kChecksum) {
    code = Code::kIntegrity;
  }
  if (job.first_cause != Cause::kNone && job.first_cause_rail < rail_names->size()) {
    detail.rail = (*rail_names)[job.first_cause_rail];
  }
  return Status(code, std::move(detail));
}

// "tcp:eth0>eth0: connection reset, 3 attempts; tcp:eth1>eth1: link down"
std::string Transfer::State::causes() const {
  std::string text;
  for (std::size_t i = 0; i < job.tallies.size() && i < rail_names->size(); ++i) {
    const executor::RailTally& tally = job.tallies[i];
    if (tally.first_cause == Cause::kNone || tally.first_cause == job.outcome) continue;
    if (!text.empty()) text += "; ";
    text += (*rail_names)[i] + ": " + to_string(tally.first_cause);
    if (tally.failures > 1) text += ", " + std::to_string(tally.failures) + " attempts";
  }
  const std::string reasons = to != nullptr ? to->rail_reasons() : "";
  if (!reasons.empty()) text += (text.empty() ? "" : "; ") + reasons;
  return text;
}

TransferId Transfer::id() const {
  return state_->job.id;
}

bool Transfer::finished() const {
  return state_->finished();
}

bool Transfer::wait(std::chrono::nanoseconds timeout) const {
  const auto now = std::chrono::steady_clock::now();
  if (timeout > std::chrono::steady_clock::time_point::max() - now) {
    state_->wait();
    return true;
  }
  return state_->wait_until(now + timeout);
}

const TransferReport& Transfer::wait() const {
  state_->wait();
  return state_->report();
}

const TransferReport& Transfer::report() const {
  return state_->report();
}

}  // namespace spindrift
