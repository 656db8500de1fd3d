// What the lanes of one driver share: scratch memory, the table of rights,
// settings and counters. Borrowed from the driver for the length of one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/instant.h"
#include "base/units.h"
#include "rails/region_table.h"
#include "rails/tcp/io_batch.h"
#include "rails/tcp/tcp_options.h"

namespace spindrift::rails::tcp {

// The most that one lane may move per direction and poll(), so that lanes take
// turns; and the most per system call, which is where larger ones gain nothing.
inline constexpr std::uint64_t kLaneBudget = kMiB;
inline constexpr std::uint64_t kCallBytes = kMiB;

// Bytes that lead nowhere are received here; several pieces of a call may share it.
inline constexpr std::size_t kScratchBytes = 64 * 1024;

struct TcpCounters {                   // cumulative; of one driver
  std::uint64_t system_calls = 0;      // sendmsg and recvmsg
  std::uint64_t bytes_placed = 0;      // for peers that write here
  std::uint64_t bytes_served = 0;      // for peers that read here
  std::uint64_t attempts_refused = 0;  // rights, bounds, checksum
  std::uint64_t protocol_errors = 0;   // lanes closed for what came from the wire
  std::uint64_t lanes_adopted = 0;
  std::uint64_t lanes_refused = 0;  // stale, or over the bound
};

struct LaneContext {
  LaneContext(const TcpOptions& tcp, const RegionTable* table)
      : options(tcp), regions(table), scratch(kScratchBytes) {}

  const TcpOptions options;
  const RegionTable* const regions;
  std::uint64_t regions_epoch = 1;  // raised by regions_changed()
  IoBatch batch;
  std::vector<std::byte> scratch;
  TcpCounters counters;
};

// What serving a lane came to. `down` ends it.
struct Served {
  std::uint64_t bytes = 0;
  Cause down = Cause::kNone;
};

}  // namespace spindrift::rails::tcp
