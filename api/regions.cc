#include "api/regions.h"

#include <algorithm>

#include "base/units.h"
#include "rails/region_table.h"

namespace spindrift::api {

namespace {

std::uint64_t as_number(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p);
}

std::string describe(const void* address, std::uint64_t length) {
  char text[64];
  std::snprintf(text, sizeof text, "%p + %llu bytes", address,
                static_cast<unsigned long long>(length));
  return text;
}

Status check(const MemoryOptions& options) {
  if (options.address == nullptr || options.length == 0) {
    return Status(Code::kInvalidArgument,
                  {.what = "registering memory at " + describe(options.address, options.length),
                   .why = "address and length must not be zero"});
  }
  if (!adds_up(as_number(options.address), options.length)) {
    return Status(Code::kOutOfRange,
                  {.what = "registering memory at " + describe(options.address, options.length),
                   .why = "address + length wraps around the address space"});
  }
  if (options.location.kind != MemoryKind::kHost) {
    return Status(Code::kUnsupported, {.what = "registering memory that is not host memory",
                                       .why = "no rail of this build can reach it",
                                       .hint = "copy through a host buffer"});
  }
  if (options.segment.empty() && options.rights != Rights::kLocal) {
    return Status(Code::kInvalidArgument,
                  {.what = "registering memory with remote rights but without a segment",
                   .hint = "name the segment under which peers find it"});
  }
  if (options.segment.size() > 255) {
    return Status(Code::kInvalidArgument, "a segment's name has at most 255 bytes");
  }
  return {};
}

}  // namespace

Result<LocalRegionPtr> Regions::add(const MemoryOptions& options) {
  if (Status status = check(options); !status.ok()) return status;
  auto region = std::make_shared<LocalRegion>();
  region->base = static_cast<std::byte*>(options.address);
  region->length = options.length;
  region->segment = options.segment;
  region->location = options.location;

  std::lock_guard lock(mutex_);
  const auto after = std::find_if(list_->begin(), list_->end(), [&](const LocalRegionPtr& other) {
    return as_number(other->base) + other->length > as_number(region->base);
  });
  if (after != list_->end() &&
      as_number((*after)->base) < as_number(region->base) + region->length) {
    return Status(Code::kAlreadyExists,
                  {.what = "registering memory at " + describe(options.address, options.length),
                   .why = "it overlaps the region at " + describe((*after)->base, (*after)->length),
                   .hint = "unregister that one first, or register the parts between"});
  }
  if (free_indexes_.empty() && next_index_ >= rails::kRegionsMax - 1) {
    return Status(Code::kBusy, {.what = "registering memory",
                                .why = std::to_string(list_->size()) + " regions are registered",
                                .hint = "register fewer, larger regions"});
  }
  std::uint32_t index = next_index_;
  if (free_indexes_.empty()) {
    ++next_index_;
  } else {
    index = free_indexes_.back();
    free_indexes_.pop_back();
  }
  region->key = rails::make_region_key(index, next_tag_++);
  region->id = RegionId{next_id_++};
  auto list = std::make_shared<RegionList>(*list_);
  list->insert(list->begin() + (after - list_->begin()), region);
  list_ = std::move(list);
  return region;
}

Result<LocalRegionPtr> Regions::begin_remove(RegionId id) {
  std::lock_guard lock(mutex_);
  const auto found = std::find_if(list_->begin(), list_->end(),
                                  [id](const LocalRegionPtr& region) { return region->id == id; });
  if (found == list_->end() || (*found)->closing.load()) {
    return Status(Code::kNotRegistered,
                  {.what = "unregistering region " + std::to_string(id.value),
                   .why = "there is no such region, or it is being unregistered already"});
  }
  // The order matters: submit counts itself as a user, then looks at `closing`.
  (*found)->closing.store(true);
  const std::uint64_t users = (*found)->users.load();
  if (users > 0) {
    (*found)->closing.store(false);
    return Status(Code::kBusy,
                  {.what = "unregistering memory at " + describe((*found)->base, (*found)->length),
                   .why = std::to_string(users) + " running transfers of this engine use it",
                   .hint = "wait for them to finish"});
  }
  return *found;
}

void Regions::finish_remove(const LocalRegionPtr& region) {
  std::lock_guard lock(mutex_);
  auto list = std::make_shared<RegionList>(*list_);
  std::erase(*list, region);
  list_ = std::move(list);
  free_indexes_.push_back(rails::region_key_index(region->key));
}

std::shared_ptr<const RegionList> Regions::snapshot() const {
  std::lock_guard lock(mutex_);
  return list_;
}

const LocalRegionPtr* find_region(const RegionList& list, const std::byte* address,
                                  std::uint64_t length, std::size_t& hint) {
  const auto holds = [&](const LocalRegion& region) {
    return as_number(address) >= as_number(region.base) &&
           fits(as_number(address) - as_number(region.base), length, region.length);
  };
  if (hint < list.size() && holds(*list[hint])) return &list[hint];
  const auto above = std::upper_bound(list.begin(), list.end(), address,
                                      [](const std::byte* p, const LocalRegionPtr& region) {
                                        return as_number(p) < as_number(region->base);
                                      });
  if (above == list.begin()) return nullptr;
  const auto found = above - 1;
  if (!holds(**found)) return nullptr;
  hint = static_cast<std::size_t>(found - list.begin());
  return &*found;
}

}  // namespace spindrift::api
