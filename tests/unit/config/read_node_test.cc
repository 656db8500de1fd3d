#include "config/read_node.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "config/load.h"
#include "expect.h"
#include "scratch_folder.h"

namespace spindrift::config {
namespace {

using namespace std::chrono_literals;
using Expected = std::vector<std::string>;

const std::string kHead = "schema: spindrift/node/1\n";

Loaded<NodeConfig> load(const std::string& body) {
  return load_node_text(kHead + body, "f");
}

TEST_CASE("a node file with nothing in it is all defaults") {
  const auto loaded = load("");
  expect_problems(loaded.problems, {});
  CHECK(loaded.value.control.bind == "127.0.0.1");
  CHECK_FALSE(loaded.value.metrics.enabled);
  CHECK(loaded.value.log == LogVerbosity::kWarn);
  CHECK(loaded.value.policy.name == "built-in");
  CHECK(loaded.value.executor.window_max == 128 * kMiB);
}

TEST_CASE("control settings reach their options") {
  const auto loaded = load(R"(
name: n-1
log: debug
shutdown_grace: 3s
control:
  bind: 0.0.0.0
  port: 7400-7410
  advertise: 192.0.2.1
  key: 0123456789abcdef
  previous_key: fedcba9876543210
  insecure: false
  handshake_timeout: 1s
  connect_timeout: 3s
  resend_after: 50ms
  reconnect_min: 10ms
  reconnect_max: 20ms
  message_max: 2MiB
  unacked_max: 99
  sessions_max: 98
  half_open_max: 97
  connections_per_session: 3
)");
  expect_problems(loaded.problems, {});
  const control::ControlOptions& control = loaded.value.control;
  CHECK(loaded.value.name == "n-1");
  CHECK(loaded.value.log == LogVerbosity::kDebug);
  CHECK(loaded.value.shutdown_grace == 3s);
  CHECK(control.bind == "0.0.0.0");
  CHECK(control.port_min == 7400);
  CHECK(control.port_max == 7410);
  CHECK(control.advertise == "192.0.2.1");
  CHECK(control.keys == std::vector<std::string>{"0123456789abcdef", "fedcba9876543210"});
  CHECK(control.handshake_timeout == 1s);
  CHECK(control.connect_timeout == 3s);
  CHECK(control.resend_after == 50ms);
  CHECK(control.reconnect_min == 10ms);
  CHECK(control.reconnect_max == 20ms);
  CHECK(control.message_max == 2 * kMiB);
  CHECK(control.unacked_max == 99);
  CHECK(control.sessions_max == 98);
  CHECK(control.half_open_max == 97);
  CHECK(control.connections_per_session == 3);
}

TEST_CASE("data settings reach their options") {
  const auto loaded = load(R"(
tcp:
  enabled: false
  include: ["eth*", ens1]
  exclude: docker0
  loopback_addresses: [127.0.0.1, "::1"]
  ipv4: false
  ipv6: true
  port: 7500
  connect_timeout: 4s
  congestion: bbr
  notsent_lowat: 128KiB
  ack_every: 64KiB
  inbound_lanes_max: 11
  inbound_reads_max: 12
executor:
  service_time: 1ms
  initial_rate: 10Gbit
  window_max: 64MiB
  explore_after: 200ms
  settle_grace: 70ms
  budget_base: 8s
  budget_rate: 9MB/s
  lanes_max: 13
  transfers_max: 14
  slices_max: 15000
  attempts_per_lane: 16
  posts_per_cycle: 17
workers:
  count: 2
  affinity: [0, 5]
  inbox_capacity: 18
  events_per_cycle: 19
  spin: 20us
metrics:
  bind: 0.0.0.0
  port: 0
)");
  expect_problems(loaded.problems, {});
  const rails::tcp::TcpOptions& tcp = loaded.value.tcp;
  CHECK_FALSE(tcp.enabled);
  CHECK(tcp.include == std::vector<std::string>{"eth*", "ens1"});
  CHECK(tcp.exclude == std::vector<std::string>{"docker0"});
  CHECK(tcp.loopback_addresses == std::vector<std::string>{"127.0.0.1", "::1"});
  CHECK_FALSE(tcp.ipv4);
  CHECK(tcp.port_min == 7500);
  CHECK(tcp.port_max == 7500);
  CHECK(tcp.connect_timeout == 4s);
  CHECK(tcp.congestion == "bbr");
  CHECK(tcp.notsent_lowat == 128 * kKiB);
  CHECK(tcp.ack_every == 64 * kKiB);
  CHECK(tcp.inbound_lanes_max == 11);
  CHECK(tcp.inbound_reads_max == 12);
  const executor::ExecutorOptions& executor = loaded.value.executor;
  CHECK(executor.service_time == 1ms);
  CHECK(executor.initial_rate == Rate{1'250'000'000});
  CHECK(executor.window_max == 64 * kMiB);
  CHECK(executor.explore_after == 200ms);
  CHECK(executor.settle_grace == 70ms);
  CHECK(executor.budget_base == 8s);
  CHECK(executor.budget_rate == Rate{9'000'000});
  CHECK(executor.lanes_max == 13);
  CHECK(executor.transfers_max == 14);
  CHECK(executor.slices_max == 15000);
  CHECK(executor.attempts_per_lane == 16);
  CHECK(executor.posts_per_cycle == 17);
  const executor::WorkerOptions& workers = loaded.value.workers;
  CHECK(workers.count == 2);
  CHECK(workers.affinity == std::vector<std::uint32_t>{0, 5});
  CHECK(workers.inbox_capacity == 18);
  CHECK(workers.events_per_cycle == 19);
  CHECK(workers.spin == 20us);
  CHECK(loaded.value.metrics.enabled);
  CHECK(loaded.value.metrics.bind == "0.0.0.0");
  CHECK(loaded.value.metrics.port == 0);
}

TEST_CASE("segments and peers are read") {
  const auto loaded = load(R"(
segments:
  - name: kv/0
    size: 64MiB
    rights: read
    grants:
      - { peer: a, rights: write }
      - { peer: b, rights: local }
  - { name: weights, size: 1B }
peers:
  - { name: a, addresses: ["10.0.0.1:1", "[fd00::1]:65535"] }
  - { name: b, addresses: 10.0.0.2:7400 }
)");
  expect_problems(loaded.problems, {});
  REQUIRE(loaded.value.segments.size() == 2);
  const SegmentOptions& kv = loaded.value.segments[0];
  CHECK(kv.name == "kv/0");
  CHECK(kv.size == 64 * kMiB);
  CHECK(kv.rights == Rights::kRemoteRead);
  REQUIRE(kv.grants.size() == 2);
  CHECK(kv.grants[0].peer == "a");
  CHECK(kv.grants[0].rights == Rights::kRemoteWrite);
  CHECK(kv.grants[1].rights == Rights::kLocal);
  CHECK(loaded.value.segments[1].rights == Rights::kRemoteReadWrite);
  REQUIRE(loaded.value.peers.size() == 2);
  CHECK(loaded.value.peers[0].addresses.size() == 2);
  CHECK(loaded.value.peers[1].addresses == std::vector<std::string>{"10.0.0.2:7400"});
}

struct Case {
  std::string body;
  Expected expected;
};

TEST_CASE("every value is checked for type, unit and range") {
  const Case cases[] = {
      {"name: a b\n", {"2:7: error: `name` cannot be \"a b\"; allowed: 1 to 64 letters"}},
      {"name: [a]\n", {"2:7: error: `name` has a list where a text should be"}},
      {"name:\n", {"2:1: error: `name` has no value"}},
      {"log: wran\n",
       {"2:6: error: `log` cannot be \"wran\"; did you mean \"warn\"? allowed: debug"}},
      {"shutdown_grace: 5\n",
       {"2:17: error: `shutdown_grace`: \"5\" has no unit; allowed: a number"}},
      {"shutdown_grace: 11min\n",
       {"2:17: error: `shutdown_grace` cannot be \"11min\"; allowed: 0 to 10min"}},
      {"tcp: { ipv4: yes }\n", {"2:14: error: `tcp.ipv4` is \"yes\"; allowed: true or false"}},
      {"tcp: { ipv4: \"true\" }\n", {"2:14: error: `tcp.ipv4`"}},
      {"tcp: { ack_every: 1KiB }\n",
       {"2:19: error: `tcp.ack_every` cannot be \"1KiB\"; allowed: 4KiB to 64MiB"}},
      {"tcp: { include: [a, [b]] }\n", {"2:21: error: `tcp.include` has a list"}},
      {"tcp: { loopback_addresses: 10.0.0.1 }\n",
       {"2:28: error: `tcp.loopback_addresses` cannot be"}},
      {"tcp: { ipv4: false, ipv6: false }\n",
       {"2:27: error: `tcp.ipv6` is false, and so is `ipv4`"}},
      {"tcp: 5\n", {"2:6: error: `tcp` has a single value where `key: value` lines should be"}},
      {"executor: { initial_rate: 1GB }\n",
       {"2:27: error: `executor.initial_rate`: \"1GB\" has the unit"}},
      {"executor: { initial_rate: 1B/s }\n", {"2:27: error: `executor.initial_rate` cannot be"}},
      {"executor: { lanes_max: 0 }\n",
       {"2:24: error: `executor.lanes_max` cannot be 0; allowed: 2 to 65536"}},
      {"executor: { lanes_max: \"5\" }\n", {"2:24: error: `executor.lanes_max` is the text \"5\""}},
      {"executor: { lanes_max: 5.5 }\n", {"2:24: error: `executor.lanes_max` is the text \"5.5\""}},
      {"executor: { lanes_max: 99999999999999999999 }\n", {"2:24: error: `executor.lanes_max`"}},
      {"health: { hold_min: 11s }\n", {"2:21: error: `health.hold_min` does not fit"}},
      {"control: { reconnect_max: 1ms }\n", {"2:27: error: `control.reconnect_max` does not fit"}},
      {"control: { port: 70000 }\n",
       {"2:18: error: `control.port` cannot be \"70000\"; allowed: 0 to 65535"}},
      {"control: { port: 20-10 }\n",
       {"2:18: error: `control.port` is the range \"20-10\", which ends before"}},
      {"control: { port: 0-10 }\n", {"2:18: error: `control.port` cannot be \"0-10\""}},
      {"control: { port: -1 }\n", {"2:18: error: `control.port` cannot be \"-1\""}},
      {"control: { bind: localhost }\n",
       {"2:18: error: `control.bind` cannot be \"localhost\"; allowed: an IP"}},
      {"workers: { affinity: [1] , count: 2 }\n",
       {"2:22: error: `workers.affinity` does not fit: CPUs 1, workers 2"}},
      {"workers: { affinity: [1, 1] , count: 2 }\n",
       {"2:22: warning: `workers.affinity` names a CPU twice"}},
      {"workers: { affinity: [1024] }\n", {"2:23: error: `workers.affinity` cannot be 1024"}},
      {"workers: { affinity: 1 }\n",
       {"2:22: error: `workers.affinity` is a single value; allowed: a list"}},
      {"metrics: { port: on }\n", {"2:18: error: `metrics.port` is the text \"on\""}},
      {"segments: [{ name: a }]\n", {"2:12: error: `segments[].size` is missing"}},
      {"segments: [{ name: a, size: 0 }]\n",
       {"2:29: error: `segments[].size` cannot be \"0\"; allowed: 1B"}},
      {"segments: [a]\n", {"2:12: error: `segments` has a single value"}},
      {"peers: [{ name: a, addresses: [] }]\n", {"2:31: error: `peers[].addresses` is empty"}},
      {"peers: [{ name: a, addresses: 10.0.0.1 }]\n",
       {"2:31: error: `peers[].addresses` cannot be"}},
      {"peers: [{ name: a, addresses: \"10.0.0.1:0\" }]\n",
       {"2:31: error: `peers[].addresses` cannot be"}},
      {"peers: [{ name: a, addresses: \"fd00::1:7400\" }]\n",
       {"2:31: error: `peers[].addresses` cannot be"}},
  };
  for (const Case& c : cases) {
    INFO(c.body);
    expect_problems(load(c.body).problems, c.expected);
  }
}

TEST_CASE("unknown and repeated keys are errors with a suggestion") {
  const Case cases[] = {
      {"contrl: {}\n",
       {"2:1: error: unknown key \"contrl\"; did you mean \"control\"? allowed: schema, name"}},
      {"workers: { affinty: [1] }\n",
       {"2:12: error: unknown key \"affinty\" in `workers`; did you mean \"affinity\"? allowed: "
        "count, affinity"}},
      {"tcp: { window_max: 1MiB }\n",
       {"2:8: error: unknown key \"window_max\" in `tcp`; did you mean \"executor.window_max\"?"}},
      {"workers: { colour: red }\n", {"2:12: error: unknown key \"colour\" in `workers`; "}},
      {"name: a\nlog: info\nname: b\n",
       {"4:1: error: `name` is given twice; the first one is in line 2"}},
      {"<<: {}\n", {"2:1: error: unknown key \"<<\""}},
  };
  for (const Case& c : cases) {
    INFO(c.body);
    expect_problems(load(c.body).problems, c.expected);
  }
}

TEST_CASE("two of one name are errors that name both places") {
  expect_problems(load(R"(segments:
  - { name: kv, size: 1B }
  - { name: kv, size: 1B }
peers:
  - { name: a, addresses: "10.0.0.1:1" }
  - { name: a, addresses: "10.0.0.1:1" }
)")
                      .problems,
                  {"4:13: error: `segments[].name` \"kv\" is already used at f:3:13",
                   "7:13: error: `peers[].name` \"a\" is already used at f:6:13"});
  expect_problems(
      load("segments: [{ name: a, size: 1B, grants: [{ peer: p, rights: read }, { peer: p, rights: "
           "write }] }]\n")
          .problems,
      {"2:77: error: `segments[].grants[].peer` \"p\" is already used at f:2:50"});
}

TEST_CASE("all problems come in one go") {
  expect_problems(load("name: a b\nlog: x\ncontrol: { port: x, bnid: 1 }\n").problems,
                  {"2:7: error: `name`", "3:6: error: `log`", "4:18: error: `control.port`",
                   "4:21: error: unknown key \"bnid\""});
}

TEST_CASE("an address that others reach needs a key, or the word") {
  expect_problems(load("control: { bind: 0.0.0.0 }\n").problems,
                  {"2:18: error: `control.bind` is 0.0.0.0, which others reach, and there is no "
                   "cluster key; add `key_file`, or say `insecure: true`"});
  expect_problems(load("control: { bind: \"::\" }\n").problems, {"2:18: error: `control.bind`"});
  for (const char* fine : {"bind: 127.0.0.9", "bind: \"::1\"", "bind: 0.0.0.0, insecure: true",
                           "bind: 10.0.0.1, key: 0123456789abcdef", "key: 0123456789abcdef"}) {
    INFO(fine);
    expect_problems(load("control: { " + std::string(fine) + " }\n").problems, {});
  }
}

TEST_CASE("keys that cannot be meant are errors, and never shown") {
  const Case cases[] = {
      {"key: hunter2", {"2:17: error: `control.key` cannot be a text of 7 bytes; allowed: 16 to"}},
      {"key: 0123456789abcdef, insecure: true",
       {"2:45: error: `control.insecure` is true, and there"}},
      {"previous_key: 0123456789abcdef", {"2:26: error: `control.previous_key` is given without"}},
      {"key: 0123456789abcdef, previous_key: 0123456789abcdef",
       {"2:49: warning: `control.previous_key` is the same as the current key"}},
      {"key: 0123456789abcdef, key_file: x",
       {"2:45: error: `control.key_file` is given beside `key`"}},
  };
  for (const Case& c : cases) {
    INFO(c.body);
    const auto loaded = load("control: { " + c.body + " }\n");
    expect_problems(loaded.problems, c.expected);
    CHECK(loaded.problems[0].to_string().find("hunter2") == std::string::npos);
  }
}

TEST_CASE("keys are read from files beside the node file") {
  const ScratchFolder folder;
  folder.write("good.key", "0123456789abcdef\n");
  folder.set_mode("good.key", 0600);
  folder.write("open.key", "0123456789abcdef");
  folder.set_mode("open.key", 0644);
  folder.write("short.key", "abc\n");
  folder.write("large.key", std::string(5000, 'x'));
  const auto with = [&](const std::string& key_file) {
    return load_node_file(folder.write(
        "node.yaml", kHead + "control: { bind: 0.0.0.0, key_file: " + key_file + " }\n"));
  };
  const auto good = with("good.key");
  expect_problems(good.problems, {});
  CHECK(good.value.control.keys == std::vector<std::string>{"0123456789abcdef"});
  expect_problems(with(folder.path("good.key")).problems, {});
  expect_problems(with("open.key").problems,
                  {"2:37: warning: `control.key_file` names a file that every user"});
  expect_problems(with("short.key").problems,
                  {"2:37: error: `control.key_file` names a file with a key of 3 characters"});
  expect_problems(with("large.key").problems, {"2:37: error: `control.key_file` is unusable"});
  expect_problems(with("none.key").problems,
                  {"2:37: error: `control.key_file` is unusable: cannot read"});
  expect_problems(with("/dev/zero").problems, {"2:37: error: `control.key_file` is unusable"});
}

}  // namespace
}  // namespace spindrift::config
