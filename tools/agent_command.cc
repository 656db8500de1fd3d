// spindrift agent: memory that peers may use, until it is told to end.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "tools/child_process.h"
#include "tools/commands.h"
#include "tools/memory_block.h"
#include "tools/signals.h"
#include "tools/start_engine.h"

namespace spindrift::tools {
namespace {

constexpr char kAbout[] =
    R"(Publish memory to peers and serve it

Allocates the segments of a node file, touches every page, publishes them, and
lets peers write and read them as their rights allow. It uses no CPU while
nothing moves.)";

constexpr char kFooter[] = R"(Once it serves it prints one line to standard output:

  ready name=NAME control=IP:PORT [metrics=IP:PORT]

`control` is what peers open; with a port of 0 in the file it is the one that was
found. SIGTERM and SIGINT drain: what runs may finish within `shutdown_grace` of
the node file, then the agent exits with 0. A second signal ends it at once.

Examples:
  spindrift agent --config docs/examples/node.yaml
  printf 'schema: spindrift/node/1\nname: b\nsegments: [{name: kv, size: 1GiB}]\n' > b.yaml
  spindrift agent --config b.yaml &
  spindrift bench --peer 127.0.0.1:PORT --segment kv

Exit status: 0 it was told to end and did; 1 it could not start (a wrong file, a
port in use, not enough memory): standard error says what and where.)";

struct AgentOptions {
  std::string config;
  int ready_fd = STDOUT_FILENO;
  int parent = 0;  // end with this process; 0: on its own
};

// Its memory outlives the engine, which is declared after it.
struct Published {
  std::vector<MemoryBlock> blocks;
  std::unique_ptr<Engine> engine;
};

Status publish(const config::SegmentOptions& segment, Published& published) {
  Result<MemoryBlock> block = MemoryBlock::allocate(segment.size, "segment " + segment.name);
  if (!block.ok()) return block.status();
  published.blocks.push_back(std::move(*block));
  const Result<Region> region =
      published.engine->register_memory({.address = published.blocks.back().data(),
                                         .length = segment.size,
                                         .segment = segment.name,
                                         .rights = segment.rights,
                                         .grants = segment.grants});
  return region.status();
}

// One write: a reader of the pipe sees the whole line or nothing.
Status say_ready(const Engine& engine, int fd) {
  std::string line = "ready name=" + engine.name() + " control=" + engine.control_address();
  if (!engine.metrics_address().empty()) line += " metrics=" + engine.metrics_address();
  line += '\n';
  if (::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return Status(Code::kIoError,
                  "the ready line could not be written to descriptor " + std::to_string(fd));
  }
  return {};
}

int serve(const AgentOptions& options) {
  EndSignals signals;
  if (options.parent != 0 && !end_with_parent(options.parent)) return kDone;
  Result<config::NodeConfig> node = read_node_file(options.config);
  if (!node.ok()) return fail(node.status());
  const std::vector<config::SegmentOptions> segments = node->segments;

  Result<std::unique_ptr<Engine>> engine = start_engine(std::move(*node));
  if (!engine.ok()) return fail(engine.status());
  Published published;
  published.engine = std::move(*engine);
  for (const config::SegmentOptions& segment : segments) {
    if (Status status = publish(segment, published); !status.ok()) return fail(status);
  }
  if (Status status = say_ready(*published.engine, options.ready_fd); !status.ok()) {
    return fail(status);
  }

  const int number = signals.wait();
  signals.release();
  log_line(LogLevel::kInfo, std::string("agent: signal ") + std::to_string(number) + ": draining");
  published.engine.reset();
  return kDone;
}

}  // namespace

void add_agent_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("agent", kAbout);
  command->footer(kFooter);
  const auto options = std::make_shared<AgentOptions>();
  command->add_option("--config", options->config, "The node file (docs/CONFIG.md)")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--ready-fd", options->ready_fd,
                   "Descriptor that gets the ready line instead of standard output")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 20));
  command
      ->add_option("--end-with-parent", options->parent,
                   "Drain and end when the process with this number, which started it, ends")
      ->type_name("PID")
      ->check(CLI::PositiveNumber);
  command->callback([&run, options] { run = [options] { return serve(*options); }; });
}

}  // namespace spindrift::tools
