#include "tools/memory_block.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "base/format.h"
#include "base/units.h"

namespace spindrift::tools {
namespace {

constexpr std::uint64_t kPage = 4096;

// What the kernel thinks can be had without swapping; unlimited when it does not say.
std::uint64_t available_memory() {
  std::ifstream facts("/proc/meminfo");
  for (std::string key, unit; facts >> key;) {
    std::uint64_t kib = 0;
    facts >> kib;
    std::getline(facts, unit);
    if (key == "MemAvailable:") return kib * kKiB;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

void touch(std::byte* base, std::uint64_t length) {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(base, length, MADV_POPULATE_WRITE) == 0) return;
#endif
  // Kernels before 5.14: a write to each page.
  volatile std::byte* page = base;
  for (std::uint64_t at = 0; at < length; at += kPage) page[at] = std::byte{0};
}

}  // namespace

Result<MemoryBlock> MemoryBlock::allocate(std::uint64_t length, const std::string& purpose) {
  const std::uint64_t available = available_memory();
  if (length > available) {
    return Status(Code::kBusy, {.what = format_bytes(length) + " for " + purpose,
                                .why = "only " + format_bytes_short(available) +
                                       " of memory are free on this machine",
                                .hint = "make it smaller"});
  }
  // At least a page, so that an empty block has an address too.
  const std::uint64_t mapped = length < kPage ? kPage : length;
  void* base = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    return Status(Code::kIoError, {.what = format_bytes(length) + " for " + purpose,
                                   .why = std::strerror(errno),
                                   .os_error = errno});
  }
  // Large pages where the kernel has them: fewer faults; a refusal costs nothing.
  (void)::madvise(base, mapped, MADV_HUGEPAGE);
  touch(static_cast<std::byte*>(base), mapped);
  return MemoryBlock(static_cast<std::byte*>(base), mapped);
}

MemoryBlock::~MemoryBlock() {
  if (base_ != nullptr) (void)::munmap(base_, length_);
}

}  // namespace spindrift::tools
