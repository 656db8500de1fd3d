// Who owns which memory of the simulated nodes, and the checkers behind it. It
// sees every access that an attempt makes and every end of a transfer, and
// records violations of the invariants; it knows nothing of slices, lanes or
// retries.
//
// Memory is handed out in cells. A transfer owns its cells at both ends from
// submission to its end; then they go to the next one at once, so that a late
// access by the old owner hits somebody else's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "executor/job.h"
#include "rails/sim/sim_driver.h"

namespace spindrift::lab::sim {

inline constexpr std::size_t kCellBytes = 4096;

// One node's memory.
class Arena {
 public:
  explicit Arena(std::size_t cells) : bytes_(cells * kCellBytes), owner_(cells, 0) {}

  std::byte* base() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  std::size_t cells() const { return owner_.size(); }
  bool contains(const std::byte* p) const {
    return p >= bytes_.data() && p < bytes_.data() + bytes_.size();
  }
  std::uint64_t& owner(std::size_t cell) { return owner_[cell]; }
  std::uint64_t owner_at(const std::byte* p) const {
    return owner_[static_cast<std::size_t>(p - bytes_.data()) / kCellBytes];
  }
  // Free cells, at most `wanted`, taken for `id` and filled with noise.
  std::vector<std::size_t> take(std::size_t wanted, std::uint64_t id, Prng& prng);

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::uint64_t> owner_;  // transfer id, 0: free
};

class Ledger final : public rails::sim::MemoryWitness {
 public:
  void add_arena(Arena& arena) { arenas_.push_back(&arena); }

  // From now on until ended() the job owns its cells. `remote` is the arena at
  // the other end.
  void started(const executor::Job& job, Arena& local, Arena& remote);
  // Checks the outcome against memory and gives the cells back.
  void ended(executor::Job& job, Instant now);
  bool all_ended() const { return active_.empty(); }
  // At the very end.
  void check_nothing_running();

  void on_source_read(const Attempt& attempt, const std::byte* from, std::uint64_t length) override;
  void on_destination_write(const Attempt& attempt, std::byte* to, std::uint64_t length) override;

  void violation(std::string text);
  void note(std::uint64_t a, std::uint64_t b, std::uint64_t c);
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t trace_hash() const { return hash_; }

 private:
  struct Active {
    const executor::Job* job = nullptr;
    Arena* source = nullptr;
    Arena* destination = nullptr;
    std::map<std::size_t, std::vector<std::byte>> before;  // destination cells
  };
  bool is_probe(const Attempt& attempt, const std::byte* at, const char* what);
  const Active* owner(const Attempt& attempt, const std::byte* at, std::uint64_t length,
                      const char* what);
  void check_bytes(const Active& active, const executor::Job& job);
  void check_margins(const Active& active);

  std::vector<Arena*> arenas_;
  std::map<std::uint64_t, Active> active_;  // by transfer id
  std::vector<std::string> violations_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace spindrift::lab::sim
