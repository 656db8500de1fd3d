#include "tools/start_engine.h"

#include <cstdio>
#include <utility>

#include "api/core.h"
#include "config/load.h"

namespace spindrift::tools {

Result<std::unique_ptr<Engine>> start_engine(config::NodeConfig config) {
  Result<std::unique_ptr<Engine::Core>> core = Engine::Core::start(std::move(config));
  if (!core.ok()) return core.status();
  return std::make_unique<Engine>(std::move(*core));
}

Result<config::NodeConfig> read_node_file(const std::string& path) {
  config::Loaded<config::NodeConfig> loaded = config::load_node_file(path);
  if (!loaded.ok()) return loaded.status();
  for (const config::Problem& problem : loaded.problems) {
    std::fprintf(stderr, "%s\n", problem.to_string().c_str());
  }
  return std::move(loaded.value);
}

}  // namespace spindrift::tools
