#include "config/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file_descriptor.h"
#include "config/suggest.h"
#include "config/units.h"

namespace spindrift::config {
namespace {

constexpr std::size_t kPathShown = 256;

Status failed(const std::string& path, int error) {
  const Code code = error == ENOENT || error == ENOTDIR ? Code::kNotFound
                    : error == EACCES || error == EPERM ? Code::kPermissionDenied
                                                        : Code::kIoError;
  return Status(code, Status::Detail{.what = "cannot read " + quoted(path, kPathShown),
                                     .why = std::strerror(error)});
}

Status too_large(const std::string& path, std::size_t bytes_max) {
  return Status(Code::kOutOfRange, Status::Detail{.what = "cannot read " + quoted(path, kPathShown),
                                                  .why = "larger than " + write_size(bytes_max)});
}

}  // namespace

Result<TextFile> read_text_file(const std::string& path, std::size_t bytes_max) {
  if (path.empty() || path.find('\0') != path.npos) return failed(path, ENOENT);
  // O_NONBLOCK: opening a pipe without a writer would wait.
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return failed(path, errno);
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return failed(path, errno);
  if (!S_ISREG(facts.st_mode)) {
    return Status(
        Code::kIoError,
        Status::Detail{.what = "cannot read " + quoted(path, kPathShown),
                       .why = S_ISDIR(facts.st_mode) ? "a directory" : "not a regular file"});
  }
  TextFile file;
  file.readable_by_all = (facts.st_mode & S_IROTH) != 0;
  char buffer[16384];
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(path, errno);
    if (got == 0) return file;
    file.text.append(buffer, static_cast<std::size_t>(got));
    if (file.text.size() > bytes_max) return too_large(path, bytes_max);
  }
}

std::string resolve_path(const std::string& folder, const std::string& path) {
  if (folder.empty() || path.empty() || path[0] == '/') return path;
  return folder.back() == '/' ? folder + path : folder + "/" + path;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return {};
  return path.substr(0, slash == 0 ? 1 : slash);
}

}  // namespace spindrift::config
