// docs/CONFIG.md and docs/examples against what the readers really accept.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "config/load.h"
#include "expect.h"

namespace spindrift::config {
namespace {

const std::string kDocs = std::string(SPINDRIFT_SOURCE_DIR) + "/docs";

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file.is_open());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("every example file is free of problems") {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kDocs + "/examples")) {
    if (entry.path().extension() != ".yaml") continue;
    INFO(entry.path().string());
    expect_problems(check_file(entry.path().string()).problems, {});
    ++seen;
  }
  CHECK(seen >= 4);
}

TEST_CASE("every YAML block of the documentation is free of problems") {
  // The first block is examples/node.yaml, whose policy lies beside it.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(kDocs + "/examples");
  std::string block;
  int seen = 0, number = 0;
  bool inside = false;
  for (const std::string& line : lines_of(kDocs + "/CONFIG.md")) {
    ++number;
    if (inside && line == "```") {
      INFO("the block that ends in line " << number);
      expect_problems(check_text(block, "block").problems, {});
      inside = false;
      ++seen;
    } else if (line == "```yaml") {
      inside = true;
      block.clear();
    } else if (inside) {
      block += line + "\n";
    }
  }
  std::filesystem::current_path(before);
  CHECK(seen >= 6);
}

// "a | b | c" without the outer bars.
std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream stream(row.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    const std::size_t begin = cell.find_first_not_of(' ');
    const std::size_t end = cell.find_last_not_of(' ');
    cells.push_back(begin == cell.npos ? "" : cell.substr(begin, end - begin + 1));
  }
  return cells;
}

TEST_CASE("the documentation lists exactly the keys that are read, with type, default and range") {
  const std::map<std::string, FileKind> headings = {{"## Node file", FileKind::kNode},
                                                    {"## Policy file", FileKind::kPolicy},
                                                    {"## Topology file", FileKind::kTopology},
                                                    {"## Intent file", FileKind::kIntent}};
  std::map<FileKind, std::vector<std::string>> documented, known;
  const FileKind* kind = nullptr;
  for (const std::string& line : lines_of(kDocs + "/CONFIG.md")) {
    if (line.rfind("## ", 0) == 0) {
      const auto heading = headings.find(line);
      kind = heading == headings.end() ? nullptr : &heading->second;
    }
    if (!kind || line.rfind("| `", 0) != 0) continue;
    const auto cells = cells_of(line);
    REQUIRE(cells.size() == 5);
    CHECK_FALSE(cells[4].empty());
    documented[*kind].push_back(cells[0] + " " + cells[1] + " " + cells[2] + " " + cells[3]);
  }
  for (const auto& [heading, file_kind] : headings) {
    INFO(heading);
    for (const KeyInfo& key : known_keys(file_kind)) {
      known[file_kind].push_back("`" + key.path + "` " + key.type + " " + key.default_value + " " +
                                 key.allowed);
    }
    CHECK(documented[file_kind] == known[file_kind]);
  }
}

}  // namespace
}  // namespace spindrift::config
