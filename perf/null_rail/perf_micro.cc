// What the executor costs on a rail that costs nothing.
//
//   perf_micro [--slices N] [--descriptors N] [--rails N] [--repeats N]
//              [--instructions] [--json] [--check]
//
// --check: exit status 1 unless allocations and locks per slice are exactly 0.
// --instructions: counts them too, under valgrind, where the machine has it.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "counters.h"
#include "null_bench.h"
#include "submit_bench.h"

namespace spindrift::perf {
namespace {

struct Arguments {
  std::uint64_t slices = 2'000'000;  // per repeat
  std::uint64_t descriptors = 65'536;
  std::uint64_t rails = 1;
  std::uint64_t repeats = 7;
  bool instructions = false;
  bool json = false;
  bool check = false;
  bool only_slices = false;  // one repeat and no output: for --instructions
};

bool parse(int argc, char** argv, Arguments& out) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    bool* flag = name == "--instructions"  ? &out.instructions
                 : name == "--json"        ? &out.json
                 : name == "--check"       ? &out.check
                 : name == "--only-slices" ? &out.only_slices
                                           : nullptr;
    if (flag != nullptr) {
      *flag = true;
      continue;
    }
    std::uint64_t* value = name == "--slices"        ? &out.slices
                           : name == "--descriptors" ? &out.descriptors
                           : name == "--rails"       ? &out.rails
                           : name == "--repeats"     ? &out.repeats
                                                     : nullptr;
    if (value == nullptr || ++i == argc) return false;
    const char* end = argv[i] + std::strlen(argv[i]);
    const auto parsed = std::from_chars(argv[i], end, *value);
    if (parsed.ec != std::errc() || parsed.ptr != end) return false;
  }
  return out.slices >= 1 && out.slices <= 1'000'000'000 && out.descriptors >= 1 &&
         out.descriptors <= 10'000'000 && out.rails >= 1 && out.rails <= kRailsPerPeerMax &&
         out.repeats >= 1 && out.repeats <= 1000;
}

struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

struct Figures {
  Spread slice_ns;
  Spread submit_ns;  // in order
  Spread shuffled_ns;
  Spread move_ns;
  double rail_ns = 0;
  double allocations = 0;  // per slice, the worst repeat
  double locks = 0;
  std::optional<double> instructions;
};

Figures measure(const Arguments& arguments) {
  NullBench bench(static_cast<std::uint32_t>(arguments.rails));
  SubmitBench submit_bench;
  std::vector<double> slice, submit, shuffled, move;
  Figures figures;
  for (std::uint64_t i = 0; i < arguments.repeats; ++i) {
    const NullBench::SliceCost cost = bench.measure_slices(arguments.slices);
    slice.push_back(cost.ns);
    figures.allocations = std::max(figures.allocations, cost.allocations);
    figures.locks = std::max(figures.locks, cost.locks);
  }
  for (std::uint64_t i = 0; i < arguments.repeats; ++i) {
    const auto descriptors = static_cast<std::uint32_t>(arguments.descriptors);
    const NullBench::DescriptorCost cost = bench.measure_descriptors(descriptors);
    submit.push_back(submit_bench.measure(descriptors, false) + cost.start_ns);
    shuffled.push_back(submit_bench.measure(descriptors, true) + cost.start_ns);
    move.push_back(cost.move_ns);
  }
  figures.slice_ns = spread_of(slice);
  figures.submit_ns = spread_of(submit);
  figures.shuffled_ns = spread_of(shuffled);
  figures.move_ns = spread_of(move);
  figures.rail_ns = null_rail_ns(arguments.slices);
  return figures;
}

// --- instructions, by callgrind -------------------------------------------------------

// The instructions of a run of this program under callgrind, all of them.
std::optional<double> count_run(const std::string& self, std::uint64_t slices,
                                std::uint64_t rails) {
  char path[] = "/tmp/perf_micro.XXXXXX";
  const int fd = ::mkstemp(path);
  if (fd < 0) return {};
  ::close(fd);
  const std::string command =
      "valgrind --tool=callgrind --callgrind-out-file=" + std::string(path) + " " + self +
      " --only-slices --slices " + std::to_string(slices) + " --rails " + std::to_string(rails) +
      " >/dev/null 2>&1";
  std::optional<double> total;
  if (std::system(command.c_str()) == 0) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("totals: ", 0) == 0 || line.rfind("summary: ", 0) == 0) {
        total = std::strtod(line.c_str() + line.find(' '), nullptr);
      }
    }
  }
  ::unlink(path);
  return total;
}

// Two runs of different length, so that start, warm-up and end cancel out.
std::optional<double> instructions_per_slice(const Arguments& arguments) {
  constexpr std::uint64_t kShort = 20'000, kLong = 120'000;
  char self[4096];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0 || std::system("command -v valgrind >/dev/null 2>&1") != 0) return {};
  self[length] = '\0';
  const auto first = count_run(self, kShort, arguments.rails);
  const auto second = count_run(self, kLong, arguments.rails);
  if (!first || !second) return {};
  return (*second - *first) / static_cast<double>(kLong - kShort);
}

// --- output ---------------------------------------------------------------------------

void print_json(const Arguments& a, const Figures& f) {
  std::printf(
      "{\"ns_per_slice\": %.1f, \"ns_per_slice_min\": %.1f, \"ns_per_slice_max\": %.1f, "
      "\"rail_ns_per_slice\": %.1f, \"instructions_per_slice\": ",
      f.slice_ns.median, f.slice_ns.least, f.slice_ns.most, f.rail_ns);
  f.instructions ? std::printf("%.1f", *f.instructions) : std::printf("null");
  std::printf(
      ", \"allocations_per_slice\": %.6g, \"locks_per_slice\": %.6g, "
      "\"ns_per_descriptor\": %.1f, \"ns_per_descriptor_min\": %.1f, "
      "\"ns_per_descriptor_max\": %.1f, \"ns_per_descriptor_shuffled\": %.1f, "
      "\"ns_per_descriptor_moved\": %.1f, "
      "\"slices\": %llu, \"slice_bytes\": 65536, \"descriptors\": %llu, "
      "\"descriptor_bytes\": 4096, \"rails\": %llu, \"repeats\": %llu}\n",
      f.allocations, f.locks, f.submit_ns.median, f.submit_ns.least, f.submit_ns.most,
      f.shuffled_ns.median, f.move_ns.median, static_cast<unsigned long long>(a.slices),
      static_cast<unsigned long long>(a.descriptors), static_cast<unsigned long long>(a.rails),
      static_cast<unsigned long long>(a.repeats));
}

void print_text(const Arguments& a, const Figures& f) {
  std::printf("%llu repeats; median (least to most)\n", static_cast<unsigned long long>(a.repeats));
  std::printf("from cut to settled   %8.1f ns per slice (%.1f to %.1f), %llu rails\n",
              f.slice_ns.median, f.slice_ns.least, f.slice_ns.most,
              static_cast<unsigned long long>(a.rails));
  std::printf("  the null rail of it %8.1f ns\n", f.rail_ns);
  if (f.instructions) std::printf("  instructions        %8.1f per slice\n", *f.instructions);
  std::printf("  allocations         %8.6g per slice\n", f.allocations);
  std::printf("  locks               %8.6g per slice\n", f.locks);
  std::printf("submitting            %8.1f ns per descriptor (%.1f to %.1f)\n", f.submit_ns.median,
              f.submit_ns.least, f.submit_ns.most);
  std::printf("  out of order        %8.1f ns\n", f.shuffled_ns.median);
  std::printf("moving                %8.1f ns per descriptor, 16 to a slice\n", f.move_ns.median);
}

int run(const Arguments& arguments) {
  if (arguments.only_slices) {
    NullBench bench(static_cast<std::uint32_t>(arguments.rails));
    (void)bench.measure_slices(arguments.slices);
    return 0;
  }
  if (!counting_works()) {
    std::fprintf(stderr, "perf_micro: the counting operator new and locks are not in effect\n");
    return 1;
  }
  Figures figures = measure(arguments);
  if (arguments.instructions) figures.instructions = instructions_per_slice(arguments);
  arguments.json ? print_json(arguments, figures) : print_text(arguments, figures);
  if (arguments.check && (figures.allocations > 0 || figures.locks > 0)) {
    std::fprintf(stderr, "perf_micro: the hot path allocates or locks\n");
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace spindrift::perf

int main(int argc, char** argv) {
  spindrift::perf::Arguments arguments;
  if (!spindrift::perf::parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: perf_micro [--slices N] [--descriptors N] [--rails N] [--repeats N]\n"
                 "                  [--instructions] [--json] [--check]\n");
    return 2;
  }
  return spindrift::perf::run(arguments);
}
