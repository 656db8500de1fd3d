// spindrift version: what this binary is, for reports.
#include <sys/utsname.h>

#include <cstdio>

#include <CLI/CLI.hpp>

#include "spindrift/version.h"
#include "tools/commands.h"
#include "tools/versions.h"

namespace spindrift::tools {
namespace {

constexpr char kFooter[] =
    R"(Prints one `key value` line each for the command, the compiler that built it and
the kernel that runs it. Put them into every report of a problem.

Exit status: 0.)";

}  // namespace

Versions read_versions() {
  Versions versions;
  versions.spindrift = SPINDRIFT_VERSION;  // linked in, so the header says what runs
#if defined(__clang__)
  versions.compiler = "clang " __clang_version__;
#else
  versions.compiler = "gcc " __VERSION__;
#endif
  struct utsname kernel {};
  if (::uname(&kernel) == 0) {
    versions.kernel = std::string(kernel.sysname) + " " + kernel.release + " " + kernel.machine;
  }
  return versions;
}

void add_version_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("version", "Say which version this is");
  command->footer(kFooter);
  command->callback([&run] {
    run = [] {
      const Versions versions = read_versions();
      std::printf("spindrift %s\ncompiler %s\nkernel %s\n", versions.spindrift.c_str(),
                  versions.compiler.c_str(), versions.kernel.c_str());
      return kDone;
    };
  });
}

}  // namespace spindrift::tools
