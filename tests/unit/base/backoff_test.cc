#include "base/backoff.h"

#include <catch2/catch.hpp>

namespace spindrift {
namespace {

using std::chrono::milliseconds;

TEST_CASE("The wait doubles from the least to the most") {
  struct Case {
    std::uint32_t failures;
    Duration wait;
  };
  const Case cases[] = {
      {0, milliseconds(50)},    {1, milliseconds(50)},     {2, milliseconds(100)},
      {3, milliseconds(200)},   {7, milliseconds(3200)},   {8, milliseconds(5000)},
      {31, milliseconds(5000)}, {~0u, milliseconds(5000)},
  };
  for (const Case& c : cases) {
    INFO(c.failures);
    CHECK(backoff(milliseconds(50), milliseconds(5000), c.failures, 0) == c.wait);
  }
}

TEST_CASE("Jitter takes off at most a quarter") {
  for (const std::uint64_t random : {1ull, 12'500'000ull, 12'500'001ull, ~0ull}) {
    const Duration wait = backoff(milliseconds(50), milliseconds(5000), 1, random);
    CHECK(wait <= milliseconds(50));
    CHECK(wait >= Duration(37'500'000));
  }
  CHECK(backoff(milliseconds(50), milliseconds(5000), 1, 12'500'000) == Duration(37'500'000));
}

TEST_CASE("Limits of zero still give a time that a timer can wait for") {
  CHECK(backoff(Duration(0), Duration(0), 5, 12345) >= Duration(0));
}

}  // namespace
}  // namespace spindrift
