#include "control/lease.h"

#include <algorithm>

namespace spindrift::control {
namespace {

// How much faster the initiator's clock may run: a hundred times what a clock that
// is disciplined at all does.
constexpr int kDriftPart = 100;
// From the check of the lease to the end of the copy that it allowed.
constexpr Duration kMargin = std::chrono::milliseconds(5);
// A responder that claims more would keep our transfers waiting for ever.
constexpr Duration kLongest = std::chrono::minutes(1);

}  // namespace

void LeaseGranter::want(Instant now) {
  if (!wanted_) due_ = now;
  wanted_ = true;
}

void LeaseGranter::release() {
  wanted_ = false;
  issued_ = {};  // an echo that is still under way grants nothing
}

LeaseNonce LeaseGranter::issue(Instant now) {
  ++last_;
  issued_[last_ % kRemembered] = {last_, now};
  due_ = now + length_ / kPerLength;
  return {last_, length_};
}

std::optional<Instant> LeaseGranter::on_echo(std::uint64_t nonce) const {
  const Issued& issued = issued_[nonce % kRemembered];
  if (nonce == 0 || issued.nonce != nonce) return {};
  return issued.at + length_;
}

bool LeaseHolder::on_nonce(const LeaseNonce& nonce, Instant now) {
  if (!echoing_ || nonce.length <= Duration(0) || nonce.length > kLongest) return false;
  over_ = std::max(over_, now + nonce.length + nonce.length / kDriftPart + kMargin);
  return true;
}

Instant LeaseHolder::stop() {
  echoing_ = false;
  return over_;
}

}  // namespace spindrift::control
