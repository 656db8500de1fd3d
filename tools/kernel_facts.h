// Settings of the kernel and limits of this process that decide how well data
// moves, each with a verdict. Reads /proc; never fails: what cannot be read is
// left out.
#pragma once

#include <string>
#include <vector>

namespace spindrift::tools {

struct KernelFact {
  std::string name;    // "congestion control"
  std::string value;   // "cubic; available: reno cubic"
  std::string advice;  // what to change and why; empty: fine as it is
};

// `congestion`: what the configuration asks for.
std::vector<KernelFact> read_kernel_facts(const std::string& congestion);

}  // namespace spindrift::tools
