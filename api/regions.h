// The engine's registrations. Readers (every submit) take an immutable list;
// writers make a new one. What peers may touch is carried to the workers' tables
// by the core; this is the local half. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "spindrift/memory.h"
#include "spindrift/status.h"

namespace spindrift::api {

struct LocalRegion {
  RegionId id;
  std::uint32_t key = 0;
  std::byte* base = nullptr;
  std::uint64_t length = 0;
  std::string segment;
  Location location;
  std::atomic<std::uint64_t> users{0};  // running transfers
  std::atomic<bool> closing{false};     // unregister_memory() is at work
};
using LocalRegionPtr = std::shared_ptr<LocalRegion>;
using RegionList = std::vector<LocalRegionPtr>;  // sorted by base, never overlapping

class Regions {
 public:
  // Keys count their tags from `first_tag`: drawn at random, so that a key means
  // nothing to another engine, nor to this one's next process.
  explicit Regions(std::uint32_t first_tag) : next_tag_(first_tag) {}

  // kInvalidArgument, kOutOfRange (the range wraps), kAlreadyExists, kBusy.
  Result<LocalRegionPtr> add(const MemoryOptions& options);
  // Marks the region as closing, so that nothing new uses it. kBusy, and nothing
  // changed, when transfers run on it; kNotRegistered.
  Result<LocalRegionPtr> begin_remove(RegionId id);
  void finish_remove(const LocalRegionPtr& region);

  std::shared_ptr<const RegionList> snapshot() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const RegionList> list_ = std::make_shared<RegionList>();
  std::vector<std::uint32_t> free_indexes_;
  std::uint32_t next_index_ = 1;  // key 0 means none
  std::uint32_t next_tag_;
  std::uint64_t next_id_ = 1;
};

// Finds the region that holds all of [address, address + length); nullptr when
// none does. `hint` is where the last one was found: neighbours are usual.
const LocalRegionPtr* find_region(const RegionList& list, const std::byte* address,
                                  std::uint64_t length, std::size_t& hint);

}  // namespace spindrift::api
