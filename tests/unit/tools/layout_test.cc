#include "tools/bench/layout.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

namespace spindrift::tools::bench {
namespace {

const PatternKey kData = pattern_key(1, 1, 1);
const PatternKey kLocalGround = pattern_key(1, 2, 1);
const PatternKey kRemoteGround = pattern_key(1, 3, 1);

std::vector<LayoutOptions> all_kinds() {
  std::vector<LayoutOptions> kinds;
  for (const std::uint64_t bytes : {0U, 1U, 3U, 511U, 512U, 4097U, 100'000U}) {
    for (const std::uint64_t descriptors : {1U, 2U, 7U, 64U}) {
      for (const bool scatter : {false, true}) {
        for (const bool unaligned : {false, true}) {
          kinds.push_back({bytes, descriptors, scatter, unaligned, 5});
        }
      }
    }
  }
  return kinds;
}

// What an engine does with an intent of this layout.
void copy_pieces(const Layout& layout, const std::byte* local, std::byte* remote) {
  for (const Piece& piece : layout.pieces()) {
    std::memcpy(remote + piece.remote, local + piece.local, piece.length);
  }
}

TEST_CASE("descriptors hold all bytes, inside the slot, never overlapping") {
  for (const LayoutOptions& options : all_kinds()) {
    const Layout layout(options);
    CAPTURE(options.bytes, options.descriptors, options.scatter, options.unaligned);
    std::uint64_t logical = 0;
    for (const End end : {End::kLocal, End::kRemote}) {
      std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;
      logical = 0;
      for (const Piece& piece : layout.pieces()) {
        CHECK(piece.logical == logical);
        logical += piece.length;
        const std::uint64_t begin = end == End::kLocal ? piece.local : piece.remote;
        if (options.unaligned && options.descriptors == 1) CHECK(begin % 2 == 1);
        if (piece.length > 0) spans.emplace_back(begin, begin + piece.length);
      }
      CHECK(logical == options.bytes);
      std::sort(spans.begin(), spans.end());
      for (std::size_t i = 1; i < spans.size(); ++i) {
        // Scattered ones never touch, so that none can be merged.
        CHECK(spans[i - 1].second + (options.scatter ? 1 : 0) <= spans[i].first);
      }
      if (!spans.empty()) CHECK(spans.back().second < layout.slot_bytes());
    }
  }
}

TEST_CASE("a right copy differs nowhere") {
  for (const LayoutOptions& options : all_kinds()) {
    const Layout layout(options);
    std::vector<std::byte> local(layout.slot_bytes()), remote(layout.slot_bytes());
    layout.fill(local.data(), End::kLocal, kData, kLocalGround);
    fill_pattern(remote.data(), kRemoteGround, 0, remote.size());
    copy_pieces(layout, local.data(), remote.data());
    CHECK(layout.differences(remote.data(), End::kRemote, kData, kRemoteGround) == 0);
  }
}

TEST_CASE("a byte too many, too few or in the wrong place is noticed") {
  const Layout layout({1000, 4, true, true, 9});
  std::vector<std::byte> local(layout.slot_bytes()), right(layout.slot_bytes());
  layout.fill(local.data(), End::kLocal, kData, kLocalGround);
  fill_pattern(right.data(), kRemoteGround, 0, right.size());
  copy_pieces(layout, local.data(), right.data());
  for (const Piece& piece : layout.pieces()) {
    std::vector<std::byte> wrong = right;
    SECTION("after the end") {
      wrong[piece.remote + piece.length] ^= std::byte{0x40};
      CHECK(layout.differences(wrong.data(), End::kRemote, kData, kRemoteGround) == 1);
    }
    SECTION("before the begin") {
      wrong[piece.remote - 1] ^= std::byte{0x40};
      CHECK(layout.differences(wrong.data(), End::kRemote, kData, kRemoteGround) == 1);
    }
    SECTION("the last one missing") {
      fill_pattern(&wrong[piece.remote + piece.length - 1], kRemoteGround,
                   piece.remote + piece.length - 1, 1);
      CHECK(layout.differences(wrong.data(), End::kRemote, kData, kRemoteGround) <= 1);
      wrong[piece.remote + piece.length - 1] = ~right[piece.remote + piece.length - 1];
      CHECK(layout.differences(wrong.data(), End::kRemote, kData, kRemoteGround) == 1);
    }
    SECTION("moved by one") {
      std::memmove(&wrong[piece.remote + 1], &right[piece.remote], piece.length - 1);
      CHECK(layout.differences(wrong.data(), End::kRemote, kData, kRemoteGround) >
            piece.length / 2);
    }
  }
}

TEST_CASE("the same seed gives the same places") {
  const LayoutOptions options{100'000, 100, true, false, 3};
  const Layout a(options), b(options);
  bool in_order = true;
  for (std::size_t i = 0; i < a.pieces().size(); ++i) {
    CHECK(a.pieces()[i].remote == b.pieces()[i].remote);
    CHECK(a.pieces()[i].local == b.pieces()[i].local);
    if (i > 0) in_order = in_order && a.pieces()[i - 1].remote < a.pieces()[i].remote;
  }
  CHECK_FALSE(in_order);
}

}  // namespace
}  // namespace spindrift::tools::bench
