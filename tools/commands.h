// The subcommands of `spindrift`. Each add_*_command() puts its options and its
// help page into the command line's description; when the user chose it, its
// `run` does the work and says the exit status:
//
//   0  what was asked for happened       1  it did not; standard error says why
//   2  the command line is wrong
//
// Called once, from main, before any thread exists.
#pragma once

#include <functional>
#include <string>

#include "spindrift/status.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace spindrift::tools {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

// What the chosen subcommand will do.
using Run = std::function<int()>;

void add_agent_command(CLI::App& app, Run& run);
void add_bench_command(CLI::App& app, Run& run);
void add_check_command(CLI::App& app, Run& run);
void add_demo_command(CLI::App& app, Run& run);
void add_plan_command(CLI::App& app, Run& run);
void add_topo_command(CLI::App& app, Run& run);
void add_version_command(CLI::App& app, Run& run);

// "spindrift: <status>" on standard error; the exit status kFailed.
int fail(const Status& status);
// "spindrift: <text>" on standard error; the exit status kUsage.
int wrong_usage(const std::string& text);

}  // namespace spindrift::tools
