// The limit that a TCP rail over loopback is compared with: one process sends,
// another receives, over one connection with the rail's own socket options, each
// walking through as much memory as the benchmark's ends do. No frames, no
// acknowledgements, no choice to make.
//
//   raw_stream MEMORY SECONDS       e.g. raw_stream 256MiB 3s
//
// Prints {"raw_bps":N}: bytes per second that were received, after a warm-up of a
// fifth of the time. Exit status 0 or 1.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/units.h"
#include "config/units.h"
#include "rails/tcp/socket.h"
#include "tools/memory_block.h"

namespace spindrift::perf {
namespace {

constexpr std::size_t kCall = kMiB;  // most bytes of one system call

struct Plan {
  std::uint64_t memory = 0;
  Duration duration{0};
};

// Moves through the memory again and again.
class Walk {
 public:
  explicit Walk(const tools::MemoryBlock& memory) : memory_(memory) {}
  iovec next() const {
    return {memory_.data() + at_, std::min<std::size_t>(kCall, memory_.size() - at_)};
  }
  void moved(std::size_t bytes) { at_ = (at_ + bytes) % memory_.size(); }

 private:
  const tools::MemoryBlock& memory_;
  std::size_t at_ = 0;
};

bool wait_for(int fd, short events) {
  pollfd ready{fd, events, 0};
  return ::poll(&ready, 1, 5000) == 1;
}

// Sends until the receiver has had enough and closes.
void send_all(int fd, const tools::MemoryBlock& memory) {
  Walk walk(memory);
  for (;;) {
    const iovec piece = walk.next();
    const rails::tcp::Moved moved = rails::tcp::send_some(fd, &piece, 1);
    if (moved.down != Cause::kNone) return;
    if (moved.blocked && !wait_for(fd, POLLOUT)) return;
    walk.moved(moved.bytes);
  }
}

// Bytes per second; nothing when the sender failed.
std::optional<std::uint64_t> receive_all(int fd, const tools::MemoryBlock& memory,
                                         Duration duration) {
  Walk walk(memory);
  const Instant begin = read_monotonic_clock();
  const Instant counted = begin + duration / 5;
  std::uint64_t bytes = 0;
  for (;;) {
    const iovec piece = walk.next();
    const rails::tcp::Moved moved = rails::tcp::receive_some(fd, &piece, 1);
    if (moved.down != Cause::kNone) return std::nullopt;
    if (moved.blocked && !wait_for(fd, POLLIN)) return std::nullopt;
    walk.moved(moved.bytes);
    const Instant now = read_monotonic_clock();
    if (now >= counted) bytes += moved.bytes;
    if (now >= begin + duration) return Rate::of(bytes, now - counted).bytes_per_s;
  }
}

struct Listener {
  FileDescriptor fd;
  sockaddr_in address{};
};

std::optional<Listener> listen_on_loopback() {
  Listener made{FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), {}};
  made.address.sin_family = AF_INET;
  made.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof made.address;
  auto* address = reinterpret_cast<sockaddr*>(&made.address);
  if (::bind(made.fd.get(), address, length) != 0 || ::listen(made.fd.get(), 1) != 0 ||
      ::getsockname(made.fd.get(), address, &length) != 0) {
    return std::nullopt;
  }
  return made;
}

int run_sender(const Listener& listener, const Plan& plan) {
  auto memory = tools::MemoryBlock::allocate(plan.memory, "the raw sender");
  const FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!memory.ok() || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&listener.address),
                                sizeof listener.address) != 0) {
    return 1;
  }
  rails::tcp::apply_socket_options(fd.get(), {});
  send_all(fd.get(), *memory);
  return 0;
}

int run_receiver(const Listener& listener, const Plan& plan) {
  auto memory = tools::MemoryBlock::allocate(plan.memory, "the raw receiver");
  if (!memory.ok()) {
    std::fprintf(stderr, "raw_stream: %s\n", memory.status().to_string().c_str());
    return 1;
  }
  const FileDescriptor fd(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  rails::tcp::apply_socket_options(fd.get(), {});
  const std::optional<std::uint64_t> rate = receive_all(fd.get(), *memory, plan.duration);
  if (!rate) {
    std::fprintf(stderr, "raw_stream: the sender failed\n");
    return 1;
  }
  std::printf("{\"raw_bps\":%llu}\n", static_cast<unsigned long long>(*rate));
  return 0;
}

int run(const char* memory, const char* duration) {
  const auto bytes = config::parse_size(memory);
  const auto span = config::parse_duration(duration);
  if (!bytes.ok() || !span.ok() || *bytes == 0 || span->count() <= 0) {
    std::fprintf(stderr, "raw_stream: a memory like 256MiB and a duration like 3s\n");
    return 1;
  }
  const Plan plan{*bytes, *span};
  const std::optional<Listener> listener = listen_on_loopback();
  if (!listener) {
    std::fprintf(stderr, "raw_stream: no port on loopback: %s\n", std::strerror(errno));
    return 1;
  }
  // Forked before either has memory, so that no page is shared and copied later.
  const pid_t sender = ::fork();
  if (sender < 0) return 1;
  if (sender == 0) return run_sender(*listener, plan);
  const int status = run_receiver(*listener, plan);
  ::waitpid(sender, nullptr, 0);
  return status;
}

}  // namespace
}  // namespace spindrift::perf

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: raw_stream MEMORY SECONDS, e.g. raw_stream 256MiB 3s\n");
    return 1;
  }
  return spindrift::perf::run(argv[1], argv[2]);
}
