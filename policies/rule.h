// A policy: an ordered list of rules. The first rule whose match fits an intent
// directs it. Plain values; config/ fills them from YAML, the planner reads them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/rail_types.h"
#include "base/units.h"
#include "spindrift/intent.h"

namespace spindrift::policies {

// Where a rule was written, for messages. Line and column count from 1.
struct SourcePlace {
  std::string file;
  int line = 0;
  int column = 0;
};

// An empty or absent field matches everything.
struct Match {
  std::optional<Operation> operation;
  std::vector<std::string> classes;  // shell patterns over Intent::klass
  std::uint64_t size_min = 0;        // of the whole intent, bytes, inclusive
  std::uint64_t size_max = std::numeric_limits<std::uint64_t>::max();  // inclusive
  std::optional<MemoryKind> source;                                    // where the bytes come from
  std::optional<MemoryKind> destination;                               // where they go
  std::optional<bool> same_host;
  std::vector<std::string> peers;  // shell patterns over the peer's node name
};

// Selects rails. All given fields must fit.
struct RailSelector {
  std::optional<Transport> transport;
  std::string local_device;  // shell patterns; empty fits all
  std::string remote_device;
  std::string rail;  // over the whole name "tcp:eth2>eth2"
};

enum class Spray : std::uint8_t {
  kLeastCompletion,  // each slice to the rail that would finish it first
  kRoundRobin,       // slice i to rail i mod n, bound at submission: the blind baseline
  kWeighted,         // bytes in proportion to given weights
  kSingle,           // one rail, the first of the best tier that works
};

struct Weight {
  RailSelector rails;
  std::uint32_t weight = 1;
};

struct Directives {
  // Each `prefer` entry makes a tier of its own, in order; rails that no entry
  // selects follow in the default order. `require` keeps only what any of its
  // entries selects, and it is an error when that is nothing.
  std::vector<RailSelector> prefer;
  std::vector<RailSelector> require;
  std::vector<RailSelector> forbid;
  std::uint64_t slice_min = 64 * kKiB;
  std::uint64_t slice_max = 16 * kMiB;
  Spray spray = Spray::kLeastCompletion;
  std::vector<Weight> weights;     // kWeighted only; rails not named weigh 1
  std::uint32_t attempts_max = 8;  // per slice, the first one included
  // Once nothing else is left to send, idle rails copy what is late on others.
  bool hedge = true;
  Integrity integrity = Integrity::kNone;  // never kPolicy
};

struct Rule {
  std::string name;
  Match match;
  Directives directives;
  SourcePlace place;
};

struct PolicySet {
  std::string name;  // file, or "built-in"
  std::vector<Rule> rules;
};

}  // namespace spindrift::policies
