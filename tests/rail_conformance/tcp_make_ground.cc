#include "tcp_ground.h"

namespace spindrift::conformance {

std::unique_ptr<Ground> make_ground() {
  return std::make_unique<TcpGround>();
}

}  // namespace spindrift::conformance
