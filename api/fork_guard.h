// Notices fork(): the child has none of the engine's threads, and its sockets
// are the parent's. Cheap enough for every call: one relaxed load.
#pragma once

#include <cstdint>

#include "spindrift/status.h"

namespace spindrift::api {

class ForkGuard {
 public:
  ForkGuard();
  bool in_child() const;
  // kUnsupported in a child, ok otherwise.
  Status check() const;

 private:
  std::uint64_t born_;
};

}  // namespace spindrift::api
