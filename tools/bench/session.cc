#include "tools/bench/session.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "config/load.h"
#include "config/units.h"
#include "tools/start_engine.h"

namespace spindrift::tools::bench {
namespace {

// Allocating and touching memory may take a second per GiB on a slow machine.
constexpr Duration kAgentStarts = std::chrono::seconds(120);

std::string loopback_addresses(std::uint32_t rails) {
  std::string list;
  for (std::uint32_t i = 1; i <= std::max(rails, 1U); ++i) {
    list += (i == 1 ? "127.0.0." : ", 127.0.0.") + std::to_string(i);
  }
  return "[" + list + "]";
}

// What both ends of --loopback have in common.
std::string loopback_node(const std::string& name, const BenchOptions& options) {
  return "schema: spindrift/node/1\nname: " + name + "-" + std::to_string(::getpid()) +
         "\ntcp:\n  loopback_addresses: " + loopback_addresses(options.rails) +
         "\nworkers:\n  count: " + std::to_string(std::max(options.workers, 1U)) + "\n";
}

// An engine that listens on loopback only stays there; other peers need more.
std::string remote_node(const BenchOptions& options) {
  const bool stays_here = options.peer.rfind("127.", 0) == 0 || options.peer.rfind("[::1]", 0) == 0;
  std::string control;
  if (!stays_here) control += "  bind: 0.0.0.0\n";
  if (options.insecure) control += "  insecure: true\n";
  // Quoted as YAML does: a quote is written twice.
  std::string quoted;
  for (const char c : options.key_file) quoted += c == '\'' ? "''" : std::string(1, c);
  if (!quoted.empty()) control += "  key_file: '" + quoted + "'\n";
  return "schema: spindrift/node/1\nname: bench-" + std::to_string(::getpid()) + "\n" +
         (control.empty() ? "" : "control:\n" + control);
}

Result<policies::PolicySet> policy_of(const BenchOptions& options) {
  if (!options.spray.empty()) {
    auto made =
        config::load_policy_text("schema: spindrift/policy/1\nname: spray-" + options.spray +
                                     "\nrules:\n  - name: all\n    spray: " + options.spray + "\n",
                                 "--spray");
    if (!made.ok()) return made.status();
    return std::move(made.value);
  }
  auto loaded = config::load_policy_file(options.policy);
  if (!loaded.ok()) return loaded.status();
  return std::move(loaded.value);
}

}  // namespace

Result<Target> open_target(Engine& engine, const std::string& peer, const std::string& segment,
                           Duration timeout) {
  Result<Segment> opened = engine.open_segment(peer, segment, timeout);
  if (!opened.ok()) return opened.status();
  Target target{.segment = *opened};
  for (const SegmentRegion& region : opened->regions()) {
    if (region.length <= target.length) continue;
    target.address = region.address;
    target.length = region.length;
    target.can_write = allows(region.rights, Rights::kRemoteWrite);
    target.can_read = allows(region.rights, Rights::kRemoteRead);
  }
  if (target.length == 0) {
    return Status(Code::kNotFound, {.what = "segment " + segment + " has no memory",
                                    .hint = "the peer must register some under that name",
                                    .peer = opened->peer()});
  }
  return target;
}

Result<std::unique_ptr<Session>> Session::start(const BenchOptions& options, std::uint64_t memory) {
  std::unique_ptr<Session> session(new Session());
  session->peer_ = options.peer;
  if (options.loopback) {
    if (Status status = session->start_loopback_agent(options, memory); !status.ok()) return status;
  }
  Result<config::NodeConfig> config = session->own_config(options);
  if (!config.ok()) return config.status();
  if (std::uint64_t{options.depth} * options.threads > config->executor.transfers_max) {
    return Status(Code::kInvalidArgument,
                  {.what = "depth times threads is above executor.transfers_max",
                   .hint = "at most " + std::to_string(config->executor.transfers_max)});
  }
  Result<std::unique_ptr<Engine>> engine = start_engine(std::move(*config));
  if (!engine.ok()) return engine.status();
  session->engine_ = std::move(*engine);
  Result<Target> target =
      open_target(*session->engine_, session->peer_, options.segment, options.open_timeout);
  if (!target.ok()) return target.status();
  session->target_ = std::move(*target);
  if (Status status = session->take_memory(memory, options.verify); !status.ok()) return status;
  return session;
}

Status Session::start_loopback_agent(const BenchOptions& options, std::uint64_t memory) {
  const std::string text = loopback_node("bench-agent", options) +
                           "segments:\n  - name: " + options.segment +
                           "\n    size: " + config::write_size(memory) + "\n";
  const Result<TextFile> file = text_as_file(text);
  if (!file.ok()) return file.status();
  const Result<std::string> program = own_path();
  if (!program.ok()) return program.status();
  Result<ChildProcess> agent = ChildProcess::start(
      {*program, "agent", "--config", file->path, "--end-with-parent", std::to_string(::getpid())},
      ChildProcess::Output::kPipe);
  if (!agent.ok()) return agent.status();
  agent_ = std::move(*agent);
  const Result<std::string> line = agent_.read_line(kAgentStarts);
  if (!line.ok()) return line.status();
  const std::string key = " control=";
  const std::size_t at = line->find(key);
  if (line->rfind("ready ", 0) != 0 || at == std::string::npos) {
    return Status(Code::kInternal, "the agent said \"" + *line + "\" instead of its ready line");
  }
  const std::size_t begin = at + key.size();
  peer_ = line->substr(begin, line->find(' ', begin) - begin);
  return {};
}

Result<config::NodeConfig> Session::own_config(const BenchOptions& options) const {
  Result<config::NodeConfig> config = [&]() -> Result<config::NodeConfig> {
    if (!options.config.empty()) return read_node_file(options.config);
    auto loaded = config::load_node_text(
        options.loopback ? loopback_node("bench", options) : remote_node(options),
        "the built-in node file");
    if (!loaded.ok()) return loaded.status();
    return std::move(loaded.value);
  }();
  if (!config.ok() || (options.policy.empty() && options.spray.empty())) return config;
  Result<policies::PolicySet> policy = policy_of(options);
  if (!policy.ok()) return policy.status();
  config->policy = std::move(*policy);
  return config;
}

Status Session::take_memory(std::uint64_t memory, bool verify) {
  length_ = std::min(memory, target_.length);
  Result<MemoryBlock> own = MemoryBlock::allocate(length_, "the benchmark");
  if (!own.ok()) return own.status();
  memory_ = std::move(*own);
  const Result<Region> region =
      engine_->register_memory({.address = memory_.data(), .length = length_});
  if (!region.ok()) return region.status();
  if (!verify) return {};
  Result<MemoryBlock> spare = MemoryBlock::allocate(length_, "verification");
  if (!spare.ok()) return spare.status();
  read_back_ = std::move(*spare);
  return engine_->register_memory({.address = read_back_.data(), .length = length_}).status();
}

}  // namespace spindrift::tools::bench
