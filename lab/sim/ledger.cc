#include "lab/sim/ledger.h"

#include <algorithm>
#include <cstring>

#include "policies/matching.h"

namespace spindrift::lab::sim {

namespace {

// Every simulated link moves all that there is to move many times in this time.
constexpr auto kAmpleBudget = std::chrono::seconds(60);

const std::byte* source_of(const executor::Job& job, const ResolvedDescriptor& d) {
  return job.operation == Operation::kWrite ? d.local
                                            : reinterpret_cast<const std::byte*>(d.remote);
}
const std::byte* destination_of(const executor::Job& job, const ResolvedDescriptor& d) {
  return job.operation == Operation::kWrite ? reinterpret_cast<const std::byte*>(d.remote)
                                            : d.local;
}

// What is known of a transfer, for whoever looks for the reason.
std::string story(const executor::Job& job) {
  std::string text = std::to_string(job.landed) + " of " + std::to_string(job.bytes) +
                     " bytes landed, " + std::to_string(job.unbound) + " were never sent, " +
                     std::to_string(job.retries) + " retries, spray " +
                     policies::to_string(job.plan->spray);
  for (std::size_t i = 0; i < job.tallies.size(); ++i) {
    const executor::RailTally& tally = job.tallies[i];
    text += "; rail " + std::to_string(i) + ": " + std::to_string(tally.attempts) + " attempts, " +
            std::to_string(tally.failures) + " failed (" + to_string(tally.first_cause) + ")";
  }
  return text;
}

}  // namespace

std::vector<std::size_t> Arena::take(std::size_t wanted, std::uint64_t id, Prng& prng) {
  std::vector<std::size_t> taken;
  const std::size_t first = prng.below(cells());
  for (std::size_t i = 0; i < cells() && taken.size() < wanted; ++i) {
    const std::size_t cell = (first + i) % cells();
    if (owner_[cell] != 0) continue;
    owner_[cell] = id;
    taken.push_back(cell);
    for (std::size_t b = 0; b < kCellBytes; b += 8) {
      const std::uint64_t noise = prng.next();
      std::memcpy(&bytes_[cell * kCellBytes + b], &noise, 8);
    }
  }
  return taken;
}

void Ledger::started(const executor::Job& job, Arena& local, Arena& remote) {
  Active active;
  active.job = &job;
  const bool write = job.operation == Operation::kWrite;
  active.source = write ? &local : &remote;
  active.destination = write ? &remote : &local;
  Arena& destination = *active.destination;
  for (std::size_t cell = 0; cell < destination.cells(); ++cell) {
    if (destination.owner(cell) != job.id.value) continue;
    const std::byte* begin = destination.base() + cell * kCellBytes;
    active.before[cell].assign(begin, begin + kCellBytes);
  }
  active_[job.id.value] = std::move(active);
  note(1, job.id.value, job.bytes);
}

void Ledger::ended(executor::Job& job, Instant now) {
  const auto it = active_.find(job.id.value);
  if (it == active_.end()) {
    violation("transfer " + std::to_string(job.id.value) + " ended twice");
    return;
  }
  const Active& active = it->second;
  if (job.unsettled != 0) violation("a transfer ended with attempts that are not settled");
  if (now > job.deadline + std::chrono::seconds(10)) {
    violation("transfer " + std::to_string(job.id.value) + " ended long after its budget");
  }
  // Invariant 4: faults come and go, so that a path works most of the time.
  if (job.outcome == Cause::kDeadline && job.deadline - job.submitted >= kAmpleBudget) {
    violation("transfer " + std::to_string(job.id.value) + " spent an ample budget: " + story(job));
  }
  std::uint64_t unlanded = 0;
  for (const executor::Unlanded& part : job.unlanded) unlanded += part.bytes;
  const bool exact = job.plan->spray != policies::Spray::kRoundRobin || job.outcome == Cause::kNone;
  if (exact && unlanded + job.landed != job.bytes) {
    violation("transfer " + std::to_string(job.id.value) + ": landed " +
              std::to_string(job.landed) + " + unconfirmed " + std::to_string(unlanded) +
              " != " + std::to_string(job.bytes));
  }
  check_bytes(active, job);
  check_margins(active);
  for (Arena* arena : arenas_) {
    for (std::size_t cell = 0; cell < arena->cells(); ++cell) {
      if (arena->owner(cell) == job.id.value) arena->owner(cell) = 0;
    }
  }
  note(2, job.id.value,
       static_cast<std::uint64_t>(to_ns(now)) ^ static_cast<std::uint64_t>(job.outcome));
  active_.erase(it);
}

// Every byte that is not reported as unconfirmed equals its source.
void Ledger::check_bytes(const Active& active, const executor::Job& job) {
  (void)active;
  std::vector<std::vector<bool>> unconfirmed(job.descriptors.size());
  for (std::size_t i = 0; i < job.descriptors.size(); ++i) {
    unconfirmed[i].resize(job.descriptors[i].length);
  }
  for (const executor::Unlanded& part : job.unlanded) {
    executor::Cursor at = part.begin;
    for (std::uint64_t left = part.bytes; left > 0; --left) {
      unconfirmed[at.descriptor][at.offset] = true;
      if (++at.offset == job.descriptors[at.descriptor].length) at = {at.descriptor + 1, 0};
    }
  }
  for (std::size_t i = 0; i < job.descriptors.size(); ++i) {
    const ResolvedDescriptor& d = job.descriptors[i];
    const std::byte* source = source_of(job, d);
    const std::byte* destination = destination_of(job, d);
    for (std::uint64_t b = 0; b < d.length; ++b) {
      if (unconfirmed[i][b] || source[b] == destination[b]) continue;
      violation("transfer " + std::to_string(job.id.value) + ": byte " + std::to_string(b) +
                " of range " + std::to_string(i) + " is reported landed and differs");
      return;
    }
  }
}

// What lies between the destination ranges is as it was.
void Ledger::check_margins(const Active& active) {
  Arena& arena = *active.destination;
  for (const auto& [cell, before] : active.before) {
    std::vector<bool> asked(kCellBytes);
    const std::byte* base = arena.base() + cell * kCellBytes;
    for (const ResolvedDescriptor& d : active.job->descriptors) {
      // In integers: a flawed range may lie anywhere, and wrap around.
      const auto offset = reinterpret_cast<std::uint64_t>(destination_of(*active.job, d)) -
                          reinterpret_cast<std::uint64_t>(base);
      for (std::uint64_t b = 0; b < d.length; ++b) {
        if (offset + b < kCellBytes) asked[offset + b] = true;
      }
    }
    for (std::size_t b = 0; b < kCellBytes; ++b) {
      if (asked[b] || base[b] == before[b]) continue;
      violation("transfer " + std::to_string(active.job->id.value) +
                ": a byte outside its destination ranges was written");
      return;
    }
  }
}

// A probe moves scratch memory, which is nobody's.
bool Ledger::is_probe(const Attempt& attempt, const std::byte* at, const char* what) {
  if (attempt.descriptors->remote_key != rails::kScratchKey) return false;
  for (const Arena* arena : arenas_) {
    if (arena->contains(at)) violation(std::string(what) + " of somebody's memory by a probe");
  }
  return true;
}

const Ledger::Active* Ledger::owner(const Attempt& attempt, const std::byte* at,
                                    std::uint64_t length, const char* what) {
  for (const Arena* arena : arenas_) {
    if (!arena->contains(at)) continue;
    const auto it = active_.find(arena->owner_at(at));
    if (it == active_.end()) {
      violation(std::string(what) + " of memory that no running transfer owns");
      return nullptr;
    }
    const auto& descriptors = it->second.job->descriptors;
    const bool own = attempt.descriptors >= descriptors.data() &&
                     attempt.descriptors < descriptors.data() + descriptors.size();
    if (!own || !arena->contains(at + length - 1)) {
      violation(std::string(what) + " by a transfer that is over: its memory belongs to transfer " +
                std::to_string(it->first) + " now");
      return nullptr;
    }
    return &it->second;
  }
  violation(std::string(what) + " outside all memory");
  return nullptr;
}

void Ledger::on_source_read(const Attempt& attempt, const std::byte* from, std::uint64_t length) {
  if (length == 0 || is_probe(attempt, from, "read")) return;
  (void)owner(attempt, from, length, "read");
  note(3, attempt.seq, length);
}

void Ledger::on_destination_write(const Attempt& attempt, std::byte* to, std::uint64_t length) {
  if (length == 0 || is_probe(attempt, to, "write")) return;
  (void)owner(attempt, to, length, "write");
  note(4, attempt.seq, length);
}

void Ledger::check_nothing_running() {
  for (const auto& [id, active] : active_) {
    violation("transfer " + std::to_string(id) + " never ended");
  }
}

void Ledger::violation(std::string text) {
  constexpr std::size_t kViolationsMax = 16;  // the first ones tell the story
  if (violations_.size() < kViolationsMax) violations_.push_back(std::move(text));
}

void Ledger::note(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  for (const std::uint64_t word : {a, b, c}) {
    hash_ = (hash_ ^ word) * 0x100000001b3ULL;
    hash_ ^= hash_ >> 29;
  }
}

}  // namespace spindrift::lab::sim
