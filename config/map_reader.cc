#include "config/map_reader.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "config/suggest.h"
#include "config/units.h"

namespace spindrift::config {
namespace {

const char* kind_name(const YamlNode& node) {
  switch (node.kind) {
    case YamlKind::kNull:
      return "nothing";
    case YamlKind::kScalar:
      return "a single value";
    case YamlKind::kList:
      return "a list";
    case YamlKind::kMap:
      return "a section of keys";
  }
  return "something else";
}

std::string range_text(const std::string& min, const std::string& max) {
  return min + " to " + max;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return {};
  return value;
}

}  // namespace

MapReader::MapReader(ReadContext& context, const YamlNode* map, std::string path)
    : context_(context), map_(map), path_(std::move(path)) {}

// ---- keys ----

const YamlNode* MapReader::find(std::string_view key) const {
  if (!map_) return nullptr;
  for (std::size_t i = 0; i < map_->keys.size(); ++i) {
    if (map_->keys[i].text == key) return &map_->items[i];
  }
  return nullptr;
}

std::string MapReader::full(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void MapReader::required(std::initializer_list<const char*> keys) {
  required_.insert(keys.begin(), keys.end());
}

const YamlNode* MapReader::ask(const char* key, KeyInfo info) {
  known_.emplace_back(key);
  if (context_.catalogue) {
    info.path = full(key);
    if (required_.contains(key)) info.default_value = "required";
    context_.catalogue->push_back(std::move(info));
    return nullptr;
  }
  const YamlNode* value = find(key);
  if (!value && map_ && required_.contains(key)) {
    report(Severity::kError, map_->line, map_->column, "`" + full(key) + "` is missing",
           "it is a " + info.type + ", allowed: " + info.allowed);
  }
  if (value && value->kind == YamlKind::kNull) {
    wrong(*value, key, "has no value", "give one, or remove the key");
    return nullptr;
  }
  return value;
}

const YamlNode* MapReader::ask_scalar(const char* key, KeyInfo info) {
  const std::string allowed = info.allowed;
  const YamlNode* value = ask(key, std::move(info));
  if (value && value->kind != YamlKind::kScalar) {
    wrong(*value, key, std::string("is ") + kind_name(*value), "allowed: " + allowed);
    return nullptr;
  }
  return value;
}

const YamlNode* MapReader::ask_list(const char* key, KeyInfo info, std::size_t items_max) {
  const YamlNode* value = ask(key, std::move(info));
  if (!value) return nullptr;
  if (value->kind != YamlKind::kList) {
    wrong(*value, key, std::string("is ") + kind_name(*value), "allowed: a list");
    return nullptr;
  }
  if (value->items.size() > items_max) {
    wrong(*value, key, "has " + std::to_string(value->items.size()) + " entries",
          "allowed: at most " + std::to_string(items_max));
    return nullptr;
  }
  return value;
}

void MapReader::finish() {
  if (!map_) return;
  std::unordered_map<std::string_view, const YamlNode::Key*> seen;
  for (const YamlNode::Key& key : map_->keys) {
    if (context_.problems.full()) return;
    const auto [first, is_new] = seen.emplace(key.text, &key);
    if (!is_new) {
      report(Severity::kError, key.line, key.column, "`" + full(key.text) + "` is given twice",
             "the first one is in line " + std::to_string(first->second->line));
    } else if (std::find(known_.begin(), known_.end(), key.text) == known_.end()) {
      report_unknown(key);
    }
  }
}

// Where else in the file a key of this name may stand: "executor.window_max".
std::string MapReader::elsewhere(const std::string& name) const {
  if (!context_.all_keys) return {};
  const std::string end = "." + name;
  for (const KeyInfo& key : *context_.all_keys) {
    if (key.path == name || key.path.ends_with(end)) return key.path;
  }
  return {};
}

void MapReader::report_unknown(const YamlNode::Key& key) {
  const std::string where = path_.empty() ? "" : " in `" + path_ + "`";
  std::string nearest = elsewhere(key.text);
  if (nearest.empty()) nearest = closest(key.text, known_);
  report(
      Severity::kError, key.line, key.column, "unknown key " + quoted(key.text) + where,
      (nearest.empty() ? "" : "did you mean \"" + nearest + "\"? ") + "allowed: " + joined(known_));
}

// ---- problems ----

void MapReader::report(Severity severity, int line, int column, std::string text,
                       std::string hint) {
  context_.problems.add({.severity = severity,
                         .place = {context_.file, line, column},
                         .text = std::move(text),
                         .hint = std::move(hint)});
}

void MapReader::wrong(const YamlNode& at, const char* key, std::string text, std::string hint) {
  report(Severity::kError, at.line, at.column, "`" + full(key) + "` " + std::move(text),
         std::move(hint));
}

void MapReader::report_status(const YamlNode& at, const char* key, const Status& status) {
  report(Severity::kError, at.line, at.column, "`" + full(key) + "`: " + status.detail().what,
         status.detail().hint);
}

bool MapReader::has_empty_list(std::string_view key) const {
  const YamlNode* value = find(key);
  return value && value->kind == YamlKind::kList && value->items.empty();
}

SourcePlace MapReader::place() const {
  return map_ ? SourcePlace{context_.file, map_->line, map_->column} : SourcePlace{context_.file};
}

SourcePlace MapReader::place(std::string_view key) const {
  const YamlNode* value = find(key);
  return value ? SourcePlace{context_.file, value->line, value->column} : place();
}

void MapReader::error(std::string_view key, std::string text, std::string hint) {
  const SourcePlace at = place(key);
  report(Severity::kError, at.line, at.column, "`" + full(key) + "` " + std::move(text),
         std::move(hint));
}

void MapReader::warning(std::string_view key, std::string text, std::string hint) {
  const SourcePlace at = place(key);
  report(Severity::kWarning, at.line, at.column, "`" + full(key) + "` " + std::move(text),
         std::move(hint));
}

// ---- values ----

std::optional<bool> MapReader::read_flag(const char* key, std::string default_value) {
  const YamlNode* value = ask_scalar(key, {"", "flag", std::move(default_value), "true, false"});
  if (!value) return {};
  if (!value->quoted && value->text == "true") return true;
  if (!value->quoted && value->text == "false") return false;
  wrong(*value, key, "is " + quoted(value->text), "allowed: true or false");
  return {};
}

void MapReader::flag(const char* key, bool& out) {
  if (const auto value = read_flag(key, out ? "true" : "false")) out = *value;
}

void MapReader::flag(const char* key, std::optional<bool>& out) {
  if (const auto value = read_flag(key, "any")) out = *value;
}

bool MapReader::checked_text(const YamlNode& at, const char* key, const TextRule& rule) {
  if (at.kind != YamlKind::kScalar) {
    wrong(at, key, std::string("has ") + kind_name(at) + " where a text should be",
          std::string("allowed: ") + rule.allowed);
    return false;
  }
  if (rule.valid(at.text)) return true;
  const std::string shown =
      rule.secret ? "a text of " + std::to_string(at.text.size()) + " bytes" : quoted(at.text);
  wrong(at, key, "cannot be " + shown, std::string("allowed: ") + rule.allowed);
  return false;
}

void MapReader::text(const char* key, std::string& out, const TextRule& rule) {
  const YamlNode* value = ask(key, {"", "text", out.empty() ? "none" : out, rule.allowed});
  if (value && checked_text(*value, key, rule)) out = value->text;
}

void MapReader::texts(const char* key, std::vector<std::string>& out, const TextRule& rule,
                      std::size_t items_max) {
  const YamlNode* value = ask(key, {"", "list of text", out.empty() ? "none" : joined(out),
                                    "up to " + std::to_string(items_max) + ": " + rule.allowed});
  if (!value) return;
  if (value->kind != YamlKind::kList) {
    if (checked_text(*value, key, rule)) out = {value->text};
    return;
  }
  if (value->items.size() > items_max) {
    wrong(*value, key, "has " + std::to_string(value->items.size()) + " entries",
          "allowed: at most " + std::to_string(items_max));
    return;
  }
  out.clear();
  for (const YamlNode& item : value->items) {
    if (checked_text(item, key, rule)) out.push_back(item.text);
  }
}

std::optional<std::uint64_t> MapReader::read_size(const char* key, std::string default_value,
                                                  Range<std::uint64_t> range) {
  const std::string allowed = range_text(write_size(range.min), write_size(range.max));
  const YamlNode* value = ask_scalar(key, {"", "size", std::move(default_value), allowed});
  if (!value) return {};
  const Result<std::uint64_t> parsed = parse_size(value->text);
  if (!parsed) {
    report_status(*value, key, parsed.status());
  } else if (*parsed < range.min || *parsed > range.max) {
    wrong(*value, key, "cannot be " + quoted(value->text), "allowed: " + allowed);
  } else {
    return *parsed;
  }
  return {};
}

void MapReader::size(const char* key, std::uint64_t& out, Range<std::uint64_t> range) {
  if (const auto value = read_size(key, write_size(out), range)) out = *value;
}

void MapReader::size(const char* key, std::optional<std::uint64_t>& out,
                     Range<std::uint64_t> range) {
  if (const auto value = read_size(key, "any", range)) out = *value;
}

void MapReader::rate(const char* key, Rate& out, Range<Rate> range) {
  const std::string allowed = range_text(write_rate(range.min), write_rate(range.max));
  const YamlNode* value = ask_scalar(key, {"", "rate", write_rate(out), allowed});
  if (!value) return;
  const Result<Rate> parsed = parse_rate(value->text);
  if (!parsed) {
    report_status(*value, key, parsed.status());
  } else if (*parsed < range.min || *parsed > range.max) {
    wrong(*value, key, "cannot be " + quoted(value->text), "allowed: " + allowed);
  } else {
    out = *parsed;
  }
}

void MapReader::duration(const char* key, Duration& out, Range<Duration> range) {
  const std::string allowed = range_text(write_duration(range.min), write_duration(range.max));
  const YamlNode* value = ask_scalar(key, {"", "duration", write_duration(out), allowed});
  if (!value) return;
  const Result<Duration> parsed = parse_duration(value->text);
  if (!parsed) {
    report_status(*value, key, parsed.status());
  } else if (*parsed < range.min || *parsed > range.max) {
    wrong(*value, key, "cannot be " + quoted(value->text), "allowed: " + allowed);
  } else {
    out = *parsed;
  }
}

std::optional<MapReader::Integer> MapReader::checked_number(const YamlNode& at, const char* key,
                                                            Range<Integer> range) {
  const std::string allowed =
      "allowed: " + range_text(std::to_string(range.min), std::to_string(range.max));
  if (at.kind != YamlKind::kScalar) {
    wrong(at, key, std::string("has ") + kind_name(at) + " where a number should be", allowed);
    return {};
  }
  const auto value = at.quoted ? std::nullopt : parse_integer(at.text);
  if (!value) {
    wrong(at, key, "is the text " + quoted(at.text) + ", not a whole number", allowed);
  } else if (*value < range.min || *value > range.max) {
    wrong(at, key, "cannot be " + at.text, allowed);
  } else {
    return value;
  }
  return {};
}

std::optional<MapReader::Integer> MapReader::read_number(const char* key, Integer value,
                                                         Range<Integer> range) {
  const YamlNode* node =
      ask(key, {"", "number", std::to_string(value),
                range_text(std::to_string(range.min), std::to_string(range.max))});
  return node ? checked_number(*node, key, range) : std::nullopt;
}

std::vector<MapReader::Integer> MapReader::read_numbers(const char* key, Range<Integer> range,
                                                        std::size_t items_max) {
  const YamlNode* list =
      ask_list(key,
               {"", "list of numbers", "none",
                "up to " + std::to_string(items_max) + ": " +
                    range_text(std::to_string(range.min), std::to_string(range.max))},
               items_max);
  std::vector<Integer> values;
  if (!list) return values;
  for (const YamlNode& item : list->items) {
    if (const auto value = checked_number(item, key, range)) values.push_back(*value);
  }
  return values;
}

std::optional<std::size_t> MapReader::read_choice(const char* key, std::string default_value,
                                                  const std::vector<std::string>& names) {
  const std::string allowed = joined(names);
  const YamlNode* value = ask_scalar(key, {"", "choice", std::move(default_value), allowed});
  if (!value) return {};
  const auto found = std::find(names.begin(), names.end(), value->text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string nearest = closest(value->text, names);
  wrong(*value, key, "cannot be " + quoted(value->text),
        (nearest.empty() ? "" : "did you mean \"" + nearest + "\"? ") + "allowed: " + allowed);
  return {};
}

void MapReader::ports(const char* key, std::uint16_t& min, std::uint16_t& max) {
  constexpr const char* kAllowed = "0 to 65535, or a range like 7400-7410; 0 is any free one";
  const YamlNode* value = ask_scalar(
      key, {"", "port",
            min == max ? std::to_string(min) : std::to_string(min) + "-" + std::to_string(max),
            kAllowed});
  if (!value) return;
  const std::string_view text = value->text;
  const std::size_t dash = text.find('-', 1);
  const auto low = parse_integer(text.substr(0, dash));
  const auto high = dash == text.npos ? low : parse_integer(text.substr(dash + 1));
  const bool in_range = low && high && *low >= 0 && *low <= 65535 && *high >= 0 && *high <= 65535;
  if (!in_range || (*low == 0 && *high != 0)) {
    wrong(*value, key, "cannot be " + quoted(text), std::string("allowed: ") + kAllowed);
  } else if (*low > *high) {
    wrong(*value, key, "is the range " + quoted(text) + ", which ends before it begins",
          "write the lower port first");
  } else {
    min = static_cast<std::uint16_t>(*low);
    max = static_cast<std::uint16_t>(*high);
  }
}

void MapReader::port_or_off(const char* key, bool& on, std::uint16_t& port) {
  const YamlNode* value = ask_scalar(key, {"", "port", on ? std::to_string(port) : "off",
                                           "off, or 0 to 65535; 0 is any free one"});
  if (!value) return;
  if (value->text == "off") {
    on = false;
  } else if (const auto number = checked_number(*value, key, {0, 65535})) {
    on = true;
    port = static_cast<std::uint16_t>(*number);
  }
}

// ---- sections ----

const YamlNode* MapReader::ask_map(const char* key) {
  const YamlNode* value = ask(key, {"", "section", "none", "the keys below"});
  return value && is_map(*value, key) ? value : nullptr;
}

const YamlNode* MapReader::ask_maps(const char* key, std::size_t items_max) {
  return ask_list(key, {"", "list of sections", "none", "up to " + std::to_string(items_max)},
                  items_max);
}

bool MapReader::is_map(const YamlNode& item, const char* key) {
  if (item.kind == YamlKind::kMap) return true;
  wrong(item, key, std::string("has ") + kind_name(item) + " where `key: value` lines should be",
        "see docs/CONFIG.md for the keys");
  return false;
}

}  // namespace spindrift::config
