// An engine from options that are already in memory, for commands that change
// what a file says (another policy, say). Errors: as Engine::from_file().
#pragma once

#include <memory>
#include <string>

#include "config/node_config.h"
#include "spindrift/engine.h"
#include "spindrift/status.h"

namespace spindrift::tools {

Result<std::unique_ptr<Engine>> start_engine(config::NodeConfig config);

// A node file; warnings of it go to standard error.
Result<config::NodeConfig> read_node_file(const std::string& path);

}  // namespace spindrift::tools
