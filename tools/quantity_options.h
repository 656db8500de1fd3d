// Options whose values have units, as configuration files write them: 64MiB,
// 10s. A value that cannot be read is an error of the command line. The targets
// belong to the caller and outlive the App.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace spindrift::tools {

struct OptionText {
  std::string names;  // "--size"
  std::string help;
};

CLI::Option* add_size(CLI::App& app, const OptionText& text, std::uint64_t& target);
CLI::Option* add_duration(CLI::App& app, const OptionText& text, Duration& target);
// "4KiB:64MiB", doubling from the first to the last; or "4KiB,1MiB,3MiB".
CLI::Option* add_sizes(CLI::App& app, const OptionText& text, std::vector<std::uint64_t>& target);

}  // namespace spindrift::tools
