#include "base/rail_types.h"

namespace spindrift {

const char* to_string(Transport transport) {
  switch (transport) {
    case Transport::kSim:
      return "sim";
    case Transport::kTcp:
      return "tcp";
    case Transport::kShm:
      return "shm";
    case Transport::kRdma:
      return "rdma";
    case Transport::kNvlink:
      return "nvlink";
    case Transport::kFile:
      return "file";
  }
  return "unknown";
}

std::string RailFacts::name() const {
  return std::string(to_string(transport)) + ":" + local_device + ">" + remote_device;
}

}  // namespace spindrift
