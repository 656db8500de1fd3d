// Configuration files into option structs. The only reader of YAML and of the
// environment.
//
// Four kinds of file, told apart by their first key: `schema: spindrift/node/1`,
// `.../policy/1`, `.../topology/1`, `.../intent/1` (docs/CONFIG.md). All problems
// of a file, and of the files it names, are found in one go. Files are bounded
// (yaml_tree.h) and nothing is thrown. Thread-safe; no state.
//
//   Loaded<NodeConfig> node = load_node_file("node.yaml");
//   for (const Problem& problem : node.problems) print(problem.to_string());
//   if (!node.ok()) return node.status();
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/builtin_policy.h"
#include "config/intent_file.h"
#include "config/map_reader.h"
#include "config/node_config.h"
#include "config/problem.h"
#include "planner/topology.h"
#include "policies/rule.h"

namespace spindrift::config {

enum class FileKind : std::uint8_t { kNode, kPolicy, kTopology, kIntent };
const char* to_string(FileKind kind);  // "node"
const char* schema_of(FileKind kind);  // "spindrift/node/1"

// `name` stands for the file in messages. Paths inside a text are relative to
// the working directory; inside a file, to the folder of that file.
//
// A node file's policy file is loaded with it; without one the built-in policy
// is used. SPINDRIFT_LOG (debug, info, warn, error, off) overrides `log`.
Loaded<NodeConfig> load_node_file(const std::string& path);
Loaded<NodeConfig> load_node_text(std::string_view text, const std::string& name);
Loaded<policies::PolicySet> load_policy_file(const std::string& path);
Loaded<policies::PolicySet> load_policy_text(std::string_view text, const std::string& name);
Loaded<planner::Topology> load_topology_file(const std::string& path);
Loaded<planner::Topology> load_topology_text(std::string_view text, const std::string& name);
Loaded<IntentFile> load_intent_file(const std::string& path);
Loaded<IntentFile> load_intent_text(std::string_view text, const std::string& name);

// For `spindrift check`: finds the kind by itself; nothing else happens.
struct FileCheck {
  std::optional<FileKind> kind;  // empty when the file does not say it rightly
  std::vector<Problem> problems;
  bool ok() const { return !has_error(problems); }
};
FileCheck check_file(const std::string& path);
FileCheck check_text(std::string_view text, const std::string& name);

// Every key of a kind, in the order in which the reader asks for them.
std::vector<KeyInfo> known_keys(FileKind kind);

}  // namespace spindrift::config
