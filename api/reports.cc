// What the engine tells a metrics server.
#include "api/core.h"
#include "api/worker_seat.h"
#include "spindrift/version.h"

namespace spindrift {

api::MetricsSnapshot Engine::Core::metrics() const {
  api::MetricsSnapshot snapshot;
  const auto add = [&](std::string name, std::string help, bool counter, double value,
                       std::vector<std::pair<std::string, std::string>> labels = {}) {
    snapshot.values.push_back(
        {std::move(name), std::move(help), counter, std::move(labels), value});
  };
  const auto number = [](const std::atomic<std::uint64_t>& counter) {
    return static_cast<double>(counter.load(std::memory_order_relaxed));
  };
  add("spindrift_build_info", "Always 1; the version is in the label.", false, 1,
      {{"version", SPINDRIFT_VERSION}});
  const std::string transfers = "Transfers that ended, by outcome.";
  add("spindrift_transfers_total", transfers, true, number(completed_), {{"outcome", "completed"}});
  add("spindrift_transfers_total", transfers, true, number(failed_), {{"outcome", "failed"}});
  add("spindrift_intents_rejected_total", "Intents refused at submission.", true,
      number(rejected_));
  const std::string bytes = "Bytes that landed, of the transfers that this engine submitted.";
  add("spindrift_bytes_total", bytes, true, number(bytes_written_), {{"operation", "write"}});
  add("spindrift_bytes_total", bytes, true, number(bytes_read_), {{"operation", "read"}});
  add("spindrift_retries_total", "Postings of slices beyond the first.", true, number(retries_));

  const control::ControlCounters counters = control_->counters();
  const std::string handshakes = "Control handshakes, by result.";
  add("spindrift_handshakes_total", handshakes, true, static_cast<double>(counters.handshakes_ok),
      {{"result", "ok"}});
  add("spindrift_handshakes_total", handshakes, true,
      static_cast<double>(counters.handshakes_refused), {{"result", "refused"}});
  add("spindrift_connections_accepted_total", "Connections accepted on all ports.", true,
      static_cast<double>(counters.connections_accepted));
  const std::string messages = "Control messages, by direction.";
  add("spindrift_control_messages_total", messages, true,
      static_cast<double>(counters.messages_sent), {{"direction", "sent"}});
  add("spindrift_control_messages_total", messages, true,
      static_cast<double>(counters.messages_resent), {{"direction", "resent"}});
  add("spindrift_control_messages_total", messages, true,
      static_cast<double>(counters.messages_received), {{"direction", "received"}});

  std::uint64_t registered = 0;
  for (const api::LocalRegionPtr& region : *regions_.snapshot()) registered += region->length;
  add("spindrift_registered_bytes", "Memory that is registered now.", false,
      static_cast<double>(registered));
  for (std::uint32_t i = 0; i < seats_.size(); ++i) {
    std::uint64_t running = 0, slices = 0, in_flight = 0;
    const bool seen = inspect(i, {[&](const executor::Executor& executor, auto) {
                                running = executor.running();
                                slices = executor.slices_outstanding();
                                for (LaneIndex lane = 0; lane < executor.lane_count(); ++lane) {
                                  in_flight += executor.lane(lane).outstanding;
                                }
                              }});
    if (!seen) continue;
    const std::vector<std::pair<std::string, std::string>> labels{{"worker", std::to_string(i)}};
    add("spindrift_transfers_running", "Transfers that run now.", false,
        static_cast<double>(running), labels);
    add("spindrift_slices_outstanding", "Slices that exist now.", false,
        static_cast<double>(slices), labels);
    add("spindrift_inflight_bytes", "Bytes posted and not settled.", false,
        static_cast<double>(in_flight), labels);
  }
  for (const api::RailDetails& rail : rail_reports()) api::add_rail(rail, snapshot);
  return snapshot;
}

}  // namespace spindrift
