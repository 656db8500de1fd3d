// The `spindrift` command: one binary for agents, benchmarks, plans and checks.
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>

#include "tools/commands.h"

namespace spindrift::tools {

int fail(const Status& status) {
  std::fflush(stdout);
  std::fprintf(stderr, "spindrift: %s\n", status.to_string().c_str());
  return kFailed;
}

int wrong_usage(const std::string& text) {
  std::fflush(stdout);
  std::fprintf(stderr, "spindrift: %s\n", text.c_str());
  return kUsage;
}

namespace {

constexpr char kAbout[] =
    R"(Spindrift moves bytes between the memories of a cluster. A transfer says what must
move; a policy and a planner decide over which network links, in which pieces.)";

constexpr char kMore[] = R"(Start with:
  spindrift demo                       a transfer over four unequal links
  spindrift bench --loopback           how fast this machine is, without any file
  spindrift topo                       which network interfaces data would use, and why
  spindrift check node.yaml            every problem of a configuration file

`spindrift COMMAND --help` is a page about the command. Configuration files are
described in docs/CONFIG.md.

Exit status: 0 what was asked for happened; 1 it did not, and standard error says
why; 2 the command line is wrong.)";

// The list of commands shows the first line of each description, which is the
// head of that command's own page.
class OneLinePerCommand : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* command) const override {
    const std::string about = command->get_description();
    std::stringstream line;
    CLI::detail::format_help(line, command->get_name(), about.substr(0, about.find('\n')),
                             column_width_);
    return line.str();
  }
};

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return app.exit(error);  // --help
  }
  std::string name = "spindrift";
  for (const CLI::App* chosen : app.get_subcommands()) name += " " + chosen->get_name();
  std::fprintf(stderr, "spindrift: %s\n`%s --help` says what there is.\n", error.what(),
               name.c_str());
  return kUsage;
}

int run_command(int argc, char** argv) {
  CLI::App app(kAbout, "spindrift");
  app.footer(kMore);
  app.require_subcommand(1);
  const auto formatter = std::make_shared<OneLinePerCommand>();
  formatter->column_width(28);
  app.formatter(formatter);
  Run run;
  add_agent_command(app, run);
  add_bench_command(app, run);
  add_plan_command(app, run);
  add_check_command(app, run);
  add_topo_command(app, run);
  add_demo_command(app, run);
  add_version_command(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  }
  const int status = run();
  // A full disk or a closed pipe must not look like success.
  if (std::fflush(stdout) != 0 && status == kDone) {
    return fail(Status(Code::kIoError, "standard output could not be written"));
  }
  return status;
}

}  // namespace
}  // namespace spindrift::tools

int main(int argc, char** argv) {
  // Writing to a pipe that nobody reads is an error of that write, not the end.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return spindrift::tools::run_command(argc, argv);
  } catch (const std::exception& error) {
    return spindrift::tools::fail(
        spindrift::Status(spindrift::Code::kInternal, std::string(error.what())));
  }
}
