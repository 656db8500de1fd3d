#include <algorithm>

#include "base/check.h"
#include "rails/sim/sim_driver.h"

namespace spindrift::rails::sim {

void SimNetwork::add_link(const std::string& device_a, const std::string& device_b,
                          LinkOptions options) {
  links_[{device_a, device_b}] = std::make_unique<Link>(Link{.options = options});
}

SimNetwork::Passage SimNetwork::find(const std::string& from, const std::string& to) {
  const auto forth = links_.find({from, to});
  if (forth != links_.end()) return {forth->second.get(), 0};
  const auto back = links_.find({to, from});
  return {back == links_.end() ? nullptr : back->second.get(), 1};
}

LinkOptions& SimNetwork::link(const std::string& device_a, const std::string& device_b) {
  const Passage passage = find(device_a, device_b);
  SPINDRIFT_CHECK(passage.link != nullptr);
  return passage.link->options;
}

Instant SimNetwork::departure(const Passage& passage, std::uint64_t bytes) {
  Instant& busy = passage.link->busy_until[passage.direction];
  busy = std::max(busy, queue_.now()) + passage.link->options.rate.time_for(bytes);
  return busy;
}

Duration SimNetwork::flight(const Passage& passage) {
  const LinkOptions& options = passage.link->options;
  return options.latency + Duration(static_cast<std::int64_t>(prng_.below(
                               static_cast<std::uint64_t>(options.jitter.count()) + 1)));
}

}  // namespace spindrift::rails::sim
