// spindrift check: every problem of configuration files, without doing anything.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "config/load.h"
#include "tools/commands.h"

namespace spindrift::tools {
namespace {

constexpr char kAbout[] =
    R"(Find every problem of configuration files

Reads node, policy, topology and intent files (the `schema:` line says which one a
file is) and the files that they name, and does nothing else with them.)";

constexpr char kFooter[] =
    R"(One line per problem, as compilers write them, so that editors jump there:

  node.yaml:4:9: error: `control.port` cannot be "70000"; allowed: 0 to 65535, ...
  policy.yaml:12:11: warning: rule "kv" can never match: ...

An error makes a file unusable. A warning is about something that is allowed and
probably not meant. A file without errors gets a line that says what it is.

Examples:
  spindrift check node.yaml policy.yaml
  spindrift check docs/examples/*.yaml

Exit status: 0 no file has an error (warnings do not count); 1 at least one has.)";

int check(const std::vector<std::string>& files) {
  bool all_ok = true;
  for (const std::string& file : files) {
    const config::FileCheck found = config::check_file(file);
    for (const config::Problem& problem : found.problems) {
      std::printf("%s\n", problem.to_string().c_str());
    }
    if (found.ok() && found.kind) {
      std::printf("%s: a good %s file\n", file.c_str(), config::to_string(*found.kind));
    }
    all_ok = all_ok && found.ok();
  }
  return all_ok ? kDone : kFailed;
}

}  // namespace

void add_check_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("check", kAbout);
  command->footer(kFooter);
  const auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *files, "Files to check")->required()->type_name("");
  command->callback([&run, files] { run = [files] { return check(*files); }; });
}

}  // namespace spindrift::tools
