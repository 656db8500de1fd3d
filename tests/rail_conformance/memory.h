// Memory that knows what it should hold. It starts as a pattern that differs at
// every place; a test says what is to arrive where, and intact() compares the
// whole of it: so every byte around every range is a canary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/prng.h"

namespace spindrift::conformance {

class Memory {
 public:
  Memory(std::size_t bytes, std::uint64_t seed) : actual_(bytes) {
    Prng prng(seed);
    std::size_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
      const std::uint64_t word = prng.next();
      std::memcpy(actual_.data() + at, &word, 8);
    }
    for (; at < bytes; ++at) actual_[at] = static_cast<std::byte>(prng.next());
    expected_ = actual_;
  }

  std::byte* at(std::size_t offset) { return actual_.data() + offset; }
  std::size_t size() const { return actual_.size(); }
  std::uint64_t address(std::size_t offset) const {
    return reinterpret_cast<std::uintptr_t>(actual_.data() + offset);
  }

  // [offset, offset + length) is to equal what `from` holds now.
  void expect(std::size_t offset, const std::byte* from, std::size_t length) {
    std::memcpy(expected_.data() + offset, from, length);
  }
  // Whatever is there now is what is to stay.
  void accept() { expected_ = actual_; }
  void fill(std::byte value) {
    std::memset(actual_.data(), static_cast<int>(value), actual_.size());
    expected_ = actual_;
  }
  bool intact() const { return actual_ == expected_; }
  bool intact(std::size_t offset, std::size_t length) const {
    return std::memcmp(actual_.data() + offset, expected_.data() + offset, length) == 0;
  }
  // Whether `value` stands 64 times in a row, which the pattern never has.
  bool holds_run_of(std::byte value) const {
    std::size_t run = 0;
    for (const std::byte byte : actual_) {
      run = byte == value ? run + 1 : 0;
      if (run == 64) return true;
    }
    return false;
  }

 private:
  std::vector<std::byte> actual_;
  std::vector<std::byte> expected_;
};

}  // namespace spindrift::conformance
