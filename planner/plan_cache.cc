#include "planner/plan_cache.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "planner/plan_parts.h"
#include "planner/planner.h"

namespace spindrift::planner {

PlanCache::PlanCache(std::shared_ptr<const policies::PolicySet> policy, std::size_t plans_max)
    : policy_(std::move(policy)), plans_max_(std::max<std::size_t>(plans_max, 1)) {
  SPINDRIFT_CHECK(policy_ != nullptr);
}

void PlanCache::set_policy(std::shared_ptr<const policies::PolicySet> policy) {
  SPINDRIFT_CHECK(policy != nullptr);
  index_.clear();
  entries_.clear();
  policy_ = std::move(policy);
}

PlanCache::KeyView PlanCache::key_of(const PlanRequest& request, std::uint64_t epoch) const {
  return {.peer = request.peer,
          .epoch = epoch,
          .rule = policies::match_rule(*policy_, match_view(request)),
          .operation = request.operation,
          .source = request.source,
          .destination = request.destination,
          .source_numa = request.source_numa,
          .destination_numa = request.destination_numa,
          .integrity = request.integrity};
}

Result<std::shared_ptr<const Plan>> PlanCache::find_or_make(const PlanRequest& request,
                                                            std::span<const RailCandidate> rails,
                                                            std::uint64_t epoch) {
  const KeyView key = key_of(request, epoch);
  if (const auto found = index_.find(key); found != index_.end()) {
    ++hits_;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->plan;
  }
  ++misses_;
  Result<Plan> made = make_plan(*policy_, request, rails);
  if (!made) return made.status();
  auto plan = std::make_shared<const Plan>(std::move(*made));
  insert(key, plan);
  return plan;
}

void PlanCache::insert(KeyView key, std::shared_ptr<const Plan> plan) {
  if (entries_.size() >= plans_max_) {
    index_.erase(entries_.back().place);
    entries_.pop_back();
  }
  entries_.push_front({.peer = std::string(key.peer), .plan = std::move(plan)});
  key.peer = entries_.front().peer;  // the request's own name does not live as long
  entries_.front().place = index_.emplace(key, entries_.begin()).first;
}

}  // namespace spindrift::planner
