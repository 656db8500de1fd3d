#include "spindrift/status.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace spindrift {

const char* to_string(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kOutOfRange:
      return "out of range";
    case Code::kNotRegistered:
      return "not registered";
    case Code::kPermissionDenied:
      return "permission denied";
    case Code::kNotFound:
      return "not found";
    case Code::kAlreadyExists:
      return "already exists";
    case Code::kBusy:
      return "busy";
    case Code::kUnauthenticated:
      return "unauthenticated";
    case Code::kVersionMismatch:
      return "version mismatch";
    case Code::kPeerUnreachable:
      return "peer unreachable";
    case Code::kPeerRestarted:
      return "peer restarted";
    case Code::kRailFailed:
      return "rail failed";
    case Code::kDeadlineExceeded:
      return "deadline exceeded";
    case Code::kCancelled:
      return "cancelled";
    case Code::kIntegrity:
      return "integrity";
    case Code::kPolicyUnsatisfied:
      return "policy unsatisfied";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kAddressInUse:
      return "address in use";
    case Code::kIoError:
      return "i/o error";
    case Code::kProtocol:
      return "protocol error";
    case Code::kConfig:
      return "configuration error";
    case Code::kShutDown:
      return "shut down";
    case Code::kInternal:
      return "internal error";
  }
  return "unknown";
}

Status::Status(Code code, Detail detail) {
  if (code == Code::kOk) return;
  rep_ = std::make_unique<Rep>(Rep{code, std::move(detail)});
}

Status::Status(const Status& other)
    : rep_(other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_ = other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr;
  return *this;
}

const Status::Detail& Status::detail() const noexcept {
  static const Detail kEmpty;
  return rep_ ? rep_->detail : kEmpty;
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  const Detail& d = rep_->detail;
  // Configuration problems read like a compiler's, so that editors jump to them.
  std::string text =
      d.where.empty() ? std::string(spindrift::to_string(rep_->code)) : d.where + ": error";
  text += ": " + d.what;
  if (!d.why.empty()) text += ": " + d.why;
  if (d.os_error != 0) text += std::string(" (") + std::strerror(d.os_error) + ")";
  if (!d.peer.empty() || !d.rail.empty()) {
    text += " [";
    if (!d.peer.empty()) text += "peer " + d.peer;
    if (!d.peer.empty() && !d.rail.empty()) text += ", ";
    if (!d.rail.empty()) text += "rail " + d.rail;
    text += "]";
  }
  if (d.repeats > 0) text += " (and " + std::to_string(d.repeats) + " more like it)";
  if (!d.hint.empty()) text += "; " + d.hint;
  return text;
}

namespace detail {
void value_of_error(const Status& status) {
  std::fprintf(stderr, "spindrift: value() of a failed Result: %s\n", status.to_string().c_str());
  std::abort();
}
}  // namespace detail

}  // namespace spindrift
