// Moves 64 MiB from this engine to another one and checks every byte. Both
// engines live in this process to keep the example whole; usually they are two
// processes on two hosts, and only the address changes.
#include <cstdio>
#include <cstring>
#include <vector>

#include "spindrift/spindrift.h"

using namespace spindrift;

namespace {

constexpr std::size_t kBytes = 64 << 20;

int fail(const Status& status) {
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return 1;
}

}  // namespace

int main() {
  // The receiving side: memory that peers may write, under the name "kv".
  auto receiver = Engine::from_yaml("schema: spindrift/node/1\nname: decode-0\n");
  if (!receiver) return fail(receiver.status());
  std::vector<char> target(kBytes);
  auto published = (*receiver)->register_memory({.address = target.data(),
                                                 .length = target.size(),
                                                 .segment = "kv",
                                                 .rights = Rights::kRemoteWrite});
  if (!published) return fail(published.status());

  // The sending side.
  auto sender = Engine::from_yaml("schema: spindrift/node/1\nname: prefill-0\n");
  if (!sender) return fail(sender.status());
  std::vector<char> source(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) source[i] = static_cast<char>(i * 7 >> 3);
  auto registered = (*sender)->register_memory({.address = source.data(), .length = source.size()});
  if (!registered) return fail(registered.status());

  auto segment = (*sender)->open_segment((*receiver)->control_address(), "kv");
  if (!segment) return fail(segment.status());

  // What must move. How is up to the policy.
  Intent intent;
  intent.operation = Operation::kWrite;
  intent.target = *segment;
  intent.ranges = {{source.data(), segment->regions()[0].address, kBytes}};
  auto transfer = (*sender)->submit(std::move(intent));
  if (!transfer) return fail(transfer.status());

  const TransferReport& report = transfer->wait();
  if (!report.status.ok()) return fail(report.status);
  for (const RailReport& rail : report.rails) {
    std::printf("%-24s %10llu bytes in %llu slices\n", rail.rail.c_str(),
                static_cast<unsigned long long>(rail.bytes),
                static_cast<unsigned long long>(rail.attempts));
  }
  const bool same = std::memcmp(source.data(), target.data(), kBytes) == 0;
  std::printf("%s\n", same ? "every byte arrived" : "BYTES DIFFER");
  return same ? 0 : 1;
}
