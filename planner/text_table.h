// Columns that line up. Pure.
#pragma once

#include <string>
#include <vector>

namespace spindrift::planner {

// Two spaces before every row and between columns. Columns named in
// `align_right` have their text at the right end; the last column is not padded.
// Rows may be shorter than others.
std::string format_table(const std::vector<std::vector<std::string>>& rows,
                         const std::vector<bool>& align_right = {});

}  // namespace spindrift::planner
