#include "tools/bench/report.h"

#include <cstdio>
#include <string>

#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/units.h"
#include "tools/versions.h"

namespace spindrift::tools::bench {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(Operation operation) {
  return operation == Operation::kWrite ? "write" : "read";
}

// Fixed widths, because rows appear one after another over minutes.
std::string row_of(std::initializer_list<std::pair<int, std::string>> cells) {
  std::string row;
  for (const auto& [width, text] : cells) {
    char cell[64];
    // Negative widths align to the left.
    std::snprintf(cell, sizeof cell, "%*s", width, text.c_str());
    row += (row.empty() ? "" : " ") + std::string(cell);
  }
  while (!row.empty() && row.back() == ' ') row.pop_back();
  return row + "\n";
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.3f" : value < 100 ? "%.2f" : "%.1f", value);
  return text;
}

// Three digits and a unit, without a space so that columns stay narrow.
std::string short_time(Duration span) {
  const double ns = static_cast<double>(span.count());
  char text[32];
  if (ns < 1e3) {
    std::snprintf(text, sizeof text, "%.0fns", ns);
  } else if (ns < 1e6) {
    std::snprintf(text, sizeof text, "%.3gus", ns / 1e3 < 999.5 ? ns / 1e3 : 999.0);
  } else if (ns < 1e9) {
    std::snprintf(text, sizeof text, "%.3gms", ns / 1e6 < 999.5 ? ns / 1e6 : 999.0);
  } else {
    std::snprintf(text, sizeof text, "%.2fs", ns / 1e9);
  }
  return text;
}

std::string verdict(const PointRecord& record) {
  if (!record.point.verify) return "-";
  if (record.result.verify_failures > 0) {
    return std::to_string(record.result.verify_failures) + " bytes wrong";
  }
  return record.result.verified_bytes > 0 || record.result.bytes == 0 ? "ok" : "nothing";
}

std::uint64_t submit_ns_per_descriptor(const PointResult& result) {
  return result.submitted_descriptors == 0
             ? 0
             : static_cast<std::uint64_t>(result.submit_time.count()) /
                   result.submitted_descriptors;
}

std::string rail_rows(const PointRecord& record) {
  const PointResult& result = record.result;
  std::string rows;
  for (const RailReport& rail : result.rails) {
    const double share = result.bytes == 0 ? 0
                                           : 100.0 * static_cast<double>(rail.bytes) /
                                                 static_cast<double>(result.bytes);
    char line[256];
    std::snprintf(
        line, sizeof line, "        %-28s %10s %5.1f %%  %s in %llu slices%s\n", rail.rail.c_str(),
        format_rate(Rate::of(rail.bytes, result.timed)).c_str(), share,
        format_bytes_short(rail.bytes).c_str(), static_cast<unsigned long long>(rail.attempts),
        rail.failures == 0 ? "" : (", " + std::to_string(rail.failures) + " failed").c_str());
    rows += line;
  }
  return rows;
}

Json latencies(const Histogram& latency) {
  return {{"min", latency.min().count()},
          {"mean", latency.mean().count()},
          {"p50", latency.quantile(50'000).count()},
          {"p90", latency.quantile(90'000).count()},
          {"p99", latency.quantile(99'000).count()},
          {"p999", latency.quantile(99'900).count()},
          {"max", latency.max().count()}};
}

Json rails_json(const PointResult& result) {
  Json rails = Json::array();
  for (const RailReport& rail : result.rails) {
    rails.push_back({{"rail", rail.rail},
                     {"bytes", rail.bytes},
                     {"bytes_per_s", Rate::of(rail.bytes, result.timed).bytes_per_s},
                     {"attempts", rail.attempts},
                     {"failures", rail.failures}});
  }
  return rails;
}

// Under the names of the command line.
Json inputs(const PointRecord& record) {
  const BenchOptions& options = record.options;
  const PointOptions& point = record.point;
  return {{"loopback", options.loopback},
          {"peer", options.peer},
          {"segment", options.segment},
          {"config", options.config},
          {"rails", options.rails},
          {"workers", options.workers},
          {"op", name_of(point.operation)},
          {"size", point.layout.bytes},
          {"descriptors", point.layout.descriptors},
          {"scatter", point.layout.scatter},
          {"unaligned", point.layout.unaligned},
          {"reuse_addresses", point.reuse_addresses},
          {"memory", record.memory},
          {"class", point.klass},
          {"policy", options.policy},
          {"spray", options.spray},
          {"checksum", options.checksum},
          {"depth", point.depth},
          {"threads", point.threads},
          {"count", point.count},
          {"duration_ns", point.duration.count()},
          {"warmup_ns", point.warmup.count()},
          {"budget_ns", point.budget.count()},
          {"verify", point.verify},
          {"seed", point.seed}};
}

}  // namespace

std::string table_head() {
  return row_of({{-5, ""},
                 {9, ""},
                 {6, ""},
                 {5, ""},
                 {8, "goodput"},
                 {7, ""},
                 {8, "latency"},
                 {8, ""},
                 {8, ""},
                 {8, ""},
                 {8, ""},
                 {8, "submit"},
                 {7, ""},
                 {6, ""},
                 {-6, ""}}) +
         row_of({{-5, "op"},
                 {9, "size"},
                 {6, "descr"},
                 {5, "depth"},
                 {8, "GB/s"},
                 {7, "Gbit/s"},
                 {8, "p50"},
                 {8, "p90"},
                 {8, "p99"},
                 {8, "p99.9"},
                 {8, "max"},
                 {8, "/descr"},
                 {7, "retries"},
                 {6, "failed"},
                 {-6, "verify"}});
}

std::string to_row(const PointRecord& record) {
  const PointResult& result = record.result;
  const PointOptions& point = record.point;
  const double goodput = static_cast<double>(result.goodput());
  const std::string depth =
      std::to_string(point.depth) + (point.threads > 1 ? "x" + std::to_string(point.threads) : "");
  std::string text = row_of({{-5, name_of(point.operation)},
                             {9, format_bytes_short(point.layout.bytes)},
                             {6, std::to_string(point.layout.descriptors)},
                             {5, depth},
                             {8, decimal(goodput / 1e9)},
                             {7, decimal(goodput * 8 / 1e9)},
                             {8, short_time(result.latency.quantile(50'000))},
                             {8, short_time(result.latency.quantile(90'000))},
                             {8, short_time(result.latency.quantile(99'000))},
                             {8, short_time(result.latency.quantile(99'900))},
                             {8, short_time(result.latency.max())},
                             {8, std::to_string(submit_ns_per_descriptor(result)) + "ns"},
                             {7, std::to_string(result.retries)},
                             {6, std::to_string(result.failed_intents)},
                             {-6, verdict(record)}});
  text += rail_rows(record);
  if (!result.first_failure.ok()) {
    text += "        first failure: " + result.first_failure.to_string() + "\n";
  }
  return text;
}

std::string to_json(const PointRecord& record) {
  const PointResult& result = record.result;
  const Versions versions = read_versions();
  const Json line{
      {"schema", "spindrift/bench/1"},
      {"op", name_of(record.point.operation)},
      {"size", record.point.layout.bytes},
      {"peer", record.peer},
      {"policy_rule", result.policy_rule},
      {"goodput_bytes_per_s", result.goodput()},
      {"bytes", result.bytes},
      {"timed_ns", result.timed.count()},
      {"intents", result.intents},
      {"failed_intents", result.failed_intents},
      {"first_failure", result.first_failure.ok() ? "" : result.first_failure.to_string()},
      {"latency_ns", latencies(result.latency)},
      {"submit_ns_per_descriptor", submit_ns_per_descriptor(result)},
      {"retries", result.retries},
      {"rounds", result.rounds},
      {"verified_bytes", result.verified_bytes},
      {"verify_failures", result.verify_failures},
      {"rails", rails_json(result)},
      {"inputs", inputs(record)},
      {"versions",
       {{"spindrift", versions.spindrift},
        {"compiler", versions.compiler},
        {"kernel", versions.kernel}}}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spindrift::tools::bench
