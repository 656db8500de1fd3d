// spindrift plan: what the planner would do with an intent, and why.
#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "config/load.h"
#include "planner/candidates.h"
#include "planner/render.h"
#include "tools/commands.h"

namespace spindrift::tools {
namespace {

constexpr char kAbout[] =
    R"(Explain what would be done with a transfer

Takes a description of machines (which need not exist here), a policy and an
intent, and says which rule matches and why the others do not, the tiers of links
with their predicted rates and times, and what is excluded and why. Nothing moves.)";

constexpr char kFooter[] = R"(Examples, with the files that come with the sources:
  spindrift plan --topology docs/examples/eth-4x100g.yaml \
                 --policy docs/examples/policy.yaml --intent docs/examples/intent.yaml
  spindrift plan --topology docs/examples/eth-4x100g.yaml \
                 --intent docs/examples/intent.yaml            # the built-in policy
  spindrift plan ... --json | python3 -m json.tool

The same planner runs in every engine; docs/CONFIG.md describes the files.

Exit status: 0 there is a plan; 1 there is none, and the explanation says why, or a
file is wrong; 2 the command line is wrong.)";

struct PlanOptions {
  std::string topology, policy, intent;
  bool json = false;
};

// The problems of one file; true when it can be used.
template <typename T>
bool usable(const config::Loaded<T>& loaded) {
  for (const config::Problem& problem : loaded.problems) {
    std::fprintf(stderr, "%s\n", problem.to_string().c_str());
  }
  return loaded.ok();
}

int plan(const PlanOptions& options) {
  const auto topology = config::load_topology_file(options.topology);
  const auto intent = config::load_intent_file(options.intent);
  const bool built_in = options.policy.empty();
  const auto policy = built_in ? config::Loaded<policies::PolicySet>{config::builtin_policy(), {}}
                               : config::load_policy_file(options.policy);
  // Bitwise, so that the problems of all files are shown in one go.
  if (!(static_cast<int>(usable(topology)) & static_cast<int>(usable(intent)) &
        static_cast<int>(usable(policy)))) {
    return kFailed;
  }
  const auto request = config::to_plan_request(intent.value, topology.value);
  if (!request.ok()) return fail(request.status());
  const auto candidates =
      planner::candidates_between(topology.value, intent.value.initiator(), intent.value.peer());
  if (!candidates.ok()) return fail(candidates.status());

  const planner::Explanation explanation =
      planner::explain(policy.value, *request, candidates->rails);
  const planner::RenderNotes notes{.policy = built_in ? "built-in" : options.policy,
                                   .topology = options.topology,
                                   .local = intent.value.initiator(),
                                   .unused = candidates->unused};
  const std::string text = options.json ? planner::to_json(explanation, *request, notes) + "\n"
                                        : planner::to_text(explanation, *request, notes);
  std::fputs(text.c_str(), stdout);
  return explanation.status.ok() ? kDone : fail(explanation.status);
}

}  // namespace

void add_plan_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("plan", kAbout);
  command->footer(kFooter);
  const auto options = std::make_shared<PlanOptions>();
  command->add_option("--topology", options->topology, "The machines")
      ->required()
      ->type_name("FILE");
  command->add_option("--intent", options->intent, "What is to move")
      ->required()
      ->type_name("FILE");
  command->add_option("--policy", options->policy, "The policy; default: the built-in one")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "One JSON object instead of a page");
  command->callback([&run, options] { run = [options] { return plan(*options); }; });
}

}  // namespace spindrift::tools
