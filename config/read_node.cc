#include "config/read_node.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "config/load.h"
#include "config/suggest.h"
#include "config/text_file.h"
#include "config/text_rules.h"
#include "config/units.h"

namespace spindrift::config {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint64_t kTiB = 1024 * kGiB;
constexpr std::size_t kPatternsMax = 32;
constexpr std::size_t kPeersMax = 4096;
constexpr std::size_t kSegmentsMax = 1024;

constexpr Choice<LogVerbosity> kLogLevels[] = {{"debug", LogVerbosity::kDebug},
                                               {"info", LogVerbosity::kInfo},
                                               {"warn", LogVerbosity::kWarn},
                                               {"error", LogVerbosity::kError},
                                               {"off", LogVerbosity::kOff}};
constexpr Choice<Rights> kRights[] = {{"local", Rights::kLocal},
                                      {"read", Rights::kRemoteRead},
                                      {"write", Rights::kRemoteWrite},
                                      {"read_write", Rights::kRemoteReadWrite}};

void check_order(MapReader& map, const char* low_key, Duration low, const char* high_key,
                 Duration high) {
  if (low <= high) return;
  map.error(map.has(low_key) ? low_key : high_key,
            "does not fit: " + std::string(low_key) + " is " + write_duration(low) + ", " +
                high_key + " is " + write_duration(high),
            std::string("allowed: ") + low_key + " up to " + high_key);
}

// Reports the later of two entries that are to differ, naming the earlier one.
class UniqueNames {
 public:
  void check(MapReader& map, const char* key, const std::string& name) {
    if (name.empty()) return;
    const auto [first, is_new] = places_.emplace(name, map.place(key));
    if (is_new) return;
    map.error(key, quoted(name) + " is already used at " + to_string(first->second),
              "names are unique; rename one");
  }

 private:
  std::map<std::string, SourcePlace> places_;
};

std::optional<TextFile> read_named_file(MapReader& map, const char* key, const std::string& path,
                                        std::size_t bytes_max) {
  Result<TextFile> file = read_text_file(path, bytes_max);
  if (file) return std::move(*file);
  const Status status = file.status();
  map.error(key, "is unusable: " + status.detail().what + ": " + status.detail().why,
            "paths are relative to the file that names them");
  return std::nullopt;
}

void read_policy_file(MapReader& map, NodeConfig& out) {
  if (out.policy_file.empty()) return;
  out.policy_file = resolve_path(map.context().folder, out.policy_file);
  const auto file = read_named_file(map, "policy", out.policy_file, kFileBytesMax);
  if (!file) return;
  auto loaded = load_policy_text(file->text, out.policy_file);
  out.policy = std::move(loaded.value);
  map.context().elsewhere = std::move(loaded.problems);
}

// ---- control ----

std::string read_key_file(MapReader& map, const char* key, const std::string& path) {
  constexpr std::size_t kKeyFileMax = 4096;
  const auto file =
      read_named_file(map, key, resolve_path(map.context().folder, path), kKeyFileMax);
  if (!file) return {};
  std::string secret = file->text;
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (!kSecret.valid(secret)) {
    map.error(key, "names a file with a key of " + std::to_string(secret.size()) + " characters",
              std::string("allowed: ") + kSecret.allowed + ", on a line of its own");
    return {};
  }
  if (file->readable_by_all) {
    map.warning(key, "names a file that every user of this machine can read", "chmod 600 it");
  }
  return secret;
}

void read_key(MapReader& map, const char* inline_key, const char* file_key,
              std::vector<std::string>& keys) {
  std::string secret, path;
  map.text(inline_key, secret, kSecret);
  map.text(file_key, path, kFilePath);
  if (map.has(inline_key) && map.has(file_key)) {
    map.error(file_key, "is given beside `" + std::string(inline_key) + "`", "give one of them");
  } else if (!path.empty()) {
    secret = read_key_file(map, file_key, path);
  }
  if (!secret.empty()) keys.push_back(std::move(secret));
}

void check_strangers(MapReader& map, const control::ControlOptions& control) {
  const bool has_key = map.has("key") || map.has("key_file");
  if ((map.has("previous_key") || map.has("previous_key_file")) && !has_key) {
    map.error(map.has("previous_key") ? "previous_key" : "previous_key_file",
              "is given without a current key", "add `key_file`");
  }
  if (control.keys.size() == 2 && control.keys[0] == control.keys[1]) {
    map.warning(map.has("previous_key") ? "previous_key" : "previous_key_file",
                "is the same as the current key", "remove it");
  }
  if (control.insecure && has_key) {
    map.error("insecure", "is true, and there is a key", "remove the key, or `insecure`");
  }
  if (!is_loopback(control.bind) && !has_key && !control.insecure) {
    map.error("bind", "is " + control.bind + ", which others reach, and there is no cluster key",
              "add `key_file`, or say `insecure: true` to let everybody in");
  }
}

void read_control(MapReader& map, control::ControlOptions& out) {
  map.text("bind", out.bind, kIpAddress);
  map.ports("port", out.port_min, out.port_max);
  map.text("advertise", out.advertise, kIpAddress);
  read_key(map, "key", "key_file", out.keys);
  read_key(map, "previous_key", "previous_key_file", out.keys);
  map.flag("insecure", out.insecure);
  check_strangers(map, out);

  const Range<Duration> timeout{milliseconds(10), minutes(5)};
  map.duration("handshake_timeout", out.handshake_timeout, timeout);
  map.duration("connect_timeout", out.connect_timeout, timeout);
  map.duration("resend_after", out.resend_after, {milliseconds(1), minutes(1)});
  map.duration("reconnect_min", out.reconnect_min, {milliseconds(1), minutes(10)});
  map.duration("reconnect_max", out.reconnect_max, {milliseconds(1), minutes(10)});
  check_order(map, "reconnect_min", out.reconnect_min, "reconnect_max", out.reconnect_max);
  std::uint64_t message_max = out.message_max;
  map.size("message_max", message_max, {64 * kKiB, 64 * kMiB});
  out.message_max = static_cast<std::uint32_t>(message_max);
  map.number("unacked_max", out.unacked_max, {16, 1'000'000});
  map.number("sessions_max", out.sessions_max, {1, 65'536});
  map.number("half_open_max", out.half_open_max, {1, 65'536});
  map.number("connections_per_session", out.connections_per_session, {1, 16});
}

// ---- data ----

void read_tcp(MapReader& map, rails::tcp::TcpOptions& out) {
  map.flag("enabled", out.enabled);
  map.texts("include", out.include, kPattern, kPatternsMax);
  map.texts("exclude", out.exclude, kPattern, kPatternsMax);
  map.texts("loopback_addresses", out.loopback_addresses, kLoopbackAddress, 64);
  map.flag("ipv4", out.ipv4);
  map.flag("ipv6", out.ipv6);
  if (out.enabled && !out.ipv4 && !out.ipv6) {
    map.error("ipv6", "is false, and so is `ipv4`", "allow one of them, or say `enabled: false`");
  }
  map.ports("port", out.port_min, out.port_max);
  map.duration("connect_timeout", out.connect_timeout, {milliseconds(10), minutes(5)});
  map.text("congestion", out.congestion, kAlgorithm);
  map.size("notsent_lowat", out.notsent_lowat, {4 * kKiB, 64 * kMiB});
  map.size("ack_every", out.ack_every, {4 * kKiB, 64 * kMiB});
  map.number("inbound_lanes_max", out.inbound_lanes_max, {1, 65'536});
  map.number("inbound_reads_max", out.inbound_reads_max, {1, 65'536});
}

void read_executor(MapReader& map, executor::ExecutorOptions& out) {
  const Range<Rate> rates{Rate{1000}, Rate{125'000'000'000'000}};  // up to 1 Pbit/s
  map.duration("service_time", out.service_time, {microseconds(10), seconds(1)});
  map.rate("initial_rate", out.initial_rate, rates);
  map.size("window_max", out.window_max, {64 * kKiB, 16 * kGiB});
  map.duration("explore_after", out.explore_after, {milliseconds(1), minutes(1)});
  map.duration("settle_grace", out.settle_grace, {Duration(0), minutes(1)});
  map.duration("budget_base", out.budget_base, {milliseconds(10), hours(24)});
  map.rate("budget_rate", out.budget_rate, rates);
  map.number("lanes_max", out.lanes_max, {2, 65'536});
  map.number("transfers_max", out.transfers_max, {1, 1'048'576});
  map.number("slices_max", out.slices_max, {16, 16'777'216});
  map.number("attempts_per_lane", out.attempts_per_lane, {1, 65'536});
  map.number("posts_per_cycle", out.posts_per_cycle, {1, 65'536});
}

void read_health(MapReader& map, health::HealthOptions& out) {
  map.duration("silence_min", out.silence_min, {milliseconds(1), minutes(1)});
  map.duration("silence_max", out.silence_max, {milliseconds(1), minutes(1)});
  check_order(map, "silence_min", out.silence_min, "silence_max", out.silence_max);
  map.duration("silence_dead", out.silence_dead, {milliseconds(10), minutes(10)});
  map.duration("straggler_wait", out.straggler_wait, {milliseconds(1), minutes(1)});
  map.duration("hold_min", out.hold_min, {milliseconds(1), minutes(10)});
  map.duration("hold_max", out.hold_max, {milliseconds(1), hours(24)});
  check_order(map, "hold_min", out.hold_min, "hold_max", out.hold_max);
  map.duration("flap_memory", out.flap_memory, {milliseconds(10), hours(24)});
  map.duration("probe_every_min", out.probe_every_min, {milliseconds(1), minutes(10)});
  map.duration("probe_every_max", out.probe_every_max, {milliseconds(1), minutes(10)});
  check_order(map, "probe_every_min", out.probe_every_min, "probe_every_max", out.probe_every_max);
  map.duration("probe_every_idle", out.probe_every_idle, {milliseconds(1), hours(24)});
  map.duration("probe_timeout_min", out.probe_timeout_min, {milliseconds(1), minutes(1)});
  map.duration("probe_timeout_max", out.probe_timeout_max, {milliseconds(1), minutes(1)});
  check_order(map, "probe_timeout_min", out.probe_timeout_min, "probe_timeout_max",
              out.probe_timeout_max);
  map.duration("probe_spacing", out.probe_spacing, {microseconds(10), minutes(1)});
  map.duration("ramp", out.ramp, {Duration(1), minutes(10)});
}

void read_workers(MapReader& map, executor::WorkerOptions& out) {
  map.number("count", out.count, {1, 64});
  map.numbers("affinity", out.affinity, {0, 1023}, 64);
  if (!out.affinity.empty() && out.affinity.size() != out.count) {
    map.error("affinity",
              "does not fit: CPUs " + std::to_string(out.affinity.size()) + ", workers " +
                  std::to_string(out.count),
              "give one CPU for each worker, or none at all");
  }
  if (std::set(out.affinity.begin(), out.affinity.end()).size() != out.affinity.size()) {
    map.warning("affinity", "names a CPU twice", "workers on one CPU take turns");
  }
  map.number("inbox_capacity", out.inbox_capacity, {16, 1'048'576});
  map.number("events_per_cycle", out.events_per_cycle, {1, 65'536});
  map.duration("spin", out.spin, {Duration(0), seconds(1)});
}

// ---- the rest ----

void read_metrics(MapReader& map, MetricsOptions& out) {
  map.text("bind", out.bind, kIpAddress);
  map.port_or_off("port", out.enabled, out.port);
}

void read_segment(MapReader& map, SegmentOptions& out) {
  map.required({"name", "size"});
  map.text("name", out.name, kSegmentName);
  map.size("size", out.size, {1, 64 * kTiB});
  map.choice("rights", out.rights, kRights);
  UniqueNames peers;
  map.each("grants", out.grants, 256, [&](MapReader& grant, Grant& to) {
    grant.required({"peer", "rights"});
    grant.text("peer", to.peer, kNodeName);
    grant.choice("rights", to.rights, kRights);
    peers.check(grant, "peer", to.peer);
  });
}

void read_peer(MapReader& map, PeerOptions& out) {
  map.required({"name", "addresses"});
  map.text("name", out.name, kNodeName);
  map.texts("addresses", out.addresses, kEndpoint, 16);
  if (map.has_empty_list("addresses")) {
    map.error("addresses", "is empty", std::string("allowed: ") + kEndpoint.allowed);
  }
}

}  // namespace

void read_node(MapReader& map, NodeConfig& out) {
  map.text("name", out.name, kNodeName);
  map.choice("log", out.log, kLogLevels);
  map.duration("shutdown_grace", out.shutdown_grace, {Duration(0), minutes(10)});
  map.text("policy", out.policy_file, kFilePath);
  read_policy_file(map, out);
  map.section("control", [&](MapReader& section) { read_control(section, out.control); });
  map.section("tcp", [&](MapReader& section) { read_tcp(section, out.tcp); });
  map.section("executor", [&](MapReader& section) { read_executor(section, out.executor); });
  map.section("health", [&](MapReader& section) { read_health(section, out.executor.health); });
  map.section("workers", [&](MapReader& section) { read_workers(section, out.workers); });
  map.section("metrics", [&](MapReader& section) { read_metrics(section, out.metrics); });
  UniqueNames segments, peers;
  map.each("segments", out.segments, kSegmentsMax, [&](MapReader& item, SegmentOptions& to) {
    read_segment(item, to);
    segments.check(item, "name", to.name);
  });
  map.each("peers", out.peers, kPeersMax, [&](MapReader& item, PeerOptions& to) {
    read_peer(item, to);
    peers.check(item, "name", to.name);
  });
}

}  // namespace spindrift::config
