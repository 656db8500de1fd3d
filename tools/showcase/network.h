// Two network namespaces joined by veth pairs of set rates, for the demo. Rail i
// is 10.77.i.1/24 at end a and 10.77.i.2/24 at end b, both shaped by tbf.
//
// Owns the namespaces: the destructor deletes them. Their names hold the process
// number, so that what a killed demo left behind is found and removed by the next.
// Errors: kUnsupported, with the reason, when this process may not make them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spindrift/status.h"

namespace spindrift::tools::showcase {

class VethNetwork {
 public:
  static Result<VethNetwork> create(const std::vector<std::uint32_t>& rates_mbit);

  VethNetwork(VethNetwork&& other) noexcept : names_(std::move(other.names_)) {
    other.names_.clear();
  }
  VethNetwork& operator=(VethNetwork&&) = delete;
  VethNetwork(const VethNetwork&) = delete;
  VethNetwork& operator=(const VethNetwork&) = delete;
  ~VethNetwork();

  // The command that runs `command` at an end (0 or 1).
  std::vector<std::string> inside(std::size_t end, std::vector<std::string> command) const;

 private:
  VethNetwork() = default;
  Status make_rail(std::size_t rail, std::uint32_t rate_mbit) const;

  std::vector<std::string> names_;  // of the namespaces
};

// "10.77.2.1" of rail 2 at end 0.
std::string rail_address(std::size_t rail, std::size_t end);

}  // namespace spindrift::tools::showcase
