// The version: of the headers that were compiled against, and of the library
// that runs. Before 1.0 any release may change the ABI, so compare them.
#pragma once

#include "spindrift/export.h"

#define SPINDRIFT_VERSION "0.1.0"

namespace spindrift {

SPINDRIFT_API const char* version();

}  // namespace spindrift
