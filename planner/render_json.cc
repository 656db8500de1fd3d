#include <nlohmann/json.hpp>

#include "planner/admission.h"
#include "planner/render.h"
#include "policies/matching.h"

namespace spindrift::planner {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(std::uint64_t value) {
  return value == 0 ? Json(nullptr) : Json(value);
}
Json or_null(Duration span) {
  return span.count() == 0 ? Json(nullptr) : Json(span.count());
}
Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json request_json(const PlanRequest& request, const RenderNotes& notes) {
  return {{"operation", policies::to_string(request.operation)},
          {"local", or_null(notes.local)},
          {"peer", request.peer},
          {"class", request.klass.empty() ? "default" : request.klass},
          {"bytes", request.bytes},
          {"descriptors", request.descriptors},
          {"source", describe(request.source)},
          {"destination", describe(request.destination)},
          {"same_host", request.same_host}};
}

Json status_json(const Status& status) {
  const Status::Detail& detail = status.detail();
  return {{"ok", status.ok()},
          {"code", spindrift::to_string(status.code())},
          {"what", or_null(detail.what)},
          {"why", or_null(detail.why)},
          {"hint", or_null(detail.hint)},
          {"where", or_null(detail.where)}};
}

Json rules_json(const Explanation& explanation) {
  Json rules = Json::array();
  for (const RuleVerdict& rule : explanation.rules) {
    rules.push_back({{"rule", rule.rule}, {"matched", rule.matched}, {"why", rule.why}});
  }
  return rules;
}

Json plan_json(const Explanation& explanation) {
  const Plan& plan = explanation.plan;
  if (plan.tiers.empty()) return nullptr;
  Json tiers = Json::array();
  for (const std::vector<RailOrdinal>& tier : plan.tiers) {
    Json names = Json::array();
    for (const RailOrdinal rail : tier) names.push_back(explanation.rails[rail].rail);
    tiers.push_back(std::move(names));
  }
  Json json{{"rule", plan.rule},
            {"spray", policies::to_string(plan.spray)},
            {"slice_min_bytes", plan.slice_min},
            {"slice_max_bytes", plan.slice_max},
            {"attempts_max", plan.attempts_max},
            {"hedge", plan.hedge},
            {"checksum", plan.checksum},
            {"tiers", std::move(tiers)}};
  if (!plan.weights.empty()) json["weights"] = plan.weights;
  return json;
}

Json rails_json(const Explanation& explanation, const Plan& plan) {
  Json rails = Json::array();
  for (std::size_t i = 0; i < explanation.rails.size(); ++i) {
    const RailVerdict& rail = explanation.rails[i];
    rails.push_back(
        {{"rail", rail.rail},
         {"tier", rail.tier < 0 || plan.tiers.empty() ? Json(nullptr) : Json(rail.tier + 1)},
         {"usable", rail.usable},
         {"why", rail.why},
         {"rate_bytes_per_s", or_null(rail.predicted_rate.bytes_per_s)},
         {"rate_measured", rail.measured},
         {"predicted_bytes", rail.predicted_bytes},
         {"predicted_ns", or_null(rail.predicted_time)}});
  }
  return rails;
}

}  // namespace

std::string to_json(const Explanation& explanation, const PlanRequest& request,
                    const RenderNotes& notes) {
  const Json json{{"policy", or_null(notes.policy)},
                  {"topology", or_null(notes.topology)},
                  {"request", request_json(request, notes)},
                  {"status", status_json(explanation.status)},
                  {"rules", rules_json(explanation)},
                  {"plan", plan_json(explanation)},
                  {"rails", rails_json(explanation, explanation.plan)},
                  {"predicted_rate_bytes_per_s", or_null(explanation.predicted_rate.bytes_per_s)},
                  {"predicted_ns", or_null(explanation.predicted_time)},
                  {"unused_nics", notes.unused}};
  // Names come from files and peers: bytes that are no UTF-8 are replaced, since
  // an exception would otherwise leave this layer.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spindrift::planner
