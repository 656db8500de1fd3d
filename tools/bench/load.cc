#include "tools/bench/load.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace spindrift::tools::bench {
namespace {

// A thread gives up after as many failures: each may take a whole time budget.
constexpr std::uint64_t kFailuresMax = 8;

// Shared by the threads of a round.
struct Shared {
  std::atomic<std::uint64_t> tickets{0};  // intents that were begun
  std::atomic<std::uint64_t> intents{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<bool> stop{false};

  std::mutex mutex;
  std::condition_variable done;
  std::uint32_t running = 0;
};

class Submitter {
 public:
  Submitter(const Load& load, const RoundLimits& limits, Shared& shared, std::uint32_t index)
      : load_(load), limits_(limits), shared_(shared) {
    const std::uint64_t share = load.slots / load.options->threads;
    first_slot_ = share * index;
    slots_ = share;
    landed_.resize(slots_);
  }

  void run() {
    while (!gave_up() && submit_more()) wait_for_oldest();
    while (!in_flight_.empty()) wait_for_oldest();
  }

  const Tally& tally() const { return tally_; }
  std::uint64_t first_slot() const { return first_slot_; }
  const std::vector<std::uint8_t>& landed() const { return landed_; }

 private:
  struct Running {
    Transfer transfer;
    Instant begin;
    std::uint64_t slot = 0;  // of this thread
  };

  bool gave_up() const { return tally_.failed >= kFailuresMax || shared_.stop.load(); }

  // Fills up to the depth. False when nothing is in flight and nothing is left.
  bool submit_more() {
    while (in_flight_.size() < load_.options->depth && may_submit()) {
      if (!submit_one()) break;
    }
    return !in_flight_.empty();
  }

  bool may_submit() {
    if (limits_.each_slot_once && next_ >= slots_) return false;
    if (limits_.duration.count() > 0 && tally_.begin != kNever &&
        read_monotonic_clock() - tally_.begin >= limits_.duration) {
      return false;
    }
    return limits_.count == 0 ||
           shared_.tickets.fetch_add(1, std::memory_order_relaxed) < limits_.count;
  }

  Intent intent_for(std::uint64_t slot) const {
    const std::uint64_t base = (first_slot_ + slot) * load_.layout->slot_bytes();
    Intent intent;
    intent.operation = load_.options->operation;
    intent.target = load_.segment;
    intent.klass = load_.options->klass;
    intent.budget = load_.options->budget;
    intent.integrity = load_.options->integrity;
    intent.ranges.reserve(load_.layout->pieces().size());
    for (const Piece& piece : load_.layout->pieces()) {
      intent.ranges.push_back(
          {load_.local + base + piece.local, load_.remote + base + piece.remote, piece.length});
    }
    return intent;
  }

  bool submit_one() {
    const std::uint64_t slot = next_++ % slots_;
    Intent intent = intent_for(slot);
    const Instant begin = read_monotonic_clock();
    Result<Transfer> transfer = load_.engine->submit(std::move(intent));
    const Instant submitted = read_monotonic_clock();
    if (tally_.begin == kNever) tally_.begin = begin;
    if (!transfer.ok()) {
      note_failure(transfer.status());
      shared_.stop.store(true);  // what is wrong with this one is wrong with all
      return false;
    }
    tally_.submit_time += submitted - begin;
    tally_.descriptors += load_.layout->pieces().size();
    in_flight_.push_back({std::move(*transfer), begin, slot});
    return true;
  }

  void wait_for_oldest() {
    Running oldest = std::move(in_flight_.front());
    in_flight_.pop_front();
    const bool had_finished = oldest.transfer.finished();
    const TransferReport& report = oldest.transfer.wait();
    const Instant now = read_monotonic_clock();
    // One that finished while an older one was waited for could have been seen
    // then; when that was, the engine knows.
    // An intent without bytes takes the engine no time at all.
    const Duration taken = report.queue_time + report.transport_time;
    const Duration latency = had_finished && taken.count() > 0 ? std::min(now - oldest.begin, taken)
                                                               : now - oldest.begin;
    tally_.end = now;
    tally_.add(report);
    if (report.status.ok()) {
      tally_.latency.record(latency);
      landed_[oldest.slot] = 1;
      shared_.intents.fetch_add(1, std::memory_order_relaxed);
    } else {
      landed_[oldest.slot] = 0;
    }
    shared_.bytes.fetch_add(report.landed_bytes, std::memory_order_relaxed);
  }

  void note_failure(const Status& status) {
    ++tally_.failed;
    if (tally_.first_failure.ok()) tally_.first_failure = status;
  }

  const Load& load_;
  const RoundLimits& limits_;
  Shared& shared_;
  std::uint64_t first_slot_ = 0;
  std::uint64_t slots_ = 0;
  std::uint64_t next_ = 0;  // slot to take next, counted on
  std::deque<Running> in_flight_;
  std::vector<std::uint8_t> landed_;
  Tally tally_;
};

// Waits for the threads, ticking.
void watch(Shared& shared, Duration interval,
           const std::function<bool(std::uint64_t, std::uint64_t)>& tick) {
  std::unique_lock lock(shared.mutex);
  while (!shared.done.wait_for(lock, interval, [&] { return shared.running == 0; })) {
    lock.unlock();
    if (tick(shared.intents.load(), shared.bytes.load())) shared.stop.store(true);
    lock.lock();
  }
}

}  // namespace

void Tally::add(const TransferReport& report) {
  bytes += report.landed_bytes;
  retries += report.retries;
  if (report.status.ok()) {
    ++intents;
  } else {
    ++failed;
    if (first_failure.ok()) first_failure = report.status;
  }
  if (policy_rule.empty()) policy_rule = report.policy_rule;
  add_rails(report.rails);
}

void Tally::add_rails(const std::vector<RailReport>& more) {
  for (std::size_t i = 0; i < more.size(); ++i) {
    const RailReport& rail = more[i];
    // Reports of one plan list the same rails in the same order.
    std::size_t at = i;
    if (at >= rails.size() || rails[at].rail != rail.rail) {
      at = static_cast<std::size_t>(
          std::find_if(rails.begin(), rails.end(),
                       [&](const RailReport& known) { return known.rail == rail.rail; }) -
          rails.begin());
    }
    if (at == rails.size()) rails.push_back({.rail = rail.rail});
    rails[at].bytes += rail.bytes;
    rails[at].attempts += rail.attempts;
    rails[at].failures += rail.failures;
  }
}

void Tally::merge(const Tally& other) {
  latency.merge(other.latency);
  submit_time += other.submit_time;
  descriptors += other.descriptors;
  begin = std::min(begin, other.begin);
  end = std::max(end, other.end);
  intents += other.intents;
  bytes += other.bytes;
  retries += other.retries;
  if (policy_rule.empty()) policy_rule = other.policy_rule;
  add_rails(other.rails);
  failed += other.failed;
  if (first_failure.ok()) first_failure = other.first_failure;
}

RoundResult run_round(const Load& load, const RoundLimits& limits,
                      const std::function<bool(std::uint64_t, std::uint64_t)>& tick) {
  Shared shared;
  shared.running = load.options->threads;
  std::vector<Submitter> submitters;
  submitters.reserve(load.options->threads);
  for (std::uint32_t i = 0; i < load.options->threads; ++i) {
    submitters.emplace_back(load, limits, shared, i);
  }
  std::vector<std::thread> threads;
  for (Submitter& submitter : submitters) {
    threads.emplace_back([&submitter, &shared] {
      submitter.run();
      std::lock_guard lock(shared.mutex);
      --shared.running;
      shared.done.notify_all();
    });
  }
  watch(shared, load.options->tick, tick);
  for (std::thread& thread : threads) thread.join();

  RoundResult result;
  result.landed.resize(load.slots);
  for (const Submitter& submitter : submitters) {
    result.tally.merge(submitter.tally());
    std::copy(submitter.landed().begin(), submitter.landed().end(),
              result.landed.begin() + static_cast<std::ptrdiff_t>(submitter.first_slot()));
  }
  return result;
}

}  // namespace spindrift::tools::bench
