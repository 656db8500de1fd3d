#include "tools/quantity_options.h"

#include <CLI/CLI.hpp>

#include "config/units.h"

namespace spindrift::tools {
namespace {

constexpr std::size_t kSizesMax = 64;  // doubling reaches every 64-bit size with as many

// CLI11 takes errors of a value by exception; they end in its parse().
template <typename T>
T value_or_usage_error(const std::string& option, Result<T> parsed) {
  if (!parsed.ok()) {
    const Status status = parsed.status();
    const Status::Detail& detail = status.detail();
    throw CLI::ValidationError(option,
                               detail.what + (detail.hint.empty() ? "" : "; " + detail.hint));
  }
  return *parsed;
}

std::uint64_t read_size(const std::string& option, const std::string& text) {
  return value_or_usage_error(option, config::parse_size(text));
}

std::vector<std::uint64_t> read_sizes(const std::string& option, const std::string& text) {
  std::vector<std::uint64_t> sizes;
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) {
    const std::uint64_t first = read_size(option, text.substr(0, colon));
    const std::uint64_t last = read_size(option, text.substr(colon + 1));
    if (first == 0 || first > last) {
      throw CLI::ValidationError(option, "a sweep goes from a size above 0 to a larger one");
    }
    for (std::uint64_t size = first;; size *= 2) {
      sizes.push_back(size);
      if (size > last / 2) return sizes;
    }
  }
  std::stringstream list(text);
  for (std::string one; std::getline(list, one, ',');) sizes.push_back(read_size(option, one));
  if (sizes.empty() || sizes.size() > kSizesMax) {
    throw CLI::ValidationError(option, "1 to " + std::to_string(kSizesMax) + " sizes");
  }
  return sizes;
}

}  // namespace

CLI::Option* add_size(CLI::App& app, const OptionText& text, std::uint64_t& target) {
  return app
      .add_option_function<std::string>(
          text.names,
          [&target, name = text.names](const std::string& value) {
            target = read_size(name, value);
          },
          text.help)
      ->type_name("SIZE");
}

CLI::Option* add_duration(CLI::App& app, const OptionText& text, Duration& target) {
  return app
      .add_option_function<std::string>(
          text.names,
          [&target, name = text.names](const std::string& value) {
            target = value_or_usage_error(name, config::parse_duration(value));
          },
          text.help)
      ->type_name("TIME");
}

CLI::Option* add_sizes(CLI::App& app, const OptionText& text, std::vector<std::uint64_t>& target) {
  return app
      .add_option_function<std::string>(
          text.names,
          [&target, name = text.names](const std::string& value) {
            target = read_sizes(name, value);
          },
          text.help)
      ->type_name("FROM:TO");
}

}  // namespace spindrift::tools
