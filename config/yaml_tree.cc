#include "config/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <sstream>
#include <utility>

#include "config/suggest.h"

namespace spindrift::config {
namespace {

// Thrown through the library's parser, to stop it; caught in parse_yaml().
struct Refusal {
  int line = 0;
  int column = 0;
  std::string text;
  std::string hint;
};

Refusal refusal(const YAML::Mark& mark, std::string text, std::string hint = {}) {
  return {mark.line + 1, mark.column + 1, std::move(text), std::move(hint)};
}

constexpr const char* kQuoteHint =
    "a text that begins with * or & must be quoted, like \"*\"; anchors and aliases are not "
    "allowed";

// Whether the quoted scalar that begins at text[at] ends. The library takes the
// end of the file for the missing quote, and all lines up to there for text.
bool is_closed(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 == text.size() || text[i + 1] != quote) return true;
      ++i;  // '' stands for one quote
    }
  }
  return false;
}

// Builds the tree from the parser's events. `text` is what is being parsed.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}

  // Once, after the last event.
  YamlNode take_root() {
    if (last_quoted_ && !is_closed(text_, static_cast<std::size_t>(last_quoted_->pos))) {
      throw refusal(*last_quoted_, "a quote that is not closed");
    }
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, "", anchor);
    add(node(YamlKind::kNull, mark), mark);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw refusal(mark, "an alias", kQuoteHint);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    YamlNode scalar = node(YamlKind::kScalar, mark);
    scalar.quoted = tag == "!";
    scalar.text = value;
    if (scalar.quoted) note_quoted(mark);
    add(std::move(scalar), mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    open(node(YamlKind::kList, mark), mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    open(node(YamlKind::kMap, mark), mark);
  }
  void OnMapEnd() override { close(); }

 private:
  static YamlNode node(YamlKind kind, const YAML::Mark& mark) {
    return {.kind = kind, .line = mark.line + 1, .column = mark.column + 1};
  }

  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) throw refusal(mark, "an anchor", kQuoteHint);
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw refusal(mark, "the tag " + quoted(tag),
                    "tags are not allowed; quote a text that begins with !");
    }
    if (++nodes_ > kNodesMax) {
      throw refusal(mark, "more than " + std::to_string(kNodesMax) + " values",
                    "split the file, or look for what repeats in it");
    }
  }

  void note_quoted(const YAML::Mark& mark) {
    const auto at = static_cast<std::size_t>(mark.pos);
    const char first = at < text_.size() ? text_[at] : '\0';
    if (first == '"' || first == '\'') last_quoted_ = mark;
    if (first == '!') throw refusal(mark, "a tag", "tags are not allowed");
  }

  bool awaits_key() const {
    const YamlNode& top = open_.back();
    return top.kind == YamlKind::kMap && top.keys.size() == top.items.size();
  }

  void add(YamlNode child, const YAML::Mark& mark) {
    if (open_.empty()) {
      root_ = std::move(child);
    } else if (awaits_key()) {
      if (child.kind != YamlKind::kScalar) throw bad_key(mark);
      open_.back().keys.push_back({std::move(child.text), child.line, child.column});
    } else {
      YamlNode& top = open_.back();
      if (top.kind == YamlKind::kMap && child.kind == YamlKind::kNull) {
        // The library places a value that is not there at what follows it.
        child.line = top.keys.back().line;
        child.column = top.keys.back().column;
      }
      top.items.push_back(std::move(child));
    }
  }

  void open(YamlNode container, const YAML::Mark& mark) {
    if (!open_.empty() && awaits_key()) throw bad_key(mark);
    if (open_.size() >= kDepthMax) {
      throw refusal(mark, "nested more than " + std::to_string(kDepthMax) + " deep");
    }
    open_.push_back(std::move(container));
  }

  void close() {
    YamlNode done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done), YAML::Mark());
  }

  static Refusal bad_key(const YAML::Mark& mark) {
    return refusal(mark, "a key that is not plain text", "write `key: value`");
  }

  const std::string_view text_;
  YamlNode root_;
  std::optional<YAML::Mark> last_quoted_;
  std::vector<YamlNode> open_;  // the containers around the current place
  std::size_t nodes_ = 0;
};

// Says whether there is another document, without reading it.
class NoMoreDocuments : public TreeBuilder {
 public:
  using TreeBuilder::TreeBuilder;
  void OnDocumentStart(const YAML::Mark& mark) override {
    throw refusal(mark, "a second document", "a file holds one document; remove the `---`");
  }
};

// The length of the UTF-8 character at text[i], or 0 if there is none.
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(i);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size() - i) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
  }
  return length;
}

// Refuses what is not text before the library sees it: it would take some
// control characters for the end of the file and guess at encodings.
void check_text(std::string_view text) {
  if (text.size() > kFileBytesMax) {
    throw Refusal{0, 0, "larger than 1MiB", "a configuration file holds at most 1MiB"};
  }
  int line = 1;
  int column = 1;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = utf8_length(text, i);
    if (length == 0 || c == 0x7f || (c < 0x20 && c != '\n' && c != '\t' && c != '\r')) {
      constexpr char kHex[] = "0123456789abcdef";
      throw Refusal{line, column,
                    std::string("the byte 0x") + kHex[c >> 4] + kHex[c & 15] + " is not text",
                    "a configuration file is UTF-8 text"};
    }
    column += static_cast<int>(length);
    if (c == '\n') {
      ++line;
      column = 1;
    }
    i += length;
  }
}

// The library's words are about its grammar; these are about what people did.
std::string in_other_words(const std::string& message) {
  namespace Msg = YAML::ErrorMsg;
  if (message == Msg::END_OF_MAP || message == Msg::END_OF_SEQ) {
    return "the indentation fits no line above";
  }
  if (message == Msg::END_OF_SEQ_FLOW) return "a `[` without its `]`";
  if (message == Msg::END_OF_MAP_FLOW) return "a `{` without its `}`";
  if (message == Msg::EOF_IN_SCALAR) return "a quote that is not closed";
  if (message == Msg::MAP_VALUE) {
    return "a second `: ` in one line, or a key that is indented below a value";
  }
  return message;
}

Refusal from_library(const YAML::Exception& error) {
  const std::string& message = error.msg;
  if (message == YAML::ErrorMsg::ALIAS_NOT_FOUND || message == YAML::ErrorMsg::UNKNOWN_ANCHOR ||
      message == YAML::ErrorMsg::CHAR_IN_ALIAS || message == YAML::ErrorMsg::ANCHOR_NOT_FOUND ||
      message == YAML::ErrorMsg::CHAR_IN_ANCHOR) {
    return refusal(error.mark, "not valid YAML: " + message, kQuoteHint);
  }
  std::string hint = "look at the indentation and the quotes here and in the line above";
  if (message == YAML::ErrorMsg::TAB_IN_INDENTATION) hint = "indent with spaces";
  return refusal(error.mark, "not valid YAML: " + in_other_words(message), hint);
}

YamlNode parse(std::string_view text) {
  check_text(text);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  TreeBuilder builder(text);
  if (!parser.HandleNextDocument(builder)) return {};
  NoMoreDocuments rest(text);
  while (parser.HandleNextDocument(rest)) {
  }
  return builder.take_root();
}

}  // namespace

std::optional<YamlNode> parse_yaml(std::string_view text, const std::string& file,
                                   ProblemList& problems) {
  Refusal why;
  try {
    return parse(text);
  } catch (const Refusal& refused) {
    why = refused;
  } catch (const YAML::Exception& error) {
    why = from_library(error);
  } catch (const std::exception& error) {
    why.text = std::string("not valid YAML: ") + error.what();
  }
  problems.add({.severity = Severity::kError,
                .place = {file, why.line, why.column},
                .text = std::move(why.text),
                .hint = std::move(why.hint)});
  return std::nullopt;
}

}  // namespace spindrift::config
