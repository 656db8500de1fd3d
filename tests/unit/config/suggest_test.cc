#include "config/suggest.h"

#include <catch2/catch.hpp>
#include <string>

namespace spindrift::config {
namespace {

TEST_CASE("the nearest word is suggested, and none that is far") {
  const std::vector<std::string> words = {"affinity", "count", "inbox_capacity", "spin"};
  const std::pair<const char*, const char*> cases[] = {{"affinty", "affinity"},
                                                       {"afinity", "affinity"},
                                                       {"cuont", "count"},
                                                       {"Count", "count"},
                                                       {"inbox-capacity", "inbox_capacity"},
                                                       {"inboxcapacty", "inbox_capacity"},
                                                       {"spim", "spin"},
                                                       {"x", ""},
                                                       {"zz", ""},
                                                       {"bandwidth", ""},
                                                       {"", ""}};
  for (const auto& [written, meant] : cases) {
    INFO(written);
    CHECK(closest(written, words) == meant);
  }
  CHECK(closest(std::string(100000, 'a'), words).empty());
}

TEST_CASE("quoting never lets a message move the cursor or grow") {
  CHECK(quoted("kv") == "\"kv\"");
  CHECK(quoted("a\nb\x1b[2J") == "\"a?b?[2J\"");
  CHECK(quoted(std::string(1000, 'x')).size() < 60);
  // Cut between characters, not within one.
  CHECK(quoted("aaa\xc3\xa4", 4) == "\"aaa...\"");
  CHECK(quoted("aa\xc3\xa4", 4) == "\"aa\xc3\xa4\"");
}

}  // namespace
}  // namespace spindrift::config
