// A program that this command starts: another copy of itself, or `ip`. The
// destructor ends it (SIGTERM, then SIGKILL) and waits, so that nothing is left
// behind. Move-only; not thread-safe. Errors: kIoError.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/instant.h"
#include "spindrift/status.h"

namespace spindrift::tools {

// The file of this program, for starting it again.
Result<std::string> own_path();

// An unnamed file in memory with this text, and the path under which a child
// that inherits the descriptor can read it.
struct TextFile {
  FileDescriptor file;
  std::string path;  // "/proc/self/fd/7"
};
Result<TextFile> text_as_file(const std::string& text);

// For a process started by ChildProcess: it gets SIGTERM when `parent`, which
// started it, ends. False when that has already happened.
bool end_with_parent(pid_t parent);

class ChildProcess {
 public:
  enum class Output { kInherit, kPipe, kPipeAll };  // the last: standard error too

  // Searches PATH. Signals that this process blocks are not blocked there.
  static Result<ChildProcess> start(const std::vector<std::string>& command, Output output);

  ChildProcess() = default;
  ChildProcess(ChildProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        output_(std::move(other.output_)),
        name_(std::move(other.name_)),
        unread_(std::move(other.unread_)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() { end(); }

  pid_t pid() const { return pid_; }
  // The next line of its standard output, without the newline; needs a pipe.
  // kDeadlineExceeded; kIoError when it ended first.
  Result<std::string> read_line(Duration timeout);
  // Its exit status (128 + N for signal N); kDeadlineExceeded while it runs.
  Result<int> wait(Duration timeout);
  void signal(int number);
  void end();

 private:
  pid_t pid_ = -1;  // -1: none, or already waited for
  FileDescriptor output_;
  std::string name_;
  std::string unread_;
};

// Runs a short command to its end; its output is in the error when it fails.
Status run_quietly(const std::vector<std::string>& command, Duration timeout);

}  // namespace spindrift::tools
