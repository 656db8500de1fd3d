// What the engine says about its rails, to people and to metrics.
#include "api/core.h"
#include "api/worker_seat.h"

namespace spindrift {

namespace {

void look_at(const executor::Lane& lane, api::LaneReport& report) {
  report = {.state = lane.health.state(),
            .failure = lane.health.failure(),
            .transitions = lane.health.transitions(),
            .quarantines = lane.health.quarantines(),
            .fences = lane.fences_total,
            .reroutes = lane.reroutes_total,
            .hedges = lane.hedges_total,
            .probes_good = lane.probes_good,
            .probes_bad = lane.probes_bad};
}

void look_at(const executor::Lane& writes, const executor::Lane& reads, api::RailDetails& report) {
  RailStatus& status = report.status;
  if (writes.rate.measured()) status.rate_out_bps = writes.rate.rate().bytes_per_s;
  if (reads.rate.measured()) status.rate_in_bps = reads.rate.rate().bytes_per_s;
  status.bytes_out = writes.bytes_total;
  status.bytes_in = reads.bytes_total;
  status.failures = writes.failures_total + reads.failures_total;
  status.health_out = health::to_string(writes.health.state());
  status.health_in = health::to_string(reads.health.state());
  look_at(writes, report.lanes[0]);
  look_at(reads, report.lanes[1]);
}

// "quarantined: connection could not be made (connect to 10.0.1.2:7401: timed out)"
std::string reason_of(const api::RailDetails& report, const std::string& last_error) {
  for (const api::LaneReport& lane : report.lanes) {
    const bool carries =
        lane.state == health::HealthState::kHealthy || lane.state == health::HealthState::kRamping;
    if (carries) continue;
    std::string text = std::string(health::to_string(lane.state)) + ": " + to_string(lane.failure);
    if (!last_error.empty()) text += " (" + last_error + ")";
    return text;
  }
  return last_error;
}

}  // namespace

std::vector<api::RailDetails> Engine::Core::rail_reports() const {
  std::vector<api::RailDetails> all;
  for (const std::shared_ptr<api::Peer>& to : peers()) {
    const api::PeerView view = to->view();
    const std::vector<api::PeerRail> rails = to->rails();
    const LaneIndex first = to->first_lane();
    if (first == kNoLane || rails.empty()) continue;
    std::vector<api::RailDetails> reports(rails.size());
    const bool seen = inspect(to->worker(), {[&](const executor::Executor& executor, auto) {
                                for (std::size_t i = 0; i < rails.size(); ++i) {
                                  const auto reads =
                                      static_cast<LaneIndex>(first + rails.size() + i);
                                  if (reads >= executor.lane_count()) return;
                                  look_at(executor.lane(static_cast<LaneIndex>(first + i)),
                                          executor.lane(reads), reports[i]);
                                }
                              }});
    if (!seen) continue;
    for (std::size_t i = 0; i < rails.size(); ++i) {
      RailStatus& status = reports[i].status;
      status.peer = view.name;
      status.rail = rails[i].name;
      status.reason =
          view.connected ? reason_of(reports[i], rails[i].down_reason) : view.status.to_string();
      status.usable = status.reason.empty();
    }
    all.insert(all.end(), reports.begin(), reports.end());
  }
  return all;
}

std::vector<RailStatus> Engine::Core::rails() const {
  std::vector<RailStatus> statuses;
  for (api::RailDetails& report : rail_reports()) statuses.push_back(std::move(report.status));
  return statuses;
}

namespace api {

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Sink {
  MetricsSnapshot& out;
  Labels labels;

  void add(const char* name, const char* help, bool counter, double value, Labels more = {}) const {
    more.insert(more.begin(), labels.begin(), labels.end());
    out.values.push_back({name, help, counter, std::move(more), value});
  }
  void count(const char* name, const char* help, std::uint64_t value, Labels more = {}) const {
    add(name, help, true, static_cast<double>(value), std::move(more));
  }
};

void add_lane(const LaneReport& lane, const Sink& sink) {
  for (std::size_t i = 0; i < health::kHealthStates; ++i) {
    const auto state = static_cast<health::HealthState>(i);
    sink.add("spindrift_rail_health", "1 for the state that the rail is in.", false,
             state == lane.state ? 1 : 0, {{"state", health::to_string(state)}});
  }
  sink.add("spindrift_rail_last_failure", "Always 1; what the rail failed of last is in the label.",
           false, 1, {{"cause", to_string(lane.failure)}});
  sink.count("spindrift_rail_transitions_total", "Changes of the state of the rail's health.",
             lane.transitions);
  sink.count("spindrift_rail_quarantines_total", "How often the rail was given up.",
             lane.quarantines);
  sink.count("spindrift_rail_fences_total", "Connections of the rail that were fenced.",
             lane.fences);
  const char* copies = "Slices that were copied to other rails, by cause.";
  sink.count("spindrift_rail_copies_total", copies, lane.reroutes, {{"cause", "silence"}});
  sink.count("spindrift_rail_copies_total", copies, lane.hedges, {{"cause", "hedge"}});
  const char* probes = "Probes of the rail while it was in quarantine, by result.";
  sink.count("spindrift_rail_probes_total", probes, lane.probes_good, {{"result", "landed"}});
  sink.count("spindrift_rail_probes_total", probes, lane.probes_bad, {{"result", "failed"}});
}

}  // namespace

void add_rail(const RailDetails& rail, MetricsSnapshot& out) {
  const RailStatus& status = rail.status;
  const Labels both{{"peer", status.peer}, {"rail", status.rail}};
  for (const bool writes : {true, false}) {
    Sink sink{out, both};
    sink.labels.emplace_back("direction", writes ? "out" : "in");
    sink.count("spindrift_rail_bytes_total", "Bytes that landed, by rail.",
               writes ? status.bytes_out : status.bytes_in);
    sink.add("spindrift_rail_rate_bytes_per_second",
             "Measured placement rate in bytes per second; 0: not measured yet.", false,
             static_cast<double>(writes ? status.rate_out_bps : status.rate_in_bps));
    add_lane(rail.lanes[writes ? 0 : 1], sink);
  }
  const Sink sink{out, both};
  sink.count("spindrift_rail_failures_total", "Attempts that did not land, by rail.",
             status.failures);
  sink.add("spindrift_rail_usable", "1 when the rail can be used.", false, status.usable ? 1 : 0);
}

}  // namespace api

}  // namespace spindrift
