#include "tools/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/clock.h"

namespace spindrift::tools {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);  // from SIGTERM to SIGKILL
constexpr std::size_t kOutputMax = 64 * 1024;            // kept of a child's output

Status os_error(const std::string& what, int error) {
  return Status(Code::kIoError, {.what = what, .why = std::strerror(error), .os_error = error});
}

int milliseconds_left(Instant deadline) {
  const std::int64_t left = to_ns(deadline - read_monotonic_clock());
  return static_cast<int>(std::clamp<std::int64_t>((left + 999'999) / 1'000'000, 0, INT_MAX));
}

// posix_spawn's two objects, freed together.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t ignored;  // a child expects its pipes to end it
    ::sigemptyset(&ignored);
    ::sigaddset(&ignored, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes_, &ignored);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void send_to(int fd, int target) { ::posix_spawn_file_actions_adddup2(&actions_, fd, target); }
  int spawn(pid_t& pid, const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    return ::posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

Result<std::string> own_path() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || length == static_cast<ssize_t>(sizeof path)) {
    return os_error("finding this program's own file", length < 0 ? errno : ENAMETOOLONG);
  }
  return std::string(path, static_cast<std::size_t>(length));
}

Result<TextFile> text_as_file(const std::string& text) {
  // Without MFD_CLOEXEC: children are to have it.
  TextFile made{FileDescriptor(::memfd_create("spindrift-config", 0)), {}};
  if (!made.file) return os_error("a file in memory", errno);
  if (::pwrite(made.file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return os_error("writing a file in memory", errno);
  }
  made.path = "/proc/self/fd/" + std::to_string(made.file.get());
  return made;
}

bool end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  return ::getppid() == parent;
}

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command, Output output) {
  ChildProcess child;
  child.name_ = command[0];
  SpawnPlan plan;
  FileDescriptor write_end;
  if (output != Output::kInherit) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return os_error("a pipe to " + child.name_, errno);
    child.output_ = FileDescriptor(ends[0]);
    write_end = FileDescriptor(ends[1]);
    plan.send_to(write_end.get(), STDOUT_FILENO);
    if (output == Output::kPipeAll) plan.send_to(write_end.get(), STDERR_FILENO);
  }
  if (const int error = plan.spawn(child.pid_, command); error != 0) {
    child.pid_ = -1;
    return os_error("starting " + child.name_, error);
  }
  return child;
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, -1);
    output_ = std::move(other.output_);
    name_ = std::move(other.name_);
    unread_ = std::move(other.unread_);
  }
  return *this;
}

Result<std::string> ChildProcess::read_line(Duration timeout) {
  const Instant deadline = after(read_monotonic_clock(), timeout);
  for (;;) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    pollfd ready{output_.get(), POLLIN, 0};
    const int events = ::poll(&ready, 1, milliseconds_left(deadline));
    if (events < 0 && errno == EINTR) continue;
    if (events == 0) {
      return Status(Code::kDeadlineExceeded, name_ + " said nothing in time");
    }
    char buffer[4096];
    const ssize_t got = ::read(output_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || unread_.size() > kOutputMax) {
      return Status(Code::kIoError, name_ + " ended early; see its messages above");
    }
    unread_.append(buffer, static_cast<std::size_t>(got));
  }
}

Result<int> ChildProcess::wait(Duration timeout) {
  if (pid_ < 0) return Status(Code::kInvalidArgument, name_ + " was already waited for");
  // A pidfd turns readable when the process ends: no polling of waitpid.
  const FileDescriptor watch(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  const Instant deadline = after(read_monotonic_clock(), timeout);
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    const int left = milliseconds_left(deadline);
    if (left == 0) return Status(Code::kDeadlineExceeded, name_ + " did not end in time");
    pollfd ready{watch.get(), POLLIN, 0};
    // Kernels before 5.3 have no pidfd; poll() ignores a descriptor of -1.
    (void)::poll(&ready, 1, watch ? left : std::min(left, 20));
  }
}

void ChildProcess::signal(int number) {
  if (pid_ > 0) ::kill(pid_, number);
}

void ChildProcess::end() {
  if (pid_ < 0) return;
  signal(SIGTERM);
  if (wait(kPatience).ok()) return;
  signal(SIGKILL);
  (void)wait(kPatience);
  pid_ = -1;
}

Status run_quietly(const std::vector<std::string>& command, Duration timeout) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
  Result<ChildProcess> child = ChildProcess::start(command, ChildProcess::Output::kPipeAll);
  if (!child.ok()) return child.status();
  std::string said;
  for (;;) {
    Result<std::string> one = child->read_line(timeout);
    if (!one.ok()) break;
    said += (said.empty() ? "" : "; ") + *one;
  }
  const Result<int> status = child->wait(timeout);
  if (!status.ok()) return status.status();
  if (*status == 0) return {};
  return Status(
      Code::kIoError,
      {.what = line, .why = said.empty() ? "exit status " + std::to_string(*status) : said});
}

}  // namespace spindrift::tools
