#include "config/read_intent.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "config/text_rules.h"

namespace spindrift::config {
namespace {

constexpr std::uint64_t kIntentMax = std::uint64_t{1} << 60;
constexpr std::uint32_t kGpusMax = 1024;
constexpr int kNumaMax = 1023;
constexpr Choice<Operation> kOperations[] = {{"write", Operation::kWrite},
                                             {"read", Operation::kRead}};
constexpr Choice<Integrity> kIntegrities[] = {
    {"policy", Integrity::kPolicy}, {"none", Integrity::kNone}, {"crc32c", Integrity::kCrc32c}};

std::optional<Location> parse_location(std::string_view text) {
  if (text == "host") return Location{};
  if (text == "file") return Location{.kind = MemoryKind::kFile};
  constexpr std::string_view kCuda = "cuda:";
  if (text.substr(0, kCuda.size()) != kCuda) return {};
  text.remove_prefix(kCuda.size());
  std::uint32_t device = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, device);
  if (error != std::errc() || stopped != end || device >= kGpusMax) return {};
  return Location{MemoryKind::kCuda, device};
}

bool is_location(std::string_view text) {
  return parse_location(text).has_value();
}
const TextRule kLocation{"host, cuda:N with N from 0 to 1023, or file", is_location};

void read_location(MapReader& map, const char* key, Location& out) {
  std::string text = to_string(out);
  map.text(key, text, kLocation);
  if (const auto location = parse_location(text)) out = *location;
}

}  // namespace

void read_intent(MapReader& map, IntentFile& out) {
  map.required({"from", "to", "size"});
  map.text("from", out.from, kNodeName);
  map.text("to", out.to, kNodeName);
  if (!out.from.empty() && out.from == out.to) {
    map.error("to", "is the same node as `from`", "an intent goes from one node to another");
  }
  map.choice("operation", out.operation, kOperations);
  map.text("class", out.klass, kNodeName);
  map.size("size", out.size, {1, kIntentMax});
  map.number("descriptors", out.descriptors, {1, 16'777'216});
  if (map.has("size") && out.size > 0 && out.descriptors > out.size) {
    map.error("descriptors", "are more than the bytes of `size`", "allowed: up to size");
  }
  read_location(map, "source", out.source);
  read_location(map, "destination", out.destination);
  map.number("source_numa", out.source_numa, {-1, kNumaMax});
  map.number("destination_numa", out.destination_numa, {-1, kNumaMax});
  map.choice("integrity", out.integrity, kIntegrities);
}

}  // namespace spindrift::config
