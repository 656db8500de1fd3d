#include "planner/render.h"

#include <algorithm>

#include "base/format.h"
#include "planner/admission.h"
#include "planner/text_table.h"
#include "policies/matching.h"

namespace spindrift::planner {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string headline(const PlanRequest& request, const RenderNotes& notes) {
  std::string text = describe(request);
  if (!notes.local.empty()) text = notes.local + ": " + text;
  text += ", class " + (request.klass.empty() ? std::string("default") : request.klass);
  text += ", from " + describe(request.source) + " to " + describe(request.destination) + " memory";
  if (request.descriptors != 1) text += ", " + std::to_string(request.descriptors) + " ranges";
  text += request.same_host ? ", on one host" : ", between hosts";
  if (!notes.topology.empty()) text += "\nTopology " + notes.topology;
  return text + "\n";
}

std::string rules_text(const Explanation& explanation, const RenderNotes& notes) {
  Rows rows;
  for (const RuleVerdict& rule : explanation.rules) {
    rows.push_back({rule.matched ? "->" : "", rule.rule, rule.why});
  }
  const std::string of = notes.policy.empty() ? "" : " of " + notes.policy;
  return "\nRules" + of + ", the first that matches directs\n" + format_table(rows);
}

std::string directives_text(const Plan& plan) {
  std::string text = "\nPlan of rule " + plan.rule + ": ";
  text += std::string(policies::to_string(plan.spray)) + ", slices of " +
          format_bytes(plan.slice_min) + " to " + format_bytes(plan.slice_max) + ", up to " +
          std::to_string(plan.attempts_max) + (plan.attempts_max == 1 ? " attempt" : " attempts") +
          " a slice";
  if (plan.hedge) text += ", late ones hedged at the end";
  text += plan.checksum ? ", CRC32C end to end" : ", no checksum of our own";
  return text + "\n";
}

// "16 MiB" and "25 %" of the whole, or nothing for a rail that waits.
std::vector<std::string> share_cells(const RailVerdict& rail, std::uint64_t bytes) {
  if (rail.predicted_bytes == 0) return {"-", "", "-"};
  const std::uint64_t per_mille = mul_div(rail.predicted_bytes, 1000, bytes);
  const std::string time =
      rail.predicted_time.count() == 0 ? "unknown" : format_duration(rail.predicted_time);
  return {format_bytes_short(rail.predicted_bytes),
          std::to_string(per_mille / 10) + "." + std::to_string(per_mille % 10) + " %", time};
}

std::string tiers_text(const Explanation& explanation, const PlanRequest& request) {
  Rows rows{{"tier", "rail", "rate", "", "share", "", "time", "why here"}};
  for (std::size_t tier = 0; tier < explanation.plan.tiers.size(); ++tier) {
    for (const RailOrdinal ordinal : explanation.plan.tiers[tier]) {
      const RailVerdict& rail = explanation.rails[ordinal];
      const bool known = rail.predicted_rate.bytes_per_s > 0;
      const std::vector<std::string> share = share_cells(rail, request.bytes);
      rows.push_back({std::to_string(tier + 1), rail.rail, format_rate(rail.predicted_rate),
                      known ? (rail.measured ? "measured" : "line rate") : "", share[0], share[1],
                      share[2], rail.why});
    }
  }
  return "\nTiers: all rails of one tier together, the next only when none of it works\n" +
         format_table(rows, {false, false, true, false, true, true, true, false});
}

std::string prediction_text(const Explanation& explanation, const PlanRequest& request) {
  if (request.bytes == 0) return "\nPredicted: nothing to move, complete at once\n";
  if (explanation.predicted_time.count() == 0) {
    return "\nPredicted: unknown, because the rate of a rail in use is\n";
  }
  std::string text = "\nPredicted: " + format_bytes(request.bytes) + " in " +
                     format_duration(explanation.predicted_time) + ", " +
                     format_rate(explanation.predicted_rate) + " together";
  // Fixed shares wait for the rail that is slowest for its own; say what it costs.
  Rate sum;
  for (const RailVerdict& rail : explanation.rails) {
    if (rail.predicted_bytes > 0) sum.bytes_per_s += rail.predicted_rate.bytes_per_s;
  }
  if (sum > explanation.predicted_rate) {
    text += " of the " + format_rate(sum) + " that these rails add up to:\n  " +
            policies::to_string(explanation.plan.spray) +
            " goes at the pace of the rail that is slowest for its share";
  }
  return text + "\n";
}

std::string excluded_text(const Explanation& explanation) {
  Rows rows;
  for (const RailVerdict& rail : explanation.rails) {
    if (rail.tier < 0) rows.push_back({rail.rail, rail.why});
  }
  return rows.empty() ? "" : "\nExcluded rails\n" + format_table(rows);
}

std::string unused_text(const RenderNotes& notes) {
  std::string text = notes.unused.empty() ? "" : "\nNICs without a rail\n";
  for (const std::string& nic : notes.unused) text += "  " + nic + "\n";
  return text;
}

}  // namespace

std::string to_text(const Explanation& explanation, const PlanRequest& request,
                    const RenderNotes& notes) {
  std::string text = headline(request, notes);
  if (!explanation.status) text += "\nNot possible: " + explanation.status.to_string() + "\n";
  if (!explanation.rules.empty()) text += rules_text(explanation, notes);
  if (!explanation.plan.tiers.empty()) {
    text += directives_text(explanation.plan);
    text += tiers_text(explanation, request);
    if (explanation.status) text += prediction_text(explanation, request);
  }
  return text + excluded_text(explanation) + unused_text(notes);
}

}  // namespace spindrift::planner
