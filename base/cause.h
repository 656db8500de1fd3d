// Why an attempt, a lane or a transfer failed: one byte on the data path, text
// only at the edge (base/cause.cc). The set is small and closed, because it is
// also a metrics label.
#pragma once

#include <cstdint>

#include "spindrift/status.h"

namespace spindrift {

enum class Cause : std::uint8_t {
  kNone = 0,
  // The request's own fault: another rail would say the same. Not retried.
  kBadRange,  // the responder: outside the region, or overflow
  kNoRight,   // the responder: region not granted with this right
  kNoRegion,  // the responder: unregistered or revoked meanwhile
  kQuiesced,  // the responder: the owner has quiesced the range
  // The lane's or path's fault: retried on another rail.
  kChecksum,  // CRC mismatch at the receiver
  kConnectionReset,
  kConnectionClosed,
  kConnectFailed,    // refused, unreachable, or the deadline passed
  kProtocol,         // a frame that the protocol does not allow
  kStaleGeneration,  // the responder has fenced this generation
  kLinkDown,
  kSilent,       // bytes outstanding and no progress, while another rail to the peer moved
  kPeerSilent,   // likewise, and no other rail to the peer moved either
  kProbeFailed,  // a probe did not land, or not in time
  kSuperseded,   // a copy landed elsewhere, and the transfer waited for this lane alone
  kFenced,       // ended by our own fence
  kNotPosted,    // refused before anything left
  // The intent's end.
  kDeadline,
  kCancelled,
  kRetriesSpent,
  kNoUsableRail,
  kPeerRestarted,
  kPeerGone,
  kShutDown,
};

const char* to_string(Cause cause);
Code to_code(Cause cause);

// True when another rail would fail in the same way.
constexpr bool is_request_fault(Cause cause) {
  return cause >= Cause::kBadRange && cause <= Cause::kQuiesced;
}

}  // namespace spindrift
