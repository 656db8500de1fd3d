// Names as people order them: eth2 before eth10. Pure.
#pragma once

#include <string_view>

namespace spindrift::planner {

// A strict total order: names that differ only in leading zeros ("eth2",
// "eth02") are told apart, too.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace spindrift::planner
