// YAML text as a plain tree with places, within bounds. The one file that knows
// the YAML library is yaml_tree.cc.
//
// What a configuration file does not need is refused, because it is where YAML
// surprises people or bombs hide: anchors and aliases, tags, several documents,
// keys that are not plain text. Duplicate keys stay in the tree; the reader
// reports them. Never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"

namespace spindrift::config {

inline constexpr std::size_t kFileBytesMax = 1024 * 1024;  // a policy of 1,000 rules is 300 KB
inline constexpr std::size_t kNodesMax = 65536;            // bounds memory to some 10 MB
inline constexpr std::size_t kDepthMax = 32;               // the deepest schema has 6

enum class YamlKind : std::uint8_t { kNull, kScalar, kList, kMap };

struct YamlNode {
  struct Key {
    std::string text;
    int line = 0;
    int column = 0;
  };

  YamlKind kind = YamlKind::kNull;
  int line = 0;  // from 1
  int column = 0;
  bool quoted = false;          // a scalar in quotes is text, never a number
  std::string text;             // of a scalar
  std::vector<Key> keys;        // of a map; keys[i] names items[i]
  std::vector<YamlNode> items;  // of a map or list
};

// Nothing, and why in `problems`, when the text is not usable YAML.
std::optional<YamlNode> parse_yaml(std::string_view text, const std::string& file,
                                   ProblemList& problems);

}  // namespace spindrift::config
