// Expectations about the problems of a configuration text. Each expected problem
// is "line:column: part of the message"; errors and warnings must be exactly
// those that are expected, in order.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "config/problem.h"

namespace spindrift::config {

inline void expect_problems(const std::vector<Problem>& found,
                            const std::vector<std::string>& expected) {
  std::string all;
  for (const Problem& problem : found) all += problem.to_string() + "\n";
  INFO(all);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string line = found[i].to_string();
    const std::size_t space = expected[i].find(' ');
    const std::string place = found[i].place.file + ":" + expected[i].substr(0, space);
    CHECK_THAT(line, Catch::StartsWith(place));
    CHECK_THAT(line, Catch::Contains(expected[i].substr(space + 1)));
  }
}

}  // namespace spindrift::config
