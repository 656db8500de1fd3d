#include "tools/bench/layout.h"

#include <algorithm>
#include <numeric>

#include "base/prng.h"

namespace spindrift::tools::bench {
namespace {

constexpr std::uint64_t kGap = 64;     // canaries after each descriptor: a cache line
constexpr std::uint64_t kPage = 4096;  // large slots begin on one, as real blocks do

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

std::vector<std::uint32_t> in_order(std::uint64_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::vector<std::uint32_t> shuffled(std::uint64_t count, Prng& prng) {
  std::vector<std::uint32_t> order = in_order(count);
  for (std::uint64_t i = count; i > 1; --i) std::swap(order[i - 1], order[prng.below(i)]);
  return order;
}

// An odd number of bytes to begin later, below the gap.
std::uint64_t odd_lead(Prng& prng) {
  return 1 + 2 * prng.below(kGap / 2 - 1);
}

}  // namespace

struct Layout::Span {
  std::uint64_t offset = 0;  // within the slot
  std::uint64_t length = 0;
  bool data = false;
  std::uint64_t pattern = 0;  // where in its pattern it begins
};

Layout::Layout(const LayoutOptions& options) : options_(options) {
  const std::uint64_t count = options.descriptors;
  const std::uint64_t shortest = options.bytes / count;
  const std::uint64_t longer = options.bytes % count;
  Prng prng(options.seed);
  const std::vector<std::uint32_t> local_cell =
      options.scatter ? shuffled(count, prng) : in_order(count);
  const std::vector<std::uint32_t> remote_cell =
      options.scatter ? shuffled(count, prng) : in_order(count);
  const std::uint64_t cell = round_up(shortest + (longer != 0 ? 1 : 0) + kGap, kGap);
  const std::uint64_t local_lead = options.unaligned ? odd_lead(prng) : 0;
  const std::uint64_t remote_lead = options.unaligned ? odd_lead(prng) : 0;

  pieces_.reserve(count);
  std::uint64_t logical = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t length = shortest + (i < longer ? 1 : 0);
    pieces_.push_back({.logical = logical,
                       .local = (options.scatter ? local_cell[i] * cell : logical) + local_lead,
                       .remote = (options.scatter ? remote_cell[i] * cell : logical) + remote_lead,
                       .length = length});
    logical += length;
  }
  const std::uint64_t used = options.scatter ? count * cell : options.bytes + kGap;
  slot_bytes_ = round_up(used, used >= kPage ? kPage : kGap);

  by_local_ = in_order(count);
  by_remote_ = in_order(count);
  std::sort(by_local_.begin(), by_local_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return pieces_[a].local < pieces_[b].local;
  });
  std::sort(by_remote_.begin(), by_remote_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return pieces_[a].remote < pieces_[b].remote;
  });
}

template <typename Visit>
void Layout::for_each_span(End end, const Visit& visit) const {
  std::uint64_t at = 0;
  for (const std::uint32_t index : end == End::kLocal ? by_local_ : by_remote_) {
    const Piece& piece = pieces_[index];
    const std::uint64_t begin = end == End::kLocal ? piece.local : piece.remote;
    if (piece.length == 0) continue;
    if (begin > at) visit(Span{at, begin - at, false, at});
    visit(Span{begin, piece.length, true, piece.logical});
    at = begin + piece.length;
  }
  if (at < slot_bytes_) visit(Span{at, slot_bytes_ - at, false, at});
}

void Layout::fill(std::byte* slot, End end, PatternKey data, PatternKey background) const {
  for_each_span(end, [&](const Span& span) {
    fill_pattern(slot + span.offset, span.data ? data : background, span.pattern, span.length);
  });
}

std::uint64_t Layout::differences(const std::byte* slot, End end, PatternKey data,
                                  PatternKey background) const {
  std::uint64_t count = 0;
  for_each_span(end, [&](const Span& span) {
    count += count_differences(slot + span.offset, span.data ? data : background, span.pattern,
                               span.length);
  });
  return count;
}

}  // namespace spindrift::tools::bench
