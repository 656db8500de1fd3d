// Memory of a command's own for transfers: page-aligned, zeroed and touched, so
// that no later access waits for the kernel to provide a page. Where a machine
// backs fresh pages slowly (a hypervisor may take 100 us each) an untouched
// buffer would measure that instead of the transfer.
//
// Owns the mapping; move-only. Errors: kBusy when the machine has not that much
// memory free, kIoError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "spindrift/status.h"

namespace spindrift::tools {

class MemoryBlock {
 public:
  // `purpose` is for messages: "segment kv".
  static Result<MemoryBlock> allocate(std::uint64_t length, const std::string& purpose);

  MemoryBlock() = default;
  MemoryBlock(MemoryBlock&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), length_(std::exchange(other.length_, 0)) {}
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(length_, other.length_);
    return *this;
  }
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;
  ~MemoryBlock();

  std::byte* data() const { return base_; }
  std::uint64_t size() const { return length_; }  // at least what was asked for

 private:
  MemoryBlock(std::byte* base, std::uint64_t length) : base_(base), length_(length) {}

  std::byte* base_ = nullptr;
  std::uint64_t length_ = 0;
};

}  // namespace spindrift::tools
