#include "api/submit.h"

#include <algorithm>
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <limits>

#include "base/format.h"
#include "base/units.h"

namespace spindrift::api {

namespace {

std::uint64_t as_number(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p);
}

Status range_error(Code code, const Intent& intent, std::size_t index, std::string why,
                   std::string hint) {
  const Descriptor& range = intent.ranges[index];
  char text[128];
  std::snprintf(text, sizeof text, "range %zu (local %p, remote 0x%llx, %llu bytes)", index,
                range.local, static_cast<unsigned long long>(range.remote),
                static_cast<unsigned long long>(range.length));
  return Status(
      code,
      {.what = text, .why = std::move(why), .hint = std::move(hint), .peer = intent.target.peer()});
}

// Finds the segment's region that holds a remote range; neighbours are usual.
const SegmentRegion* find_remote(const std::vector<SegmentRegion>& regions, std::uint64_t address,
                                 std::uint64_t length, std::size_t& hint) {
  const auto holds = [&](const SegmentRegion& region) {
    return address >= region.address && fits(address - region.address, length, region.length);
  };
  if (hint < regions.size() && holds(regions[hint])) return &regions[hint];
  const auto above = std::upper_bound(
      regions.begin(), regions.end(), address,
      [](std::uint64_t a, const SegmentRegion& region) { return a < region.address; });
  if (above == regions.begin() || !holds(*(above - 1))) return nullptr;
  hint = static_cast<std::size_t>(above - 1 - regions.begin());
  return &regions[hint];
}

// Two destination ranges that overlap would leave it open which source wins.
// Callers usually name them in order, and then one pass is enough.
Status check_overlap(const Intent& intent, const std::vector<ResolvedDescriptor>& ranges,
                     Recycler<Span>& scratch) {
  const bool write = intent.operation == Operation::kWrite;
  const auto begin_of = [write](const ResolvedDescriptor& range) {
    return write ? range.remote : as_number(range.local);
  };
  const auto in_order = [&](const ResolvedDescriptor& a, const ResolvedDescriptor& b) {
    return begin_of(a) + a.length <= begin_of(b);
  };
  bool sorted = true;
  for (std::size_t i = 1; i < ranges.size() && sorted; ++i) {
    sorted = in_order(ranges[i - 1], ranges[i]);
  }
  if (sorted) return {};
  std::vector<Span> spans = scratch.take(ranges.size());
  for (const ResolvedDescriptor& range : ranges) spans.push_back({begin_of(range), range.length});
  // Radix first: addresses share most of their bits.
  boost::sort::spreadsort::integer_sort(
      spans.begin(), spans.end(),
      [](const Span& span, unsigned shift) { return span.begin >> shift; });
  const auto overlap =
      std::adjacent_find(spans.begin(), spans.end(),
                         [](const Span& a, const Span& b) { return a.begin + a.length > b.begin; });
  Status status;
  if (overlap != spans.end()) {
    char text[96];
    std::snprintf(text, sizeof text, "destination ranges overlap at 0x%llx",
                  static_cast<unsigned long long>(overlap[1].begin));
    status = Status(Code::kInvalidArgument,
                    {.what = text,
                     .hint = "submit them as separate intents, one after the other",
                     .peer = intent.target.peer()});
  }
  scratch.give(std::move(spans));
  return status;
}

// The region counts this transfer as a user from here on.
bool use(Transfer::State& state, const LocalRegionPtr& region) {
  if (std::find(state.regions.begin(), state.regions.end(), region) != state.regions.end()) {
    return true;
  }
  region->users.fetch_add(1);
  state.regions.push_back(region);
  return !region->closing.load();
}

Status resolve(const Intent& intent, const RegionList& regions, Transfer::State& state) {
  const bool write = intent.operation == Operation::kWrite;
  const Rights want = write ? Rights::kRemoteWrite : Rights::kRemoteRead;
  std::size_t local_hint = 0;
  std::size_t remote_hint = 0;
  const LocalRegion* last = nullptr;
  for (std::size_t i = 0; i < intent.ranges.size(); ++i) {
    const Descriptor& range = intent.ranges[i];
    if (range.length == 0) continue;
    if (!adds_up(as_number(range.local), range.length) || !adds_up(range.remote, range.length) ||
        !adds_up(state.job.bytes, range.length)) {
      return range_error(Code::kOutOfRange, intent, i, "address + length overflows",
                         "check how the range was computed");
    }
    const auto* local = static_cast<std::byte*>(range.local);
    const LocalRegionPtr* region = find_region(regions, local, range.length, local_hint);
    if (region == nullptr) {
      return range_error(Code::kNotRegistered, intent, i,
                         "its local memory is not inside one registered region",
                         "register_memory() all of it first");
    }
    if (region->get() != last) {
      last = region->get();
      if (!use(state, *region)) {
        return range_error(Code::kNotRegistered, intent, i,
                           "its local region is being unregistered", "");
      }
    }
    const SegmentRegion* remote =
        find_remote(intent.target.regions(), range.remote, range.length, remote_hint);
    if (remote == nullptr) {
      return range_error(
          Code::kOutOfRange, intent, i,
          "its remote side is not inside one region of segment " + intent.target.name(),
          "see Segment::regions() for what there is");
    }
    if (!allows(remote->rights, want)) {
      return range_error(Code::kPermissionDenied, intent, i,
                         "segment " + intent.target.name() + " does not grant " +
                             (write ? "write" : "read") + " access there",
                         "the peer must register it with that right");
    }
    if (state.job.descriptors.size() != i && state.original.empty()) {
      for (std::size_t k = 0; k < state.job.descriptors.size(); ++k) {
        state.original.push_back(static_cast<std::uint32_t>(k));
      }
    }
    if (state.job.descriptors.size() != i) state.original.push_back(static_cast<std::uint32_t>(i));
    state.job.descriptors.push_back({.local = static_cast<std::byte*>(range.local),
                                     .remote = range.remote,
                                     .length = range.length,
                                     .local_key = (*region)->key,
                                     .remote_key = remote->key});
    state.job.bytes += range.length;
  }
  return {};
}

}  // namespace

std::string describe(const Intent& intent, std::uint64_t bytes) {
  std::string text = intent.operation == Operation::kWrite ? "write of " : "read of ";
  text += format_bytes(bytes);
  if (intent.ranges.size() != 1) text += " in " + std::to_string(intent.ranges.size()) + " ranges";
  text += intent.operation == Operation::kWrite ? " to" : " from";
  return text + " segment " + intent.target.name();
}

Result<std::shared_ptr<Transfer::State>> prepare(Intent& intent, const PeerView& peer,
                                                 const RegionList& regions,
                                                 const std::shared_ptr<SubmitBuffers>& buffers) {
  if (intent.operation != Operation::kWrite && intent.operation != Operation::kRead) {
    return Status(Code::kInvalidArgument, "an operation that is neither write nor read");
  }
  if (intent.budget.count() < 0) {
    return Status(Code::kInvalidArgument,
                  {.what = "a negative time budget", .hint = "0 means the default"});
  }
  if (intent.ranges.size() > std::numeric_limits<std::uint32_t>::max()) {
    return Status(Code::kInvalidArgument, "more than 2^32 ranges in one intent");
  }
  if (intent.target.data().incarnation != peer.incarnation) {
    return Status(Code::kPeerRestarted,
                  {.what = "segment " + intent.target.name() + " belongs to an earlier process",
                   .hint = "open the segment again",
                   .peer = intent.target.peer()});
  }
  auto state = std::make_shared<Transfer::State>(buffers);
  state->job.descriptors = buffers->descriptors.take(intent.ranges.size());
  Status status = resolve(intent, regions, *state);
  if (status.ok()) status = check_overlap(intent, state->job.descriptors, buffers->spans);
  if (!status.ok()) {
    release(*state);
    return status;
  }
  state->what = describe(intent, state->job.bytes);
  state->peer = peer.name;
  state->rail_names = peer.rail_names;
  state->worker = peer.worker;
  state->on_finished = std::move(intent.on_finished);
  state->job.state = state.get();
  state->job.peer = peer.index;
  state->job.operation = intent.operation;
  return state;
}

void release(Transfer::State& state) {
  for (const LocalRegionPtr& region : state.regions) region->users.fetch_sub(1);
  state.regions.clear();
}

}  // namespace spindrift::api
