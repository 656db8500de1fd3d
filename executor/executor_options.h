// Settings of the executor core and of the workers that run it. Every bound
// says why it has its value; docs/CONFIG.md lists the YAML names.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/instant.h"
#include "base/units.h"
#include "health/health_options.h"

namespace spindrift::executor {

struct ExecutorOptions {
  // T_s: a slice should keep its rail busy for about this long.
  Duration service_time = std::chrono::milliseconds(2);
  // Until a rail was measured. Too high costs an oversized first window, too
  // low a few round trips of growth.
  Rate initial_rate{125'000'000};
  // Upper bound of a lane's bytes in flight: 20 ms at 400 Gbit/s would be 1 GB;
  // this is enough for 100 Gbit/s and bounds what a reroute has to repeat.
  std::uint64_t window_max = 128 * kMiB;
  // A healthy lane not measured for this long gets a small slice.
  Duration explore_after = std::chrono::milliseconds(100);
  health::HealthOptions health;
  // After an intent has failed, its attempts may land by themselves for this
  // long before their lanes are fenced, which costs the others a reconnect.
  Duration settle_grace = std::chrono::milliseconds(50);
  // Default time budget of an intent: budget_base + bytes / budget_rate.
  Duration budget_base = std::chrono::seconds(30);
  Rate budget_rate{10'000'000};

  std::uint32_t lanes_max = 4096;         // per worker; 1,000 peers of 2 rails, both directions
  std::uint32_t transfers_max = 4096;     // running per worker; over it submit() says kBusy
  std::uint32_t slices_max = 65536;       // outstanding per worker, 64 bytes each
  std::uint32_t attempts_per_lane = 256;  // outstanding per lane; 256 * 64 KiB = 16 MiB
  std::uint32_t posts_per_cycle = 256;    // per duty cycle, so that polling gets its turn
};

struct WorkerOptions {
  std::uint32_t count = 1;              // threads that move data
  std::vector<std::uint32_t> affinity;  // CPUs, one per worker, or empty
  std::uint32_t inbox_capacity = 8192;  // commands waiting per worker
  std::uint32_t events_per_cycle = 1024;
  // How long an idle worker spins before it sleeps in the kernel. 0 is best on
  // small machines: a spinning worker steals the peer's or the kernel's CPU.
  Duration spin = Duration(0);
};

}  // namespace spindrift::executor
