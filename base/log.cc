#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>
#include <mutex>

namespace spindrift {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

// A logger of our own: the host program's default logger is not ours to change.
spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("spindrift",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l spindrift: %v");
    made->set_level(spdlog::level::warn);
    return made;
  }();
  return *instance;
}

std::mutex limiter_mutex;

}  // namespace

void set_log_level(LogLevel level) {
  logger().set_level(to_spdlog(level));
}

bool log_enabled(LogLevel level) {
  return logger().should_log(to_spdlog(level));
}

void log_line(LogLevel level, std::string_view text) {
  logger().log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
}

void LogLimiter::log(LogLevel level, std::string text) {
  const long long second = std::chrono::duration_cast<std::chrono::seconds>(
                               std::chrono::steady_clock::now().time_since_epoch())
                               .count();
  {
    std::lock_guard lock(limiter_mutex);
    if (second != window_.second) window_ = {second, 0, window_.swallowed};
    if (window_.said >= burst_) {
      ++window_.swallowed;
      return;
    }
    ++window_.said;
    if (window_.swallowed > 0) {
      text += " (" + std::to_string(window_.swallowed) + " like it not shown)";
      window_.swallowed = 0;
    }
  }
  log_line(level, text);
}

}  // namespace spindrift
