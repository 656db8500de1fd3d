// Log lines for operators: one line per event that matters, with peer and rail
// in it, rate-limited per call site so that a storm becomes one line and a
// count. Thread-safe. Never on the data path.
//
//   log_line(LogLevel::kWarn, "rail " + rail + ": " + to_string(cause));
#pragma once

#include <string>
#include <string_view>

namespace spindrift {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };

// Lines go to standard error. The initial level is kWarn: a library is quiet.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view text);

// Says at most `burst` lines per second and reports what it swallowed with the
// next one that it lets through. One object per call site; thread-safe.
class LogLimiter {
 public:
  explicit LogLimiter(int burst) : burst_(burst) {}
  void log(LogLevel level, std::string text);

 private:
  const int burst_;
  struct Window {
    long long second = -1;
    int said = 0;
    unsigned long long swallowed = 0;
  };
  Window window_;
};

}  // namespace spindrift
