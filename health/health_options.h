// When a rail is suspected, given up, tried again and trusted again. Every bound
// says why it has its value; docs/CONFIG.md lists the YAML names.
#pragma once

#include <chrono>

#include "base/instant.h"

namespace spindrift::health {

struct HealthOptions {
  // tau: how long a lane with bytes outstanding may place nothing before it is
  // suspect: twice the longest healthy gap of late, within these bounds. The lower
  // one is above what a busy scheduler does to a healthy lane, the upper one is
  // what a user would call a hang. A lane that was not yet measured has the upper.
  Duration silence_min = std::chrono::milliseconds(25);
  Duration silence_max = std::chrono::milliseconds(500);
  // Silent for this long a lane is given up even if no other rail to the peer does
  // better: a new connection recovers sooner than one deep in back-off.
  Duration silence_dead = std::chrono::seconds(2);
  // A transfer that has all its bytes, and waits only for originals whose copies
  // have landed, waits this long before their lane is fenced. A fence costs a
  // reconnect, so about the time of one.
  Duration straggler_wait = std::chrono::milliseconds(10);

  // How long a rail that failed is left alone: doubles with each level of flap
  // memory, from the first to the second.
  Duration hold_min = std::chrono::milliseconds(100);
  Duration hold_max = std::chrono::seconds(10);
  // Each failure adds a level; one is forgotten per this time.
  Duration flap_memory = std::chrono::seconds(10);

  // Between probes of a quarantined rail: doubles from the first to the second
  // while the peer is in use, so that a rail's return is noticed within a second;
  // to the third when it is not.
  Duration probe_every_min = std::chrono::milliseconds(100);
  Duration probe_every_max = std::chrono::milliseconds(500);
  Duration probe_every_idle = std::chrono::seconds(5);
  // A probe's connection and its bytes; doubles up to probe_timeout_max while
  // probes fail, so that a far peer is not missed for ever.
  Duration probe_timeout_min = std::chrono::milliseconds(250);
  Duration probe_timeout_max = std::chrono::seconds(2);
  // A worker begins at most one probe per this time: 200 reconnects a second.
  Duration probe_spacing = std::chrono::milliseconds(5);
  // From readmission to the full window. Long enough to see a rail fail again
  // under little load, short enough to carry its full share within a second.
  Duration ramp = std::chrono::milliseconds(300);
};

}  // namespace spindrift::health
