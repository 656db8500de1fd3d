// What runs here, for `spindrift version` and for every benchmark's output.
// Plain values; safe from any thread.
#pragma once

#include <string>

namespace spindrift::tools {

struct Versions {
  std::string spindrift;  // of the library that runs
  std::string compiler;   // that built this command
  std::string kernel;     // "Linux 6.1.0 x86_64"
};

Versions read_versions();

}  // namespace spindrift::tools
