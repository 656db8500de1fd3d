#include "config/builtin_policy.h"

#include "base/check.h"
#include "config/load.h"

namespace spindrift::config {
namespace {

constexpr std::string_view kText = R"(schema: spindrift/policy/1
name: built-in
rules:
  # One slice, on the rail that would finish it first. Cutting it up would make
  # it wait for the slowest of several rails and save next to nothing.
  - name: small
    match:
      size_max: 256KiB
    slice:
      min: 256KiB
      max: 256KiB
    spray: least_completion
    attempts_max: 8

  # Cut as rails get room, each slice sized for the speed of its rail: large
  # enough to keep a 64 Gbit/s rail busy for 2 ms, small enough that little is
  # sent again when a rail fails.
  - name: bulk
    slice:
      min: 64KiB
      max: 16MiB
    spray: least_completion
    attempts_max: 8
)";

}  // namespace

std::string_view builtin_policy_text() {
  return kText;
}

const policies::PolicySet& builtin_policy() {
  static const policies::PolicySet kPolicy = [] {
    Loaded<policies::PolicySet> loaded = load_policy_text(kText, "<built-in policy>");
    SPINDRIFT_CHECK(loaded.problems.empty());
    return std::move(loaded.value);
  }();
  return kPolicy;
}

}  // namespace spindrift::config
