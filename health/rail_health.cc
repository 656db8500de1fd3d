#include "health/rail_health.h"

#include <algorithm>

#include "base/backoff.h"

namespace spindrift::health {

namespace {

constexpr std::uint32_t kProbesToReadmit = 2;
constexpr std::uint32_t kLevelsMax = 16;  // beyond it hold_max holds in any case
constexpr std::uint32_t kWhole = 1024;

}  // namespace

const char* to_string(HealthState state) {
  switch (state) {
    case HealthState::kHealthy:
      return "healthy";
    case HealthState::kSuspect:
      return "suspect";
    case HealthState::kQuarantined:
      return "quarantined";
    case HealthState::kProbing:
      return "probing";
    case HealthState::kRamping:
      return "ramping";
  }
  return "?";
}

void RailHealth::turn(HealthState to, Cause cause, Instant now) {
  state_ = to;
  cause_ = cause;
  since_ = now;
  ++transitions_;
  if (cause != Cause::kNone) failure_ = cause;
}

void RailHealth::suspect(Cause cause, Instant now) {
  if (!carries()) return;
  before_suspicion_ = state_;
  turn(HealthState::kSuspect, cause, now);
}

void RailHealth::acquit(Instant now) {
  if (state_ == HealthState::kSuspect) turn(before_suspicion_, Cause::kNone, now);
}

std::uint32_t RailHealth::level(Instant now, const HealthOptions& options) const {
  if (remembered_until_ <= now) return 0;
  const Duration one = std::max(options.flap_memory, Duration(1));
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>((remembered_until_ - now + one - Duration(1)) / one, kLevelsMax));
}

void RailHealth::quarantine(Cause cause, Instant now, const HealthOptions& options,
                            std::uint64_t random) {
  remembered_until_ = std::max(remembered_until_, now);
  if (level(now, options) < kLevelsMax) remembered_until_ += options.flap_memory;
  hold_until_ =
      after(now, backoff(options.hold_min, options.hold_max, level(now, options), random));
  probe_at_ = hold_until_;
  failed_probes_ = 0;
  good_probes_ = 0;
  ++quarantines_;
  turn(HealthState::kQuarantined, cause, now);
}

void RailHealth::hint(Instant now) {
  if (state_ != HealthState::kQuarantined) return;
  probe_at_ = std::max(now, hold_until_);
  failed_probes_ = 0;
}

void RailHealth::hold_at_most(Instant until) {
  if (state_ != HealthState::kQuarantined) return;
  if (probe_at_ == hold_until_) probe_at_ = std::min(probe_at_, until);
  hold_until_ = std::min(hold_until_, until);
}

void RailHealth::begin_probe(Instant now) {
  good_probes_ = 0;
  turn(HealthState::kProbing, Cause::kNone, now);
}

Duration RailHealth::probe_timeout(const HealthOptions& options) const {
  Duration timeout = options.probe_timeout_min;
  for (std::uint32_t i = 0; i < failed_probes_ && timeout < options.probe_timeout_max; ++i) {
    timeout *= 2;
  }
  return std::min(timeout, options.probe_timeout_max);
}

bool RailHealth::probe_landed(Instant now) {
  if (++good_probes_ < kProbesToReadmit) return false;
  failed_probes_ = 0;
  turn(HealthState::kRamping, Cause::kNone, now);
  return true;
}

void RailHealth::probe_failed(Cause cause, bool busy, Instant now, const HealthOptions& options,
                              std::uint64_t random) {
  ++failed_probes_;
  const Duration longest = busy ? options.probe_every_max : options.probe_every_idle;
  probe_at_ = after(now, backoff(options.probe_every_min, longest, failed_probes_, random));
  turn(HealthState::kQuarantined, cause, now);
}

std::uint32_t RailHealth::share(Instant now, const HealthOptions& options) {
  if (state_ != HealthState::kRamping) return kWhole;
  if (now - since_ >= options.ramp) {
    turn(HealthState::kHealthy, Cause::kNone, now);
    return kWhole;
  }
  return static_cast<std::uint32_t>(kWhole * (now - since_).count() / options.ramp.count());
}

void RailHealth::forgive(Instant now, const HealthOptions& options) {
  if (carries()) return;
  if (state_ != HealthState::kSuspect && remembered_until_ > now) {
    remembered_until_ -= options.flap_memory;
  }
  turn(HealthState::kHealthy, Cause::kNone, now);
}

}  // namespace spindrift::health
