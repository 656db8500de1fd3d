// The lease: the right of an initiator's bytes to be placed, which ends by itself
// when the two ends do not hear of each other any more. The last resort of a fence
// under partition: whoever cannot be told that it is over finds out by its clock.
//
// The responder sends a nonce at its own time t0. When the echo comes back, its
// workers place until t0 + length: the time of sending, so that an echo that was
// held up on its way grants nothing. The initiator echoes at t1 >= t0; after it has
// stopped, nothing is placed later than its last t1 + length, its clock's drift and
// a margin added. Neither clock is ever compared with the other.
//
// The granter lives in the responder's session, the holder in the initiator's.
// Both are pure: `now` is an argument. Each is owned by one thread.
// Source: C. Gray, D. Cheriton, "Leases" (SOSP 1989).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/instant.h"

namespace spindrift::control {

struct LeaseNonce {
  std::uint64_t nonce = 0;
  Duration length{0};  // what an echo is worth
};

// The responder's half.
class LeaseGranter {
 public:
  explicit LeaseGranter(Duration length) : length_(length) {}

  // The initiator has bytes under way, or will have; the first nonce is due.
  void want(Instant now);
  // It has none and sends none before it wants again.
  void release();

  bool wanted() const { return wanted_; }
  // When the next nonce is due; kNever: none is.
  Instant due() const { return wanted_ ? due_ : kNever; }
  LeaseNonce issue(Instant now);
  // Until when the initiator's bytes may be placed, when the echo is worth that.
  std::optional<Instant> on_echo(std::uint64_t nonce) const;

 private:
  // An echo of an older one is worth nothing: they are a third of the lease apart.
  static constexpr std::size_t kRemembered = 4;
  static constexpr int kPerLength = 3;
  struct Issued {
    std::uint64_t nonce = 0;  // 0: none
    Instant at{};
  };

  const Duration length_;
  bool wanted_ = false;
  Instant due_ = kNever;
  std::uint64_t last_ = 0;
  std::array<Issued, kRemembered> issued_{};
};

// The initiator's half.
class LeaseHolder {
 public:
  // Whether to answer with an echo.
  bool on_nonce(const LeaseNonce& nonce, Instant now);
  void want() { echoing_ = true; }
  bool wanted() const { return echoing_; }
  // No more echoes from now on. Returns when the last one has surely run out.
  Instant stop();

 private:
  bool echoing_ = false;
  Instant over_{};  // of the grants so far
};

}  // namespace spindrift::control
