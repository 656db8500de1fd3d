// Plans that were made before. Planning walks all rules and rails; a peer's
// intents mostly repeat. Not thread-safe; one per submitting thread.
//
// Correct before fast: a hit gives what make_plan() would give. The rule is
// matched anew each time (a size just above a rule's bound is another rule), and
// everything else that a plan depends on is in the key. What the caller owes:
// the same peer and epoch mean the same rails, in facts, capabilities and order.
// Usability, measured rates and round trips may differ; plans do not depend on
// them. Errors are not kept: they must name the intent at hand.
//
//   PlanCache cache(std::move(policy), 1024);
//   Result<std::shared_ptr<const Plan>> plan = cache.find_or_make(request, rails, epoch);
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "planner/plan.h"
#include "policies/rule.h"
#include "spindrift/status.h"

namespace spindrift::planner {

class PlanCache {
 public:
  // Keeps at most `plans_max` plans (at least one), and drops the one that was
  // not asked for longest. A few per peer and rule is plenty.
  PlanCache(std::shared_ptr<const policies::PolicySet> policy, std::size_t plans_max);

  // `epoch` counts the changes of the rails to this peer.
  Result<std::shared_ptr<const Plan>> find_or_make(const PlanRequest& request,
                                                   std::span<const RailCandidate> rails,
                                                   std::uint64_t epoch);

  // A reloaded policy: forgets all plans.
  void set_policy(std::shared_ptr<const policies::PolicySet> policy);

  std::size_t size() const { return entries_.size(); }
  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  struct KeyView {
    std::string_view peer;
    std::uint64_t epoch = 0;
    const policies::Rule* rule = nullptr;  // null: none matched
    Operation operation = Operation::kWrite;
    Location source;
    Location destination;
    int source_numa = -1;
    int destination_numa = -1;
    Integrity integrity = Integrity::kPolicy;

    auto tied() const {
      return std::tie(peer, epoch, rule, operation, source.kind, source.device, destination.kind,
                      destination.device, source_numa, destination_numa, integrity);
    }
    friend bool operator<(const KeyView& a, const KeyView& b) { return a.tied() < b.tied(); }
  };
  struct Entry {
    std::string peer;  // what the key's view points to
    std::shared_ptr<const Plan> plan;
    std::map<KeyView, std::list<Entry>::iterator>::iterator place;
  };

  KeyView key_of(const PlanRequest& request, std::uint64_t epoch) const;
  void insert(KeyView key, std::shared_ptr<const Plan> plan);

  std::shared_ptr<const policies::PolicySet> policy_;
  const std::size_t plans_max_;
  std::list<Entry> entries_;  // most recently used first
  std::map<KeyView, std::list<Entry>::iterator> index_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace spindrift::planner
