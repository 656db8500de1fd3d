// Small numbers for node names, so that workers compare integers. A name keeps
// its number. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace spindrift::api {

class NameTable {
 public:
  std::uint32_t number(const std::string& name) {
    std::lock_guard lock(mutex_);
    return numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size() + 1))
        .first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint32_t> numbers_;
};

}  // namespace spindrift::api
