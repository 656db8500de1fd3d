#include "config/yaml_tree.h"

#include <catch2/catch.hpp>
#include <string>

namespace spindrift::config {
namespace {

using Catch::Contains;

// The only problem of a text that is refused.
std::string refusal(const std::string& text) {
  ProblemList problems;
  CHECK_FALSE(parse_yaml(text, "f", problems).has_value());
  const auto found = problems.take();
  REQUIRE(found.size() == 1);
  return found[0].to_string();
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST_CASE("a tree knows where everything stands") {
  ProblemList problems;
  const auto root = parse_yaml("a: 1\nb:\n  - x\n  - \"2\"\nc: {d: e}\nn:\n", "f", problems);
  REQUIRE(root);
  REQUIRE(root->kind == YamlKind::kMap);
  REQUIRE(root->keys.size() == 4);
  CHECK(root->keys[1].text == "b");
  CHECK(root->keys[1].line == 2);
  CHECK(root->items[0].text == "1");
  CHECK(root->items[0].column == 4);
  REQUIRE(root->items[1].kind == YamlKind::kList);
  CHECK_FALSE(root->items[1].items[0].quoted);
  CHECK(root->items[1].items[1].quoted);
  CHECK(root->items[1].items[1].line == 4);
  CHECK(root->items[2].items[0].text == "e");
  CHECK(root->items[3].kind == YamlKind::kNull);
  CHECK(root->items[3].line == 6);
  CHECK(problems.take().empty());
}

TEST_CASE("nothing at all is a null") {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n", "---\n...\n"}) {
    INFO(text);
    ProblemList problems;
    const auto root = parse_yaml(text, "f", problems);
    REQUIRE(root);
    CHECK(root->kind == YamlKind::kNull);
  }
}

TEST_CASE("what configuration does not need is refused, with its place") {
  const std::pair<const char*, const char*> cases[] = {
      {"a: &x 1\n", "f:1:4: error: an anchor"},
      {"a: &x 1\nb: *x\n", "an anchor"},
      {"a: *x\n", "must be quoted, like \"*\""},
      {"a: *\n", "must be quoted, like \"*\""},
      {"a: !!int 1\n", "f:1:4: error: the tag"},
      {"a: 1\n---\nb: 2\n", "a second document"},
      {"? [a, b]\n: 1\n", "a key that is not plain text"},
      {"{a: 1}: 1\n", "a key that is not plain text"},
      {"~: 1\n", "a key that is not plain text"},
      {"a: [1\n", "not valid YAML"},
      {"a: b: c\n", "f:1:5: error: not valid YAML"},
      {"a: 'x\n", "f:1:4: error: a quote that is not closed"},
      {"a: 'x''\n", "f:1:4: error: a quote that is not closed"},
      {"a: \"x\\\"\nb: 1\n", "f:1:4: error: a quote that is not closed"},
      {"a: \"x", "not valid YAML: a quote that is not closed"},
      {"a: ! b\n", "f:1:4: error: a tag"},
      {"a:\n  b: 1\n c: 2\n", "f:3:2: error: not valid YAML: the indentation fits no line"},
      {"a: {b: 1\n", "a `{` without its `}`"},
      {"a:\n\t- 1\n", "not valid YAML"},
      {"a: @x\n", "not valid YAML"},
      {"%YAML 9.9\n---\na: 1\n", "not valid YAML"},
      {"a: \x01\n", "f:1:4: error: the byte 0x01 is not text"},
      {"a: \x7f\n", "the byte 0x7f is not text"},
      {"a: \xff\xfe\n", "f:1:4: error: the byte 0xff is not text"},
      {"a: \xc3\n", "the byte 0xc3 is not text"},
      {"a: \xc0\x80\n", "the byte 0xc0 is not text"},
      {"a: \xf5\x80\x80\x80\n", "the byte 0xf5 is not text"},
  };
  for (const auto& [text, said] : cases) {
    INFO(text);
    CHECK_THAT(refusal(text), Contains(said));
  }
  CHECK_THAT(refusal(std::string("a: x\0y\n", 7)), Contains("f:1:5: error: the byte 0x00"));
}

TEST_CASE("hostile texts are refused within bounds") {
  CHECK_THAT(refusal(repeated("[", 100'000)), Contains("f:1:1"));
  CHECK_THAT(refusal(repeated("{a: ", 100'000)), Contains("f:1:1"));
  CHECK_THAT(refusal(repeated("[", 100) + repeated("]", 100)), Contains("nested more than 32"));
  CHECK_THAT(refusal(repeated("- ", 100'000)), Contains("nested more than 32 deep"));
  CHECK_THAT(refusal(repeated("? ", 100'000)), Contains("f:1:"));
  CHECK_THAT(refusal(repeated("- a\n", 200'000)), Contains("more than 65536 values"));
  CHECK_THAT(refusal("a: " + repeated("x", kFileBytesMax)), Contains("larger than 1MiB"));
  CHECK_THAT(refusal(repeated("---\n", 100'000)), Contains("a second document"));
  CHECK_THAT(refusal("a: &a [x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n"), Contains("an anchor"));
}

TEST_CASE("texts over several lines are read") {
  ProblemList problems;
  const auto root = parse_yaml(
      "\xef\xbb\xbf"
      "a: 'it''s'\nb: |\n  x\n  y\nc: \"\\\"\"\n",
      "f", problems);
  REQUIRE(root);
  REQUIRE(root->items.size() == 3);
  CHECK(root->items[0].text == "it's");
  CHECK(root->items[1].text == "x\ny\n");
  CHECK(root->items[2].text == "\"");
}

TEST_CASE("places count bytes, also behind wide characters and foreign line ends") {
  ProblemList problems;
  const auto root = parse_yaml("\xc3\xa4: '\xe2\x82\xac'\r\nb: \"x\"\r\nc: !y\r\n", "f", problems);
  CHECK_FALSE(root);
  CHECK(problems.take().at(0).place.line == 3);
  const auto fine = parse_yaml("\xc3\xa4\xc3\xa4: '\xe2\x82\xac'\r\nb: \"x'\"\r\n", "f", problems);
  REQUIRE(fine);
  CHECK(fine->items[1].text == "x'");
  CHECK_FALSE(parse_yaml("\xc3\xa4\xc3\xa4: '\xe2\x82\xac'\r\nb: \"x'\r\n", "f", problems));
}

TEST_CASE("one long scalar within the bound is fine") {
  ProblemList problems;
  const auto root = parse_yaml("a: \"" + repeated("x", 900'000) + "\"\n", "f", problems);
  REQUIRE(root);
  CHECK(root->items[0].text.size() == 900'000);
}

}  // namespace
}  // namespace spindrift::config
