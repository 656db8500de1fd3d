// Any bytes as a configuration file of each kind: no crash, no exception, no
// endless loop, and every problem has text and a place inside the file.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "config/load.h"
#include "config/units.h"

namespace {

using spindrift::config::Problem;

void check_problems(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) {
    SPINDRIFT_CHECK(!problem.text.empty());
    SPINDRIFT_CHECK(!problem.place.file.empty());
    SPINDRIFT_CHECK(problem.place.line >= 0 && problem.place.column >= 0);
    SPINDRIFT_CHECK(problem.to_string().find('\n') == std::string::npos);
  }
}

// What is accepted is written back as something that means the same.
void check_units(std::string_view text) {
  using namespace spindrift::config;
  if (const auto size = parse_size(text)) SPINDRIFT_CHECK(*parse_size(write_size(*size)) == *size);
  if (const auto rate = parse_rate(text)) SPINDRIFT_CHECK(*parse_rate(write_rate(*rate)) == *rate);
  if (const auto duration = parse_duration(text)) {
    SPINDRIFT_CHECK(*parse_duration(write_duration(*duration)) == *duration);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace config = spindrift::config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_units(text.substr(0, 64));
  check_problems(config::check_text(text, "fuzz").problems);
  check_problems(config::load_node_text(text, "fuzz").problems);
  check_problems(config::load_policy_text(text, "fuzz").problems);
  check_problems(config::load_topology_text(text, "fuzz").problems);
  check_problems(config::load_intent_text(text, "fuzz").problems);
  return 0;
}
