#include "config/load.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "config/read_intent.h"
#include "config/read_node.h"
#include "config/read_policy.h"
#include "config/read_topology.h"
#include "config/suggest.h"
#include "config/text_file.h"
#include "config/yaml_tree.h"

namespace spindrift::config {
namespace {

constexpr FileKind kKinds[] = {FileKind::kNode, FileKind::kPolicy, FileKind::kTopology,
                               FileKind::kIntent};

// A text and how it is called.
struct Source {
  std::string_view text;
  std::string name;
  std::string folder;
};

std::vector<std::string> schemas() {
  std::vector<std::string> names;
  for (const FileKind kind : kKinds) names.emplace_back(schema_of(kind));
  return names;
}

template <FileKind kind>
TextRule schema_rule() {
  return {schema_of(kind), [](std::string_view text) { return text == schema_of(kind); }};
}

TextRule schema_rule(FileKind kind) {
  switch (kind) {
    case FileKind::kNode:
      return schema_rule<FileKind::kNode>();
    case FileKind::kPolicy:
      return schema_rule<FileKind::kPolicy>();
    case FileKind::kTopology:
      return schema_rule<FileKind::kTopology>();
    case FileKind::kIntent:
      return schema_rule<FileKind::kIntent>();
  }
  return schema_rule<FileKind::kNode>();
}

const YamlNode* find_key(const YamlNode& map, std::string_view key) {
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    if (map.keys[i].text == key) return &map.items[i];
  }
  return nullptr;
}

std::optional<FileKind> kind_of(const YamlNode& root) {
  const YamlNode* schema = find_key(root, "schema");
  if (!schema || schema->kind != YamlKind::kScalar) return {};
  for (const FileKind kind : kKinds) {
    if (schema->text == schema_of(kind)) return kind;
  }
  return {};
}

// The tree of a text whose top is a map.
std::optional<YamlNode> parse_map(const Source& source, ProblemList& problems) {
  auto root = parse_yaml(source.text, source.name, problems);
  if (!root || root->kind == YamlKind::kMap) return root;
  problems.add({.place = {source.name, root->line > 0 ? root->line : 1, 1},
                .text = root->kind == YamlKind::kNull ? "the file is empty"
                                                      : "the file holds no `key: value` lines",
                .hint = "begin it with `schema:` and one of " + joined(schemas())});
  return std::nullopt;
}

// False when the file is of another kind, and what it holds would be gibberish.
bool check_kind(const YamlNode& root, FileKind wanted, ReadContext& context) {
  const auto kind = kind_of(root);
  if (!kind || *kind == wanted) return true;
  const YamlNode* schema = find_key(root, "schema");
  context.problems.add(
      {.place = {context.file, schema->line, schema->column},
       .text = std::string("this is a ") + to_string(*kind) + " file, where a " +
               to_string(wanted) + " file is needed",
       .hint = std::string("such a file begins with `schema: ") + schema_of(wanted) + "`"});
  return false;
}

// How one kind of file is read.
template <typename T>
struct Reader {
  FileKind kind;
  void (*read)(MapReader&, T&);

  void operator()(MapReader& map, T& out) const {
    std::string schema;
    map.required({"schema"});
    map.text("schema", schema, schema_rule(kind));
    read(map, out);
    map.finish();
  }
};
constexpr Reader<NodeConfig> kNodeReader{FileKind::kNode, read_node};
constexpr Reader<policies::PolicySet> kPolicyReader{FileKind::kPolicy, read_policy};
constexpr Reader<planner::Topology> kTopologyReader{FileKind::kTopology, read_topology};
constexpr Reader<IntentFile> kIntentReader{FileKind::kIntent, read_intent};

template <typename T>
std::vector<KeyInfo> list_keys(const Reader<T>& reader) {
  std::vector<KeyInfo> keys;
  ReadContext context{.catalogue = &keys};
  MapReader map(context, nullptr, "");
  T unused{};
  reader(map, unused);
  return keys;
}

template <typename T>
Loaded<T> load(const Source& source, const Reader<T>& reader) {
  static const std::vector<KeyInfo> kAllKeys = list_keys(reader);
  Loaded<T> loaded;
  ReadContext context{.file = source.name, .folder = source.folder, .all_keys = &kAllKeys};
  const auto root = parse_map(source, context.problems);
  if (root && check_kind(*root, reader.kind, context)) {
    MapReader map(context, &*root, "");
    reader(map, loaded.value);
  }
  loaded.problems = context.problems.take();
  std::move(context.elsewhere.begin(), context.elsewhere.end(),
            std::back_inserter(loaded.problems));
  return loaded;
}

Problem unreadable(const std::string& path, const Status& status) {
  const Status::Detail& detail = status.detail();
  return {.place = {path.empty() ? "the empty path" : path},
          .text = "cannot be read: " + detail.why};
}

template <typename Load>
auto load_file(const std::string& path, Load load_source) {
  using Answer = decltype(load_source(Source{}));
  const Result<TextFile> file = read_text_file(path, kFileBytesMax);
  if (file) return load_source(Source{file->text, path, folder_of(path)});
  Answer answer;
  answer.problems.push_back(unreadable(path, file.status()));
  return answer;
}

// ---- the kinds ----

void apply_environment(NodeConfig& config, std::vector<Problem>& problems) {
  const char* log = std::getenv("SPINDRIFT_LOG");
  if (!log || *log == '\0') return;
  constexpr std::pair<const char*, LogVerbosity> kLevels[] = {{"debug", LogVerbosity::kDebug},
                                                              {"info", LogVerbosity::kInfo},
                                                              {"warn", LogVerbosity::kWarn},
                                                              {"error", LogVerbosity::kError},
                                                              {"off", LogVerbosity::kOff}};
  for (const auto& [name, level] : kLevels) {
    if (name == std::string_view(log)) {
      config.log = level;
      return;
    }
  }
  problems.push_back({.place = {"environment variable SPINDRIFT_LOG"},
                      .text = "cannot be " + quoted(log),
                      .hint = "allowed: debug, info, warn, error, off"});
}

Loaded<NodeConfig> load_node(const Source& source) {
  Loaded<NodeConfig> loaded = load(source, kNodeReader);
  if (loaded.value.policy_file.empty()) loaded.value.policy = builtin_policy();
  apply_environment(loaded.value, loaded.problems);
  return loaded;
}
Loaded<policies::PolicySet> load_policy(const Source& source) {
  return load(source, kPolicyReader);
}
Loaded<planner::Topology> load_topology(const Source& source) {
  return load(source, kTopologyReader);
}
Loaded<IntentFile> load_intent(const Source& source) {
  return load(source, kIntentReader);
}

FileCheck unknown_kind(const YamlNode& root, const Source& source) {
  const YamlNode* schema = find_key(root, "schema");
  const std::string written = schema ? schema->text : "";
  const std::string nearest = closest(written, schemas());
  FileCheck check;
  check.problems.push_back(
      {.place = {source.name, schema ? schema->line : root.line,
                 schema ? schema->column : root.column},
       .text = schema ? "`schema` cannot be " + quoted(written) : "`schema` is missing",
       .hint = (nearest.empty() ? "" : "did you mean \"" + nearest + "\"? ") +
               std::string("allowed: ") + joined(schemas())});
  return check;
}

FileCheck check_source(const Source& source) {
  ProblemList problems;
  const auto root = parse_map(source, problems);
  if (!root) return {.problems = problems.take()};
  const auto kind = kind_of(*root);
  if (!kind) return unknown_kind(*root, source);
  switch (*kind) {
    case FileKind::kNode:
      return {kind, load_node(source).problems};
    case FileKind::kPolicy:
      return {kind, load_policy(source).problems};
    case FileKind::kTopology:
      return {kind, load_topology(source).problems};
    case FileKind::kIntent:
      return {kind, load_intent(source).problems};
  }
  return {};
}

}  // namespace

const char* to_string(FileKind kind) {
  switch (kind) {
    case FileKind::kNode:
      return "node";
    case FileKind::kPolicy:
      return "policy";
    case FileKind::kTopology:
      return "topology";
    case FileKind::kIntent:
      return "intent";
  }
  return "unknown";
}

const char* schema_of(FileKind kind) {
  switch (kind) {
    case FileKind::kNode:
      return "spindrift/node/1";
    case FileKind::kPolicy:
      return "spindrift/policy/1";
    case FileKind::kTopology:
      return "spindrift/topology/1";
    case FileKind::kIntent:
      return "spindrift/intent/1";
  }
  return "unknown";
}

Loaded<NodeConfig> load_node_file(const std::string& path) {
  return load_file(path, load_node);
}
Loaded<NodeConfig> load_node_text(std::string_view text, const std::string& name) {
  return load_node({text, name, ""});
}
Loaded<policies::PolicySet> load_policy_file(const std::string& path) {
  return load_file(path, load_policy);
}
Loaded<policies::PolicySet> load_policy_text(std::string_view text, const std::string& name) {
  return load_policy({text, name, ""});
}
Loaded<planner::Topology> load_topology_file(const std::string& path) {
  return load_file(path, load_topology);
}
Loaded<planner::Topology> load_topology_text(std::string_view text, const std::string& name) {
  return load_topology({text, name, ""});
}
Loaded<IntentFile> load_intent_file(const std::string& path) {
  return load_file(path, load_intent);
}
Loaded<IntentFile> load_intent_text(std::string_view text, const std::string& name) {
  return load_intent({text, name, ""});
}

FileCheck check_file(const std::string& path) {
  return load_file(path, check_source);
}
FileCheck check_text(std::string_view text, const std::string& name) {
  return check_source({text, name, ""});
}

std::vector<KeyInfo> known_keys(FileKind kind) {
  switch (kind) {
    case FileKind::kNode:
      return list_keys(kNodeReader);
    case FileKind::kPolicy:
      return list_keys(kPolicyReader);
    case FileKind::kTopology:
      return list_keys(kTopologyReader);
    case FileKind::kIntent:
      return list_keys(kIntentReader);
  }
  return {};
}

}  // namespace spindrift::config
