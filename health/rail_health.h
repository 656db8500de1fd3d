// What is thought of one direction of a rail, and what follows:
//
//   healthy ──silence──▶ suspect ──more silence, another rail moves──▶ quarantined
//      ▲  ▲                 │                                           │   ▲
//      │  └────progress─────┘         a hard error leads here at once   │   │
//      │                                                       hold over│   │failed
//   ramping ◀──two probes in a row──────────────────────────────────── probing
//
// Pure; owned by one thread. It decides nothing about connections: its owner asks
// for a verdict, acts, and reports what came of it.
//
// Flap memory: each failure adds a level, one level is forgotten per `flap_memory`,
// and the time for which a failed rail is left alone doubles with each level. One
// good probe changes nothing about it, so that a rail that comes and goes is used
// less and less.
#pragma once

#include <cstdint>

#include "base/cause.h"
#include "base/instant.h"
#include "health/health_options.h"

namespace spindrift::health {

enum class HealthState : std::uint8_t {
  kHealthy,      // carries its share
  kSuspect,      // silent: nothing new, copies of what it has go elsewhere
  kQuarantined,  // failed: left alone until the next probe
  kProbing,      // connecting and moving probes
  kRamping,      // two probes landed: a share that grows
};
inline constexpr std::size_t kHealthStates = 5;
const char* to_string(HealthState state);

class RailHealth {
 public:
  HealthState state() const { return state_; }
  Cause cause() const { return cause_; }    // of the latest transition; kNone: none or good news
  Instant since() const { return since_; }  // of the latest transition
  bool carries() const {
    return state_ == HealthState::kHealthy || state_ == HealthState::kRamping;
  }
  std::uint64_t transitions() const { return transitions_; }
  std::uint64_t quarantines() const { return quarantines_; }
  // Why it is not healthy, or was not when it last was so; kNone: it always was.
  Cause failure() const { return failure_; }

  void suspect(Cause cause, Instant now);
  // A suspect moved after all: it is what it was. A ramp begins anew.
  void acquit(Instant now);
  // From any state; `random` is the jitter of its hold.
  void quarantine(Cause cause, Instant now, const HealthOptions& options, std::uint64_t random);

  Instant probe_at() const { return probe_at_; }  // kQuarantined
  // Its owner has no room to probe before this.
  void postpone(Instant until) { probe_at_ = until > probe_at_ ? until : probe_at_; }
  // Something suggests that it is back: the next probe is not to wait for its
  // interval, only for the hold.
  void hint(Instant now);
  // Nothing else is left to use: it is not held for longer than until then.
  void hold_at_most(Instant until);
  void begin_probe(Instant now);
  Duration probe_timeout(const HealthOptions& options) const;
  // True when that readmits it.
  bool probe_landed(Instant now);
  // `busy`: the peer is in use.
  void probe_failed(Cause cause, bool busy, Instant now, const HealthOptions& options,
                    std::uint64_t random);
  // kRamping: how much of its window it may use, in 1/1024; it is healthy again
  // when that is all.
  std::uint32_t share(Instant now, const HealthOptions& options);

  // Its latest failure was the peer's, not its own: as if it had not been.
  void forgive(Instant now, const HealthOptions& options);
  // How often it failed of late.
  std::uint32_t level(Instant now, const HealthOptions& options) const;

 private:
  void turn(HealthState to, Cause cause, Instant now);

  HealthState state_ = HealthState::kHealthy;
  HealthState before_suspicion_ = HealthState::kHealthy;
  Cause cause_ = Cause::kNone;
  Instant since_{};
  std::uint64_t transitions_ = 0;
  std::uint64_t quarantines_ = 0;  // failed probes not counted
  Cause failure_ = Cause::kNone;
  Instant remembered_until_{};  // the levels, as the time until the last is forgotten
  Instant hold_until_{};
  Instant probe_at_ = kNever;
  std::uint32_t failed_probes_ = 0;  // in a row
  std::uint32_t good_probes_ = 0;    // in a row
};

}  // namespace spindrift::health
