#include "tools/bench/point.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/format.h"
#include "base/units.h"
#include "tools/bench/load.h"

namespace spindrift::tools::bench {
namespace {

// Of one untimed transfer, so that its progress can be shown.
constexpr std::uint64_t kUntimedBytes = 256 * kMiB;
// A point with as many failed intents tells nothing new.
constexpr std::uint64_t kFailuresMax = 8;
// What lies between descriptors is another pattern at each end, so that a byte too
// many is noticed.
constexpr std::uint64_t kLocalBackground = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kRemoteBackground = kLocalBackground - 1;

std::uint64_t slots_for(const PointOptions& options, std::uint64_t slot_bytes,
                        std::uint64_t memory) {
  const std::uint64_t least = std::uint64_t{options.depth} * options.threads;
  std::uint64_t slots = memory / slot_bytes;
  if (options.reuse_addresses) slots = std::min(slots, least);
  if (options.count > 0) slots = std::min(slots, std::max(least, options.count));
  return slots - slots % options.threads;
}

class Point {
 public:
  Point(Session& session, const PointOptions& options)
      : session_(session), options_(options), layout_(options.layout) {}

  Result<PointResult> run() {
    if (Status status = check(); !status.ok()) return status;
    if (Status status = warm_up(); !status.ok()) return status;
    if (options_.verify) {
      if (Status status = lay_background(); !status.ok()) return status;
    }
    while (!finished()) {
      if (options_.verify) {
        if (Status status = prepare_round(); !status.ok()) return status;
      }
      const RoundResult round = timed_round();
      take(round.tally);
      ++result_.rounds;
      if (options_.verify) {
        if (Status status = verify_round(round.landed); !status.ok()) return status;
      }
      if (round.tally.intents == 0) break;
    }
    return std::move(result_);
  }

 private:
  Status check() {
    slots_ = slots_for(options_, layout_.slot_bytes(), session_.length());
    const std::uint64_t least = std::uint64_t{options_.depth} * options_.threads;
    if (slots_ < least) {
      return Status(Code::kInvalidArgument,
                    {.what = std::to_string(least) + " intents in flight of " +
                             format_bytes(layout_.bytes()) + " need " +
                             format_bytes(least * layout_.slot_bytes()) + " at each end",
                     .why = "there are " + format_bytes(session_.length()),
                     .hint = "use a larger segment and --memory, or less depth and threads"});
    }
    const Target& target = session_.target();
    const bool writes = options_.operation == Operation::kWrite;
    const std::string name = "segment " + target.segment.name();
    if (!(writes ? target.can_write : target.can_read)) {
      return Status(Code::kPermissionDenied,
                    {.what = name + " does not grant " + (writes ? "write" : "read") + " access",
                     .hint = "the peer's node file must say so under `rights`"});
    }
    if (options_.verify && !(target.can_write && target.can_read)) {
      return Status(Code::kPermissionDenied,
                    {.what = "verification writes and reads " + name,
                     .why = "it does not grant both",
                     .hint = "leave --verify out, or give it `rights: read_write`"});
    }
    return {};
  }

  bool stopped() const { return options_.stop && options_.stop(); }

  bool finished() const {
    if (stopped() || result_.failed_intents >= kFailuresMax) return true;
    if (options_.count > 0) return result_.intents + result_.failed_intents >= options_.count;
    return result_.timed >= options_.duration;
  }

  void observe(Phase phase, const Progress& more = {}) const {
    if (!options_.observe) return;
    options_.observe({.phase = phase,
                      .intents = result_.intents + more.intents,
                      .bytes = result_.bytes + more.bytes,
                      .timed = result_.timed + more.timed});
  }

  Load load() const {
    return {.engine = &session_.engine(),
            .segment = session_.target().segment,
            .local = session_.memory(),
            .remote = session_.target().address,
            .layout = &layout_,
            .options = &options_,
            .slots = slots_};
  }

  Status warm_up() {
    if (options_.warmup.count() <= 0) return {};
    const RoundResult round =
        run_round(load(), {.duration = options_.warmup}, [this](std::uint64_t, std::uint64_t) {
          observe(Phase::kWarmup);
          return stopped();
        });
    return round.tally.intents > 0 ? Status() : round.tally.first_failure;
  }

  RoundResult timed_round() {
    RoundLimits limits{.each_slot_once = options_.verify};
    if (options_.count > 0) {
      limits.count = options_.count - result_.intents - result_.failed_intents;
    } else {
      limits.duration = options_.duration - result_.timed;
    }
    const Instant begin = read_monotonic_clock();
    return run_round(load(), limits, [&](std::uint64_t intents, std::uint64_t bytes) {
      observe(Phase::kTimed,
              {.intents = intents, .bytes = bytes, .timed = read_monotonic_clock() - begin});
      return stopped();
    });
  }

  void take(const Tally& tally) {
    if (tally.end > tally.begin) result_.timed += tally.end - tally.begin;
    result_.intents += tally.intents;
    result_.bytes += tally.bytes;
    result_.retries += tally.retries;
    result_.failed_intents += tally.failed;
    if (result_.first_failure.ok()) result_.first_failure = tally.first_failure;
    all_.merge(tally);
    result_.latency = all_.latency;
    result_.submit_time = all_.submit_time;
    result_.submitted_descriptors = all_.descriptors;
    result_.policy_rule = all_.policy_rule;
    result_.rails = all_.rails;
  }

  // --- verification ------------------------------------------------------------------

  std::uint64_t used() const { return slots_ * layout_.slot_bytes(); }
  std::uint64_t slot_at(std::uint64_t slot) const { return slot * layout_.slot_bytes(); }
  PatternKey data_key(std::uint64_t slot) const {
    return pattern_key(options_.seed, result_.rounds, slot);
  }
  PatternKey background_key(End end, std::uint64_t slot) const {
    return pattern_key(options_.seed, end == End::kLocal ? kLocalBackground : kRemoteBackground,
                       slot);
  }

  // Calls `work` for each slot, ticking now and then.
  void for_each_slot(Phase phase, const std::function<void(std::uint64_t)>& work) {
    Instant next = read_monotonic_clock() + options_.tick;
    for (std::uint64_t slot = 0; slot < slots_; ++slot) {
      work(slot);
      if ((slot & 0x3ff) != 0 && layout_.slot_bytes() < kMiB) continue;
      const Instant now = read_monotonic_clock();
      if (now < next) continue;
      observe(phase);
      next = now + options_.tick;
    }
  }

  // The destination's memory before the first round.
  Status lay_background() {
    const bool writes = options_.operation == Operation::kWrite;
    std::byte* memory = writes ? session_.read_back() : session_.memory();
    const End end = writes ? End::kRemote : End::kLocal;
    for_each_slot(Phase::kPrepare, [&](std::uint64_t slot) {
      fill_pattern(memory + slot_at(slot), background_key(end, slot), 0, layout_.slot_bytes());
    });
    return writes ? move(Operation::kWrite, Phase::kPrepare) : Status();
  }

  // The source's memory.
  Status prepare_round() {
    const bool writes = options_.operation == Operation::kWrite;
    std::byte* memory = writes ? session_.memory() : session_.read_back();
    const End end = writes ? End::kLocal : End::kRemote;
    for_each_slot(Phase::kPrepare, [&](std::uint64_t slot) {
      layout_.fill(memory + slot_at(slot), end, data_key(slot), background_key(end, slot));
    });
    return writes ? Status() : move(Operation::kWrite, Phase::kPrepare);
  }

  Status verify_round(const std::vector<std::uint8_t>& landed) {
    --result_.rounds;  // the keys are those of the round that just ended
    const bool writes = options_.operation == Operation::kWrite;
    if (writes) {
      if (Status status = move(Operation::kRead, Phase::kVerify); !status.ok()) return status;
    }
    const std::byte* memory = writes ? session_.read_back() : session_.memory();
    const End end = writes ? End::kRemote : End::kLocal;
    for_each_slot(Phase::kVerify, [&](std::uint64_t slot) {
      if (landed[slot] == 0) return;
      result_.verify_failures += layout_.differences(memory + slot_at(slot), end, data_key(slot),
                                                     background_key(end, slot));
      result_.verified_bytes += layout_.bytes();
    });
    ++result_.rounds;
    return {};
  }

  // All used memory between the spare buffer and the peer, untimed.
  Status move(Operation operation, Phase phase) {
    for (std::uint64_t at = 0; at < used(); at += kUntimedBytes) {
      const std::uint64_t length = std::min(kUntimedBytes, used() - at);
      Intent intent;
      intent.operation = operation;
      intent.target = session_.target().segment;
      intent.klass = options_.klass;
      intent.ranges = {{session_.read_back() + at, session_.target().address + at, length}};
      Result<Transfer> transfer = session_.engine().submit(std::move(intent));
      if (!transfer.ok()) return transfer.status();
      while (!transfer->wait(options_.tick)) observe(phase);
      if (!transfer->report().status.ok()) return transfer->report().status;
    }
    return {};
  }

  Session& session_;
  const PointOptions& options_;
  const Layout layout_;
  std::uint64_t slots_ = 0;
  Tally all_;
  PointResult result_;
};

}  // namespace

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::kWarmup:
      return "warming up";
    case Phase::kPrepare:
      return "laying out";
    case Phase::kTimed:
      return "moving";
    case Phase::kVerify:
      return "verifying";
  }
  return "?";
}

std::uint64_t PointResult::goodput() const {
  return Rate::of(bytes, timed).bytes_per_s;
}

MemoryNeed memory_need(const PointOptions& options) {
  constexpr std::uint64_t kOutOfCaches = 256 * kMiB;
  constexpr std::uint64_t kPlenty = kGiB;
  const std::uint64_t slot = Layout(options.layout).slot_bytes();
  const std::uint64_t least = slot * options.depth * options.threads;
  if (options.reuse_addresses) return {least, least};
  std::uint64_t useful = std::clamp(4 * least, kOutOfCaches, kPlenty);
  if (options.count > 0) useful = std::min(useful, slot * (options.count + options.threads));
  return {least, std::max(least, useful)};
}

Result<PointResult> run_point(Session& session, const PointOptions& options) {
  return Point(session, options).run();
}

}  // namespace spindrift::tools::bench
