#include "base/cause.h"

namespace spindrift {

const char* to_string(Cause cause) {
  switch (cause) {
    case Cause::kNone:
      return "none";
    case Cause::kBadRange:
      return "range outside the peer's region";
    case Cause::kNoRight:
      return "right not granted by the peer";
    case Cause::kNoRegion:
      return "region no longer registered at the peer";
    case Cause::kQuiesced:
      return "range quiesced by its owner";
    case Cause::kChecksum:
      return "checksum mismatch";
    case Cause::kConnectionReset:
      return "connection reset";
    case Cause::kConnectionClosed:
      return "connection closed by the peer";
    case Cause::kConnectFailed:
      return "connection could not be made";
    case Cause::kProtocol:
      return "protocol error";
    case Cause::kStaleGeneration:
      return "lane generation already fenced";
    case Cause::kLinkDown:
      return "link down";
    case Cause::kSilent:
      return "silent while other rails moved";
    case Cause::kPeerSilent:
      return "peer silent on every rail";
    case Cause::kProbeFailed:
      return "probe failed";
    case Cause::kSuperseded:
      return "slower than its copy elsewhere";
    case Cause::kFenced:
      return "lane fenced";
    case Cause::kNotPosted:
      return "not posted";
    case Cause::kDeadline:
      return "time budget ended";
    case Cause::kCancelled:
      return "cancelled";
    case Cause::kRetriesSpent:
      return "retry budget spent";
    case Cause::kNoUsableRail:
      return "no usable rail";
    case Cause::kPeerRestarted:
      return "peer restarted";
    case Cause::kPeerGone:
      return "peer gone";
    case Cause::kShutDown:
      return "engine shut down";
  }
  return "unknown";
}

Code to_code(Cause cause) {
  switch (cause) {
    case Cause::kNone:
      return Code::kOk;
    case Cause::kBadRange:
      return Code::kOutOfRange;
    case Cause::kNoRight:
    case Cause::kQuiesced:
      return Code::kPermissionDenied;
    case Cause::kNoRegion:
      return Code::kNotRegistered;
    case Cause::kChecksum:
      return Code::kIntegrity;
    case Cause::kDeadline:
      return Code::kDeadlineExceeded;
    case Cause::kCancelled:
      return Code::kCancelled;
    case Cause::kNoUsableRail:
    case Cause::kPeerGone:
      return Code::kPeerUnreachable;
    case Cause::kPeerRestarted:
      return Code::kPeerRestarted;
    case Cause::kShutDown:
      return Code::kShutDown;
    case Cause::kProtocol:
      return Code::kProtocol;
    case Cause::kConnectionReset:
    case Cause::kConnectionClosed:
    case Cause::kConnectFailed:
    case Cause::kStaleGeneration:
    case Cause::kLinkDown:
    case Cause::kSilent:
    case Cause::kPeerSilent:
    case Cause::kProbeFailed:
    case Cause::kSuperseded:
    case Cause::kFenced:
    case Cause::kNotPosted:
    case Cause::kRetriesSpent:
      return Code::kRailFailed;
  }
  return Code::kInternal;
}

}  // namespace spindrift
