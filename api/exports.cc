// libspindrift.so: this function, and what the public headers mark.
#include "spindrift/version.h"

namespace spindrift {
const char* version() {
  return SPINDRIFT_VERSION;
}
}  // namespace spindrift
