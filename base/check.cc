#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace spindrift {

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "spindrift: internal check failed: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace spindrift
