#include "health/rail_health.h"

#include <catch2/catch.hpp>

namespace spindrift::health {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const HealthOptions kOptions;
// Of the jitter: a hold of its full length.
constexpr std::uint64_t kFull = 0;

Instant at(Duration since_start) {
  return Instant(seconds(1000)) + since_start;
}

// A failure and the way back to ramping; how long it was held.
Duration fail_and_return(RailHealth& health, Instant& now) {
  health.quarantine(Cause::kSilent, now, kOptions, kFull);
  const Duration hold = health.probe_at() - now;
  now = health.probe_at();
  health.begin_probe(now);
  CHECK_FALSE(health.probe_landed(now));
  CHECK(health.probe_landed(now));
  return hold;
}

TEST_CASE("A rail that moves again after a silence is healthy again") {
  RailHealth health;
  health.suspect(Cause::kSilent, at(seconds(0)));
  CHECK(health.state() == HealthState::kSuspect);
  CHECK_FALSE(health.carries());
  health.acquit(at(milliseconds(30)));
  CHECK(health.state() == HealthState::kHealthy);
  CHECK(health.failure() == Cause::kSilent);
  CHECK(health.level(at(milliseconds(30)), kOptions) == 0);
}

TEST_CASE("A rail that comes back is used again after two good probes, with a share that grows") {
  RailHealth health;
  Instant now = at(seconds(0));
  fail_and_return(health, now);
  CHECK(health.state() == HealthState::kRamping);
  CHECK(health.carries());
  CHECK(health.share(now, kOptions) == 0);
  CHECK(health.share(now + kOptions.ramp / 2, kOptions) == 512);
  CHECK(health.state() == HealthState::kRamping);
  CHECK(health.share(now + kOptions.ramp, kOptions) == 1024);
  CHECK(health.state() == HealthState::kHealthy);
}

TEST_CASE("A rail that was suspected on its way back does not skip the way") {
  RailHealth health;
  Instant now = at(seconds(0));
  fail_and_return(health, now);
  health.suspect(Cause::kSilent, now + milliseconds(30));
  health.acquit(now + milliseconds(40));
  CHECK(health.state() == HealthState::kRamping);
  CHECK(health.share(now + milliseconds(40), kOptions) == 0);
}

TEST_CASE("A probe that fails in between begins the count again") {
  RailHealth health;
  Instant now = at(seconds(0));
  health.quarantine(Cause::kConnectionReset, now, kOptions, kFull);
  health.begin_probe(health.probe_at());
  CHECK_FALSE(health.probe_landed(health.probe_at()));
  now = health.probe_at() + milliseconds(1);
  health.probe_failed(Cause::kProbeFailed, true, now, kOptions, kFull);
  CHECK(health.state() == HealthState::kQuarantined);
  health.begin_probe(health.probe_at());
  CHECK_FALSE(health.probe_landed(health.probe_at()));
  CHECK(health.probe_landed(health.probe_at()));
}

TEST_CASE("Each failure doubles the hold, up to its bound") {
  RailHealth health;
  Instant now = at(seconds(0));
  Duration last{0};
  for (int i = 0; i < 12; ++i) {
    const Duration hold = fail_and_return(health, now);
    CHECK(hold >= last);
    CHECK(hold <= kOptions.hold_max);
    if (i > 0 && last * 2 <= kOptions.hold_max) CHECK(hold == last * 2);
    last = hold;
    now += milliseconds(200);
  }
  CHECK(last == kOptions.hold_max);
}

TEST_CASE("Flap memory decays by a level at a time and not at the first success") {
  RailHealth health;
  Instant now = at(seconds(0));
  for (int i = 0; i < 4; ++i) fail_and_return(health, now);
  const std::uint32_t level = health.level(now, kOptions);
  CHECK(level >= 3);
  CHECK(health.level(now + kOptions.flap_memory, kOptions) == level - 1);
  CHECK(health.level(now + level * kOptions.flap_memory, kOptions) == 0);
}

TEST_CASE("A hint ends the wait for the next probe, but not the hold") {
  RailHealth health;
  const Instant now = at(seconds(0));
  health.quarantine(Cause::kLinkDown, now, kOptions, kFull);
  const Instant hold_ends = health.probe_at();
  health.hint(now + milliseconds(1));
  CHECK(health.probe_at() == hold_ends);
  for (int i = 0; i < 8; ++i) {
    health.begin_probe(health.probe_at());
    health.probe_failed(Cause::kProbeFailed, false, health.probe_at(), kOptions, kFull);
  }
  const Instant failed = health.since();
  CHECK(health.probe_at() == failed + kOptions.probe_every_idle);
  health.hint(failed + milliseconds(1));
  CHECK(health.probe_at() == failed + milliseconds(1));
}

TEST_CASE("A hold is cut short where nothing else is left") {
  RailHealth health;
  Instant now = at(seconds(0));
  for (int i = 0; i < 6; ++i) fail_and_return(health, now);
  health.quarantine(Cause::kConnectionReset, now, kOptions, kFull);
  CHECK(health.probe_at() > now + seconds(1));
  health.hold_at_most(now + kOptions.hold_min);
  CHECK(health.probe_at() == now + kOptions.hold_min);
  health.hold_at_most(now + seconds(5));  // and not made longer
  CHECK(health.probe_at() == now + kOptions.hold_min);
}

TEST_CASE("A rail to a peer that is in use is probed at least every half second") {
  RailHealth health;
  health.quarantine(Cause::kSilent, at(seconds(0)), kOptions, kFull);
  for (int i = 0; i < 40; ++i) {
    const Instant now = health.probe_at();
    health.begin_probe(now);
    health.probe_failed(Cause::kProbeFailed, true, now, kOptions, kFull);
    CHECK(health.probe_at() - now <= kOptions.probe_every_max);
    CHECK(health.probe_timeout(kOptions) <= kOptions.probe_timeout_max);
  }
}

TEST_CASE("What was the peer's fault is forgiven") {
  RailHealth health;
  const Instant now = at(seconds(0));
  health.quarantine(Cause::kConnectionReset, now, kOptions, kFull);
  CHECK(health.level(now, kOptions) == 1);
  health.forgive(now, kOptions);
  CHECK(health.state() == HealthState::kHealthy);
  CHECK(health.level(now, kOptions) == 0);
}

}  // namespace
}  // namespace spindrift::health
