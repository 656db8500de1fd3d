// An Explanation for people (a page) and for programs (JSON). Pure.
#pragma once

#include <string>
#include <vector>

#include "planner/planner.h"

namespace spindrift::planner {

// What an Explanation does not know of itself. Everything may stay empty.
struct RenderNotes {
  std::string policy;               // "policy.yaml"
  std::string topology;             // "eth-4x100g.yaml"
  std::string local;                // the node that submits the intent
  std::vector<std::string> unused;  // Candidates::unused
};

// Ends with a newline.
std::string to_text(const Explanation& explanation, const PlanRequest& request,
                    const RenderNotes& notes = {});

// One object, indented, without a newline at the end. docs/PLANNING.md lists the
// keys. Rates are bytes per second, times nanoseconds; what is unknown is null.
std::string to_json(const Explanation& explanation, const PlanRequest& request,
                    const RenderNotes& notes = {});

}  // namespace spindrift::planner
