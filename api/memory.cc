// Registrations, and taking access away again.
#include <algorithm>

#include "api/core.h"
#include "api/worker_seat.h"
#include "base/units.h"

namespace spindrift {

namespace {

// Counts down as workers confirm.
class Countdown {
 public:
  explicit Countdown(std::size_t count) : count_(count) {}
  void arrive() {
    std::lock_guard lock(mutex_);
    if (--count_ == 0) done_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::size_t count_;
};

}  // namespace

void Engine::Core::change_regions(const std::function<void(rails::RegionTable&)>& change) {
  const std::shared_lock gate(gate_);
  if (workers_ended_) return;  // nobody is left who could touch memory
  const auto countdown = std::make_shared<Countdown>(seats_.size());
  for (std::uint32_t i = 0; i < seats_.size(); ++i) {
    send(i, executor::ChangeRegions{change, [countdown] { countdown->arrive(); }});
  }
  countdown->wait();
}

bool Engine::Core::inspect(std::uint32_t worker, executor::Inspect look) const {
  const std::shared_lock gate(gate_);
  if (shutting_down_.load() || workers_ended_) return false;
  const auto countdown = std::make_shared<Countdown>(1);
  executor::Command command = executor::Inspect{
      [countdown, look = std::move(look.look)](const auto& executor, auto drivers) {
        look(executor, drivers);
        countdown->arrive();
      }};
  if (!seats_[worker]->worker.send(command)) return false;
  countdown->wait();
  return true;
}

Result<Region> Engine::Core::register_memory(const MemoryOptions& options) {
  Result<api::LocalRegionPtr> added = regions_.add(options);
  if (!added.ok()) return added.status();
  const api::LocalRegionPtr& region = *added;
  if (!options.segment.empty()) {
    rails::RegionEntry entry{.key = region->key,
                             .base = region->base,
                             .length = region->length,
                             .rights = options.rights};
    for (const Grant& grant : options.grants) {
      entry.grants.push_back({names_.number(grant.peer), grant.rights});
    }
    control::PublishedRegion published{.segment = options.segment,
                                       .key = region->key,
                                       .address = reinterpret_cast<std::uintptr_t>(region->base),
                                       .length = region->length,
                                       .rights = options.rights,
                                       .grants = options.grants,
                                       .location = options.location};
    std::lock_guard lock(revoked_mutex_);
    for (const auto& revoked : revoked_) {
      if (revoked.segment != options.segment) continue;
      const std::uint32_t number = names_.number(revoked.peer);
      std::erase_if(entry.grants, [&](const auto& grant) { return grant.peer == number; });
      entry.grants.push_back({number, Rights::kLocal});
      std::erase_if(published.grants,
                    [&](const Grant& grant) { return grant.peer == revoked.peer; });
      published.grants.push_back({revoked.peer, Rights::kLocal});
    }
    // Workers know it before peers can.
    change_regions([entry](rails::RegionTable& table) { table.put(entry); });
    control_->publish(std::move(published));
  }
  return Region{region->id, region->base, region->length};
}

Status Engine::Core::unregister_memory(RegionId id) {
  Result<api::LocalRegionPtr> region = regions_.begin_remove(id);
  if (!region.ok()) return region.status();
  if (!(*region)->segment.empty()) {
    control_->withdraw((*region)->key);
    change_regions([key = (*region)->key](rails::RegionTable& table) { table.erase(key); });
  }
  regions_.finish_remove(*region);
  return {};
}

Result<QuiesceGuard> Engine::Core::quiesce(void* address, std::uint64_t length) {
  const auto* begin = static_cast<std::byte*>(address);
  if (!adds_up(reinterpret_cast<std::uintptr_t>(address), length)) {
    return Status(Code::kOutOfRange, "quiesce: address + length overflows");
  }
  std::size_t hint = 0;
  if (length == 0 || api::find_region(*regions_.snapshot(), begin, length, hint) == nullptr) {
    return Status(Code::kNotRegistered, {.what = "quiesce",
                                         .why = "the range is not inside one registered region",
                                         .hint = "name a range of registered memory"});
  }
  const std::uint64_t token = next_quiesce_token_.fetch_add(1);
  change_regions([=](rails::RegionTable& table) { table.quiesce(token, begin, length); });
  return QuiesceGuard(std::make_shared<QuiesceGuard::State>(alive_, token));
}

void Engine::Core::resume(std::uint64_t token) {
  change_regions([token](rails::RegionTable& table) { table.resume(token); });
}

QuiesceGuard::State::~State() {
  std::lock_guard lock(alive_->mutex);
  // A forked child has the engine's memory, but none of its threads.
  if (alive_->core != nullptr && !alive_->core->in_child()) alive_->core->resume(token_);
}

Status Engine::Core::revoke(const std::string& peer, const std::string& segment) {
  std::vector<std::uint32_t> keys;
  {
    std::lock_guard lock(revoked_mutex_);
    const Revoked entry{peer, segment};
    if (std::find(revoked_.begin(), revoked_.end(), entry) == revoked_.end()) {
      revoked_.push_back(entry);
    }
    for (const api::LocalRegionPtr& region : *regions_.snapshot()) {
      if (region->segment == segment) keys.push_back(region->key);
    }
  }
  if (keys.empty()) {
    return Status(Code::kNotFound, {.what = "revoke: this engine has no segment " + segment,
                                    .hint = "the revocation holds for what is registered later"});
  }
  control_->revoke(peer, segment);
  const std::uint32_t number = names_.number(peer);
  change_regions([&keys, number](rails::RegionTable& table) {
    for (const std::uint32_t key : keys) table.revoke(key, number);
  });
  return {};
}

}  // namespace spindrift
