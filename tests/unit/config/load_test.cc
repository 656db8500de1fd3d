#include "config/load.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "expect.h"
#include "scratch_folder.h"

namespace spindrift::config {
namespace {

using Catch::Contains;

TEST_CASE("the kind of a file is what its schema says") {
  const std::pair<const char*, FileKind> cases[] = {
      {"schema: spindrift/node/1\n", FileKind::kNode},
      {"schema: spindrift/policy/1\nrules: [{ name: a }]\n", FileKind::kPolicy},
      {"schema: spindrift/topology/1\nnodes: []\n", FileKind::kTopology},
      {"schema: spindrift/intent/1\nfrom: a\nto: b\nsize: 1B\n", FileKind::kIntent},
  };
  for (const auto& [text, kind] : cases) {
    INFO(text);
    const FileCheck check = check_text(text, "f");
    expect_problems(check.problems, {});
    CHECK(check.kind == kind);
    CHECK(check.ok());
  }
}

TEST_CASE("a file that does not say what it is gets one clear error") {
  const std::pair<const char*, const char*> cases[] = {
      {"", "1:1: error: the file is empty; begin it with `schema:`"},
      {"# nothing\n", "1:1: error: the file is empty"},
      {"just text\n", "1:1: error: the file holds no `key: value` lines"},
      {"- a\n", "1:1: error: the file holds no `key: value` lines"},
      {"name: a\n",
       "1:1: error: `schema` is missing; allowed: spindrift/node/1, spindrift/policy/1"},
      {"schema: spindrift/nod/1\n",
       "1:9: error: `schema` cannot be \"spindrift/nod/1\"; did you mean \"spindrift/node/1\"?"},
      {"schema: spindrift/node/2\n", "1:9: error: `schema` cannot be \"spindrift/node/2\""},
      {"schema: [a]\n", "1:9: error: `schema` cannot be"},
      {"schema:\n", "1:1: error: `schema` cannot be"},
  };
  for (const auto& [text, expected] : cases) {
    INFO(text);
    const FileCheck check = check_text(text, "f");
    expect_problems(check.problems, {expected});
    CHECK_FALSE(check.kind.has_value());
  }
}

TEST_CASE("a file of another kind is told apart from a broken one") {
  const auto loaded = load_node_text("schema: spindrift/policy/1\nrules: [{ name: a }]\n", "f");
  expect_problems(loaded.problems,
                  {"1:9: error: this is a policy file, where a node file is needed; "
                   "such a file begins with `schema: spindrift/node/1`"});
  expect_problems(load_node_text("name: a\nlgo: info\n", "f").problems,
                  {"1:1: error: `schema` is missing; it is a text, allowed: spindrift/node/1",
                   "2:1: error: unknown key \"lgo\""});
}

TEST_CASE("a file that cannot be read says why") {
  const ScratchFolder folder;
  CHECK_THAT(load_node_file(folder.path("none.yaml")).status().to_string(),
             Contains("none.yaml: error: cannot be read: No such file or directory"));
  CHECK_THAT(load_policy_file(folder.path("")).status().to_string(), Contains("a directory"));
  CHECK_THAT(load_topology_file("/dev/zero").status().to_string(), Contains("not a regular file"));
  CHECK_THAT(load_intent_file("").status().to_string(), Contains("No such file"));
  CHECK_THAT(check_file(std::string("a\0b", 3)).problems.at(0).to_string(),
             Contains("No such file"));
  REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  CHECK_THAT(load_node_file(folder.path("pipe")).status().to_string(),
             Contains("not a regular file"));
  const std::string large = folder.write("large.yaml", std::string(2 << 20, '#'));
  CHECK_THAT(load_node_file(large).status().to_string(), Contains("larger than 1MiB"));
  CHECK(load_node_file(large).status().code() == Code::kConfig);
  if (::geteuid() != 0) {
    folder.write("closed.yaml", "schema: spindrift/node/1\n");
    folder.set_mode("closed.yaml", 0);
    CHECK_THAT(load_node_file(folder.path("closed.yaml")).status().to_string(),
               Contains("Permission denied"));
  }
}

TEST_CASE("a node file brings its policy file, and the problems of that") {
  const ScratchFolder folder;
  folder.write(
      "policy.yaml",
      "schema: spindrift/policy/1\nrules:\n  - { name: a, spry: single }\n  - { name: a }\n");
  const std::string node = folder.write(
      "node.yaml", "schema: spindrift/node/1\nname: a b\npolicy: policy.yaml\nlgo: info\n");
  const auto loaded = load_node_file(node);
  REQUIRE(loaded.problems.size() == 5);
  CHECK(to_string(loaded.problems[0].place) == folder.path("node.yaml:2:7"));
  CHECK(to_string(loaded.problems[1].place) == folder.path("node.yaml:4:1"));
  CHECK(to_string(loaded.problems[2].place) == folder.path("policy.yaml:3:16"));
  CHECK(to_string(loaded.problems[3].place) == folder.path("policy.yaml:4:13"));
  CHECK(loaded.problems[4].severity == Severity::kWarning);
  CHECK(check_file(node).problems.size() == 5);

  folder.write("policy.yaml", "schema: spindrift/policy/1\nrules: [{ name: mine }]\n");
  folder.write("node.yaml", "schema: spindrift/node/1\npolicy: policy.yaml\n");
  const auto good = load_node_file(node);
  expect_problems(good.problems, {});
  CHECK(good.value.policy_file == folder.path("policy.yaml"));
  REQUIRE(good.value.policy.rules.size() == 1);
  CHECK(good.value.policy.rules[0].name == "mine");
  CHECK(good.value.policy.name == folder.path("policy.yaml"));

  folder.write("node.yaml", "schema: spindrift/node/1\npolicy: nowhere.yaml\n");
  expect_problems(load_node_file(node).problems, {"2:9: error: `policy` is unusable: cannot read"});
  folder.write("node.yaml", "schema: spindrift/node/1\npolicy: node.yaml\n");
  expect_problems(load_node_file(node).problems,
                  {"1:9: error: this is a node file, where a policy"});
}

TEST_CASE("the status holds every error, one per line, and no warning") {
  const Status status =
      load_policy_text("schema: spindrift/policy/1\nrules:\n- name: a\n- name: a\n  x: 1\n", "f")
          .status();
  CHECK(status.code() == Code::kConfig);
  CHECK(status.to_string() ==
        "f:4:9: error: rule name \"a\" is already used at f:3:9; names are unique; rename one\n"
        "f:5:3: error: unknown key \"x\" in `rules[]`; allowed: name, match, rails, slice, spray, "
        "weights, attempts_max, hedge, integrity");
}

TEST_CASE("problems without end are counted, not listed") {
  std::string text = "schema: spindrift/node/1\n";
  for (int i = 0; i < 5000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const auto unknown = load_node_text(text, "f").problems;
  CHECK(unknown.size() <= ProblemList::kProblemsMax + 1);
  text = "schema: spindrift/node/1\npeers:\n";
  for (int i = 0; i < 300; ++i) text += "- nope\n";
  const auto wrong = load_node_text(text, "f").problems;
  REQUIRE(wrong.size() == ProblemList::kProblemsMax + 1);
  CHECK(wrong.back().text == "and 200 more problems");
}

// Sets an environment variable while it lives.
class ScopedVariable {
 public:
  explicit ScopedVariable(const char* value) { ::setenv("SPINDRIFT_LOG", value, 1); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { ::unsetenv("SPINDRIFT_LOG"); }
};

TEST_CASE("SPINDRIFT_LOG overrides the log level and nothing else does") {
  const char* text = "schema: spindrift/node/1\nlog: error\n";
  CHECK(load_node_text(text, "f").value.log == LogVerbosity::kError);
  {
    const ScopedVariable variable("debug");
    CHECK(load_node_text(text, "f").value.log == LogVerbosity::kDebug);
  }
  {
    const ScopedVariable variable("");
    CHECK(load_node_text(text, "f").value.log == LogVerbosity::kError);
  }
  const ScopedVariable variable("loud");
  const auto loaded = load_node_text(text, "f");
  REQUIRE(loaded.problems.size() == 1);
  CHECK(
      loaded.problems[0].to_string() ==
      "environment variable SPINDRIFT_LOG: error: cannot be \"loud\"; allowed: debug, info, warn, "
      "error, off");
}

}  // namespace
}  // namespace spindrift::config
