// spindrift demo: a transfer over unequal links, live, with nothing to set up.
#include <sys/random.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "config/units.h"
#include "tools/child_process.h"
#include "tools/commands.h"
#include "tools/quantity_options.h"
#include "tools/showcase/network.h"
#include "tools/showcase/sender.h"
#include "tools/signals.h"

namespace spindrift::tools {
namespace {

using showcase::VethNetwork;

constexpr char kAbout[] =
    R"(Watch a transfer move over four unequal links

Makes two network namespaces joined by four links of 1000, 1000, 500 and 250 Mbit/s
(which needs root), runs an agent in one and a sender in the other, and shows the
policy, the plan, the rate of each link while 64 MiB writes move, their sum against
what the links can carry, and whether every byte arrived.)";

constexpr char kFooter[] =
    R"(Without root, or with --loopback, the links are four loopback addresses, which have
no rate of their own. On a terminal the rates are a table that is redrawn, elsewhere
a line per second. Rounds take turns: laying out a pattern in memory, moving it, and
reading it back to compare every byte; between two phases the rates fall for a moment.
Namespaces and processes are gone when it ends, in whatever way.

Examples:
  spindrift demo
  spindrift demo --duration 30s --rates 2000,1000,100
  spindrift demo --loopback

Exit status: 0 everything that was moved was verified; 1 not so.)";

constexpr Duration kAgentStarts = std::chrono::seconds(60);
// Beyond the duration asked for: starting, the last round, reading it back.
constexpr Duration kSenderEnds = std::chrono::seconds(90);
constexpr Duration kGlance = std::chrono::milliseconds(100);
constexpr std::size_t kLoopbackRails = 4;

struct DemoOptions {
  Duration duration = std::chrono::seconds(10);
  std::vector<std::uint32_t> rates{1000, 1000, 500, 250};
  bool loopback = false;
  // Of the sender's process, which the demo starts itself.
  std::string inside_peer;
  std::string inside_config;
  int inside_parent = 0;
};

Result<std::string> random_key() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
    return Status(Code::kIoError, "no random bytes for the demo's cluster key");
  }
  std::string key;
  for (const unsigned char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    key += digits;
  }
  return key;
}

// The demo's two processes and the network between them. The order of the fields
// is that of their making; they end the other way round.
class Show {
 public:
  explicit Show(const DemoOptions& options) : options_(options) {}

  int run() {
    lay_links();
    if (Status status = start_agent(); !status.ok()) return ended(status);
    if (Status status = start_sender(); !status.ok()) return ended(status);
    return watch();
  }

 private:
  void lay_links() {
    if (options_.loopback) {
      std::printf(
          "Links: %zu loopback addresses, as asked for; they have no rate of their own.\n\n",
          kLoopbackRails);
      return;
    }
    Result<VethNetwork> made = VethNetwork::create(options_.rates);
    if (made.ok()) {
      network_.emplace(std::move(*made));
      std::printf("Links: %zu veth pairs between two network namespaces of this machine.\n\n",
                  options_.rates.size());
      return;
    }
    std::printf(
        "Links: %zu loopback addresses, which have no rate of their own, because network\n"
        "namespaces cannot be made: %s\n\n",
        kLoopbackRails, made.status().to_string().c_str());
  }

  // What both ends have in common.
  std::string node(const std::string& name, std::size_t end, const std::string& key) const {
    std::string text = "schema: spindrift/node/1\nname: " + name + "\n";
    if (network_) {
      return text + "control:\n  bind: " + showcase::rail_address(0, end) + "\n  key: " + key +
             "\n";
    }
    text += "tcp:\n  loopback_addresses:\n";
    for (std::size_t i = 1; i <= kLoopbackRails; ++i) {
      text += "    - 127.0.0." + std::to_string(i) + "\n";
    }
    return text;
  }

  Status start_agent() {
    const Result<std::string> key = random_key();
    if (!key.ok()) return key.status();
    Result<TextFile> agent_file =
        text_as_file(node("decode", 1, *key) + "segments:\n  - name: " + showcase::kDemoSegment +
                     "\n    size: " + config::write_size(showcase::kDemoMemory) + "\n");
    if (!agent_file.ok()) return agent_file.status();
    Result<TextFile> sender_file = text_as_file(node("prefill", 0, *key));
    if (!sender_file.ok()) return sender_file.status();
    sender_file_ = std::move(*sender_file);
    const Result<std::string> program = own_path();
    if (!program.ok()) return program.status();
    program_ = *program;
    Result<ChildProcess> agent =
        ChildProcess::start(inside(1, {program_, "agent", "--config", agent_file->path,
                                       "--end-with-parent", std::to_string(::getpid())}),
                            ChildProcess::Output::kPipe);
    if (!agent.ok()) return agent.status();
    agent_ = std::move(*agent);
    return await_agent();
  }

  // "ready name=decode control=10.77.0.2:40123"
  Status await_agent() {
    const Instant deadline = read_monotonic_clock() + kAgentStarts;
    for (;;) {
      const Result<std::string> line = agent_.read_line(kGlance);
      if (line.ok()) {
        const std::size_t at = line->find("control=");
        if (at == std::string::npos) return Status(Code::kInternal, "the agent said: " + *line);
        const std::size_t begin = at + std::string("control=").size();
        agent_address_ = line->substr(begin, line->find(' ', begin) - begin);
        return {};
      }
      if (line.code() != Code::kDeadlineExceeded) return line.status();
      if (signals_.wait_for(Duration(0))) return Status(Code::kCancelled, "ended by a signal");
      if (read_monotonic_clock() > deadline) return line.status();
    }
  }

  Status start_sender() {
    std::string rates;
    for (const std::uint32_t rate : options_.rates) {
      rates += (rates.empty() ? "" : ",") + std::to_string(rate);
    }
    std::vector<std::string> command{program_,          "demo",
                                     "--inside-peer",   agent_address_,
                                     "--inside-config", sender_file_.path,
                                     "--inside-parent", std::to_string(::getpid()),
                                     "--duration",      config::write_duration(options_.duration),
                                     "--rates",         rates};
    if (!network_) command.emplace_back("--loopback");
    std::fflush(stdout);
    Result<ChildProcess> sender =
        ChildProcess::start(inside(0, command), ChildProcess::Output::kInherit);
    if (!sender.ok()) return sender.status();
    sender_ = std::move(*sender);
    return {};
  }

  // Until the sender ends, the agent dies, a signal comes or time is up.
  int watch() {
    const Instant deadline = read_monotonic_clock() + options_.duration + kSenderEnds;
    bool told_to_end = false;
    for (;;) {
      const Result<int> status = sender_.wait(kGlance);
      if (status.ok()) return told_to_end && *status == kDone ? kFailed : *status;
      if (agent_.wait(Duration(0)).ok()) {
        return ended(Status(Code::kPeerUnreachable, "the demo's agent ended early"));
      }
      if (signals_.wait_for(Duration(0))) {
        if (told_to_end) return kFailed;  // asked twice
        told_to_end = true;
        sender_.signal(SIGTERM);
      }
      if (read_monotonic_clock() > deadline) {
        return ended(Status(Code::kDeadlineExceeded, "the demo's sender did not end in time"));
      }
    }
  }

  int ended(const Status& status) { return fail(status); }

  std::vector<std::string> inside(std::size_t end, std::vector<std::string> command) const {
    return network_ ? network_->inside(end, std::move(command)) : command;
  }

  const DemoOptions& options_;
  EndSignals signals_;
  std::optional<VethNetwork> network_;
  TextFile sender_file_;
  std::string program_;
  std::string agent_address_;
  ChildProcess agent_;
  ChildProcess sender_;
};

int demo(const DemoOptions& options) {
  if (options.inside_peer.empty()) return Show(options).run();
  if (!end_with_parent(options.inside_parent)) return kFailed;
  return showcase::send_and_show(
      {.peer = options.inside_peer,
       .config = options.inside_config,
       .rates_mbit = options.loopback ? std::vector<std::uint32_t>{} : options.rates,
       .duration = options.duration});
}

}  // namespace

void add_demo_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("demo", kAbout);
  command->footer(kFooter);
  const auto options = std::make_shared<DemoOptions>();
  add_duration(*command, {"--duration", "How long bytes move and are verified; default: 10s"},
               options->duration);
  command
      ->add_option("--rates", options->rates, "Of the links, in Mbit/s; default: 1000,1000,500,250")
      ->delimiter(',')
      ->expected(1, 16)
      ->check(CLI::Range(1, 100'000))
      ->type_name("MBIT,...");
  command->add_flag("--loopback", options->loopback, "Over loopback, even where links can be made");
  command->add_option("--inside-peer", options->inside_peer)->group("");
  command->add_option("--inside-config", options->inside_config)->group("");
  command->add_option("--inside-parent", options->inside_parent)->group("");
  command->callback([&run, options] { run = [options] { return demo(*options); }; });
}

}  // namespace spindrift::tools
