// Reads a whole small file. Only regular files, so that a path to a device or a
// pipe neither blocks nor never ends. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "spindrift/status.h"

namespace spindrift::config {

struct TextFile {
  std::string text;
  bool readable_by_all = false;  // by its permissions
};

// kNotFound, kPermissionDenied, kIoError (the reason is in the text), or
// kOutOfRange for a file over `bytes_max`.
Result<TextFile> read_text_file(const std::string& path, std::size_t bytes_max);

// `path` as written in a file of `folder`: absolute ones stay.
std::string resolve_path(const std::string& folder, const std::string& path);
// Where relative paths in the file `path` start.
std::string folder_of(const std::string& path);

}  // namespace spindrift::config
