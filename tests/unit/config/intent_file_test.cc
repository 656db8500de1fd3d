#include "config/intent_file.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "config/load.h"
#include "expect.h"

namespace spindrift::config {
namespace {

Loaded<IntentFile> load(const std::string& body) {
  return load_intent_text("schema: spindrift/intent/1\n" + body, "f");
}

planner::Topology topology() {
  return {.nodes = {{.name = "a", .host = "h", .gpu_numa = {0, 1}},
                    {.name = "b", .host = "h"},
                    {.name = "c"}}};
}

TEST_CASE("an intent file becomes a request to the planner") {
  const auto loaded = load(R"(from: a
to: b
operation: read
class: kv
size: 2GiB
descriptors: 512
source: cuda:1
destination: host
destination_numa: 1
integrity: crc32c
)");
  expect_problems(loaded.problems, {});
  CHECK(loaded.value.initiator() == "b");
  const auto request = to_plan_request(loaded.value, topology());
  REQUIRE(request.ok());
  CHECK(request->operation == Operation::kRead);
  CHECK(request->klass == "kv");
  CHECK(request->bytes == 2 * kGiB);
  CHECK(request->descriptors == 512);
  CHECK(request->source == Location{MemoryKind::kCuda, 1});
  CHECK(request->destination == Location{});
  CHECK(request->source_numa == 1);  // that of the GPU
  CHECK(request->destination_numa == 1);
  CHECK(request->same_host);
  CHECK(request->peer == "a");
  CHECK(request->integrity == Integrity::kCrc32c);
}

TEST_CASE("who submits depends on the operation, where the bytes are does not") {
  const auto loaded = load("from: a\nto: c\nsize: 1KiB\n");
  expect_problems(loaded.problems, {});
  CHECK(loaded.value.initiator() == "a");
  const auto request = to_plan_request(loaded.value, topology());
  REQUIRE(request.ok());
  CHECK(request->peer == "c");
  CHECK(request->klass == "default");
  CHECK_FALSE(request->same_host);
  CHECK(request->source_numa == -1);
}

TEST_CASE("a node or GPU that the topology does not have is not found") {
  IntentFile intent{.from = "a", .to = "x", .size = 1};
  CHECK(to_plan_request(intent, topology()).code() == Code::kNotFound);
  CHECK_THAT(to_plan_request(intent, topology()).status().to_string(),
             Catch::Contains("it has: a, b, c"));
  intent.to = "c";
  intent.source = {MemoryKind::kCuda, 2};
  CHECK(to_plan_request(intent, topology()).code() == Code::kNotFound);
  intent.source = {};
  intent.destination = {MemoryKind::kCuda, 7};  // c says nothing about its GPUs
  CHECK(to_plan_request(intent, topology()).ok());
}

TEST_CASE("what is wrong in an intent file is an error") {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"",
       {"1:1: error: `from` is missing", "1:1: error: `to` is missing",
        "1:1: error: `size` is missing"}},
      {"from: a\nto: a\nsize: 1B\n", {"3:5: error: `to` is the same node as `from`"}},
      {"from: a\nto: b\nsize: 10\n", {"4:7: error: `size`: \"10\" has no unit"}},
      {"from: a\nto: b\nsize: 0\n", {"4:7: error: `size` cannot be \"0\""}},
      {"from: a\nto: b\nsize: 4B\ndescriptors: 5\n",
       {"5:14: error: `descriptors` are more than the bytes"}},
      {"from: a\nto: b\nsize: 4B\nsource: cuda\n",
       {"5:9: error: `source` cannot be \"cuda\"; allowed: host, cuda:N"}},
      {"from: a\nto: b\nsize: 4B\nsource: cuda:1024\n", {"5:9: error: `source` cannot be"}},
      {"from: a\nto: b\nsize: 4B\nsource: cuda:-1\n", {"5:9: error: `source` cannot be"}},
  };
  for (const auto& [body, expected] : cases) {
    INFO(body);
    expect_problems(load(body).problems, expected);
  }
}

}  // namespace
}  // namespace spindrift::config
