// Reads one YAML map into an options struct, declaratively: each key is asked
// for once, with where it goes and what it accepts, and everything else follows
// from that: type and range errors, unknown and duplicate keys with suggestions,
// and the list of all keys that docs/CONFIG.md is checked against.
//
//   void read_metrics(MapReader& map, MetricsOptions& out) {
//     map.text("bind", out.bind, kIpAddress);
//     map.size("buffer", out.buffer, {4 * kKiB, kMiB});
//   }
//
// What the target holds before is the default, and stays when the key is absent
// or wrong. Problems go into the context; nothing is thrown. A reader without a
// map (of an absent section, when keys are listed) reports nothing.
// Single-threaded. The context and the tree outlive the reader.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/units.h"
#include "config/problem.h"
#include "config/yaml_tree.h"

namespace spindrift::config {

// One key as people may write it.
struct KeyInfo {
  std::string path;           // "rules[].slice.min"
  std::string type;           // "size"
  std::string default_value;  // "64KiB"; "required"
  std::string allowed;        // "4KiB to 1GiB"
};

// Shared by all readers of one file.
struct ReadContext {
  std::string file;
  std::string folder;  // relative paths in the file start here; empty: working directory
  ProblemList problems;
  std::vector<Problem> elsewhere;                  // of other files that this one names
  const std::vector<KeyInfo>* all_keys = nullptr;  // of this kind of file, for suggestions
  std::vector<KeyInfo>* catalogue = nullptr;       // when set, keys are listed instead of read
};

// Which texts a key accepts. `allowed` completes "allowed: ".
struct TextRule {
  const char* allowed;
  bool (*valid)(std::string_view text);
  bool secret = false;  // never shown in messages
};

template <typename T>
struct Range {
  T min, max;  // both included
};

template <typename T>
struct Choice {
  const char* name;
  T value;
};

class MapReader {
 public:
  // `map` may be null: see above. It must be of kind kMap otherwise.
  MapReader(ReadContext& context, const YamlNode* map, std::string path);

  ReadContext& context() const { return context_; }
  // These must be there. Call before reading them.
  void required(std::initializer_list<const char*> keys);
  bool has(std::string_view key) const { return find(key) != nullptr; }
  bool has_empty_list(std::string_view key) const;
  SourcePlace place() const;
  SourcePlace place(std::string_view key) const;  // of its value; of the map when absent
  void error(std::string_view key, std::string text, std::string hint = {});
  void warning(std::string_view key, std::string text, std::string hint = {});

  void flag(const char* key, bool& out);
  void flag(const char* key, std::optional<bool>& out);
  void text(const char* key, std::string& out, const TextRule& rule);
  // A list, or a single text that stands for a list of one.
  void texts(const char* key, std::vector<std::string>& out, const TextRule& rule,
             std::size_t items_max);
  void size(const char* key, std::uint64_t& out, Range<std::uint64_t> range);
  void size(const char* key, std::optional<std::uint64_t>& out, Range<std::uint64_t> range);
  void rate(const char* key, Rate& out, Range<Rate> range);
  void duration(const char* key, Duration& out, Range<Duration> range);
  // One port, or a range "7400-7410"; 0 is any free one.
  void ports(const char* key, std::uint16_t& min, std::uint16_t& max);
  void port_or_off(const char* key, bool& on, std::uint16_t& port);

  template <typename T>
  void number(const char* key, T& out, Range<T> range);
  template <typename T>
  void numbers(const char* key, std::vector<T>& out, Range<T> range, std::size_t items_max);
  template <typename T, std::size_t N>
  void choice(const char* key, T& out, const Choice<T> (&choices)[N]);
  template <typename T, std::size_t N>
  void choice(const char* key, std::optional<T>& out, const Choice<T> (&choices)[N]);

  // `read(MapReader&)` reads the map under `key`, if there is one.
  template <typename Read>
  void section(const char* key, Read read);
  // `read(MapReader&, T&)` reads each map of the list under `key`.
  template <typename T, typename Read>
  void each(const char* key, std::vector<T>& out, std::size_t items_max, Read read);

  // Reports unknown and duplicate keys; once all keys have been asked for.
  void finish();

 private:
  using Integer = std::int64_t;

  // Declares the key and gives its value, or null when it is absent.
  const YamlNode* ask(const char* key, KeyInfo info);
  const YamlNode* find(std::string_view key) const;
  const YamlNode* ask_scalar(const char* key, KeyInfo info);
  const YamlNode* ask_list(const char* key, KeyInfo info, std::size_t items_max);
  std::string full(std::string_view key) const;
  std::string elsewhere(const std::string& name) const;
  void report(Severity severity, int line, int column, std::string text, std::string hint);
  void wrong(const YamlNode& at, const char* key, std::string text, std::string hint);
  void report_unknown(const YamlNode::Key& key);
  void report_status(const YamlNode& at, const char* key, const Status& status);
  bool checked_text(const YamlNode& at, const char* key, const TextRule& rule);
  std::optional<bool> read_flag(const char* key, std::string default_value);
  std::optional<std::uint64_t> read_size(const char* key, std::string default_value,
                                         Range<std::uint64_t> range);
  std::optional<Integer> read_number(const char* key, Integer value, Range<Integer> range);
  std::optional<Integer> checked_number(const YamlNode& at, const char* key, Range<Integer> range);
  std::vector<Integer> read_numbers(const char* key, Range<Integer> range, std::size_t items_max);
  std::optional<std::size_t> read_choice(const char* key, std::string default_value,
                                         const std::vector<std::string>& names);
  const YamlNode* ask_map(const char* key);
  const YamlNode* ask_maps(const char* key, std::size_t items_max);
  bool is_map(const YamlNode& item, const char* key);

  ReadContext& context_;
  const YamlNode* map_;
  const std::string path_;
  std::vector<std::string> known_;  // in the order asked for
  std::set<std::string, std::less<>> required_;
};

// ---- templates: conversions around the untyped methods ----

template <typename T>
void MapReader::number(const char* key, T& out, Range<T> range) {
  const auto value =
      read_number(key, static_cast<Integer>(out),
                  {static_cast<Integer>(range.min), static_cast<Integer>(range.max)});
  if (value) out = static_cast<T>(*value);
}

template <typename T>
void MapReader::numbers(const char* key, std::vector<T>& out, Range<T> range,
                        std::size_t items_max) {
  for (const Integer value : read_numbers(
           key, {static_cast<Integer>(range.min), static_cast<Integer>(range.max)}, items_max)) {
    out.push_back(static_cast<T>(value));
  }
}

template <typename T, std::size_t N>
void MapReader::choice(const char* key, T& out, const Choice<T> (&choices)[N]) {
  std::vector<std::string> names;
  std::string default_value;
  for (const Choice<T>& choice : choices) {
    names.emplace_back(choice.name);
    if (choice.value == out && default_value.empty()) default_value = choice.name;
  }
  if (const auto index = read_choice(key, default_value, names)) out = choices[*index].value;
}

template <typename T, std::size_t N>
void MapReader::choice(const char* key, std::optional<T>& out, const Choice<T> (&choices)[N]) {
  std::vector<std::string> names;
  for (const Choice<T>& choice : choices) names.emplace_back(choice.name);
  if (const auto index = read_choice(key, "any", names)) out = choices[*index].value;
}

template <typename Read>
void MapReader::section(const char* key, Read read) {
  const YamlNode* map = ask_map(key);
  if (!map && !context_.catalogue) return;
  MapReader inner(context_, map, full(key));
  read(inner);
  inner.finish();
}

template <typename T, typename Read>
void MapReader::each(const char* key, std::vector<T>& out, std::size_t items_max, Read read) {
  const YamlNode* list = ask_maps(key, items_max);
  const std::string path = full(key) + "[]";
  if (context_.catalogue) {
    MapReader inner(context_, nullptr, path);
    T unused{};
    read(inner, unused);
    return;
  }
  if (!list) return;
  for (const YamlNode& item : list->items) {
    if (!is_map(item, key)) continue;
    MapReader inner(context_, &item, path);
    read(inner, out.emplace_back());
    inner.finish();
  }
}

}  // namespace spindrift::config
