#include "tools/kernel_facts.h"

#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <sstream>

#include "base/format.h"
#include "tools/versions.h"

namespace spindrift::tools {
namespace {

constexpr std::uint64_t kBacklogWanted = 1024;  // a thousand peers that connect at once
constexpr std::uint64_t kFilesWanted = 65536;   // 4,096 sessions and lanes of several rails
// 10 Gbit/s over 20 ms; below that a long path is limited by the socket's buffer.
constexpr std::uint64_t kSocketBufferWanted = 4 * 1024 * 1024;

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string one; words >> one;) {
    if (one == word) return true;
  }
  return false;
}

KernelFact congestion_fact(const std::string& wanted) {
  const std::string available = first_line("/proc/sys/net/ipv4/tcp_available_congestion_control");
  KernelFact fact{"congestion control", "asked for " + wanted + "; there is: " + available, ""};
  if (!has_word(available, wanted)) {
    fact.advice = wanted + " is not there, so connections get the kernel's default, " +
                  first_line("/proc/sys/net/ipv4/tcp_congestion_control") + "; modprobe tcp_" +
                  wanted;
  }
  return fact;
}

// A number in a file below /proc/sys, wanted to be at least `least`.
void add_number(std::vector<KernelFact>& facts, const std::string& key, std::uint64_t least,
                const std::string& why) {
  std::string path = "/proc/sys/" + key;
  for (char& c : path) c = c == '.' ? '/' : c;
  std::istringstream words(first_line(path));
  std::uint64_t value = 0;
  std::uint64_t last = 0;
  bool found = false;
  // tcp_rmem and tcp_wmem hold three numbers, the last of which is the largest.
  while (words >> value) {
    last = value;
    found = true;
  }
  if (!found) return;
  KernelFact fact{key, std::to_string(last), ""};
  if (last < least) {
    fact.advice = "at least " + std::to_string(least) + " is better: " + why;
  }
  facts.push_back(std::move(fact));
}

std::string limit_text(rlim_t value, bool bytes) {
  if (value == RLIM_INFINITY) return "unlimited";
  return bytes ? format_bytes(value) : std::to_string(value);
}

}  // namespace

std::vector<KernelFact> read_kernel_facts(const std::string& congestion) {
  std::vector<KernelFact> facts;
  facts.push_back({"kernel", read_versions().kernel, ""});
  facts.push_back(congestion_fact(congestion));
  add_number(facts, "net.core.somaxconn", kBacklogWanted,
             "connections of many peers at once are refused");
  add_number(facts, "net.ipv4.tcp_wmem", kSocketBufferWanted,
             "it bounds the bytes in flight on a long path");
  add_number(facts, "net.ipv4.tcp_rmem", kSocketBufferWanted,
             "it bounds the bytes in flight on a long path");
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    KernelFact fact{"open files (ulimit -n)", limit_text(limit.rlim_cur, false), ""};
    if (limit.rlim_cur < kFilesWanted) {
      fact.advice = "at least " + std::to_string(kFilesWanted) +
                    " for thousands of peers: one per connection";
    }
    facts.push_back(std::move(fact));
  }
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    facts.push_back({"locked memory (ulimit -l)", limit_text(limit.rlim_cur, true), ""});
  }
  // An answer to a question that people ask.
  facts.push_back({"kernel MPTCP", "not used: rails are connections of their own", ""});
  return facts;
}

}  // namespace spindrift::tools
