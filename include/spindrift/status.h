// Typed errors. A `Status` says what failed, where, why, and what to do.
//
// The code tells the *program* what to do; the text tells a *person*. Codes are
// stable, texts are not. A Status that is ok() costs one pointer and no
// allocation. Value type; safe to move between threads.
//
//   Result<Segment> segment = engine->open_segment("decode-0", "kv");
//   if (!segment) { log(segment.status().to_string()); return; }
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "spindrift/export.h"

namespace spindrift {

enum class Code : std::uint8_t {
  kOk = 0,
  kInvalidArgument,    // the call is wrong as written; do not retry
  kOutOfRange,         // a range leaves its region or segment, or overflows
  kNotRegistered,      // local memory that was never registered, or no longer is
  kPermissionDenied,   // the peer did not grant this right on that memory
  kNotFound,           // no such peer, segment, class, file or interface
  kAlreadyExists,      // a name or range is taken
  kBusy,               // a configured bound is reached, or memory is in use; retry later
  kUnauthenticated,    // the cluster key is wrong or missing
  kVersionMismatch,    // no common protocol version; the text names both ranges
  kPeerUnreachable,    // the peer cannot be reached over any rail
  kPeerRestarted,      // the peer is a new process; look its segments up again
  kRailFailed,         // the retry budget is spent; causes are in the text
  kDeadlineExceeded,   // the time budget ended first
  kCancelled,          // ended by the caller
  kIntegrity,          // a checksum did not match
  kPolicyUnsatisfied,  // the policy requires what is not there
  kUnsupported,        // this build, kernel or machine cannot do that
  kAddressInUse,       // the text names the address and port
  kIoError,            // the operating system refused; errno is in the text
  kProtocol,           // the peer sent what the protocol does not allow
  kConfig,             // a configuration file is wrong; the text is file:line:column
  kShutDown,           // the engine is being destroyed
  kInternal,           // a bug of ours; please report it
};

// "kNotFound" -> "not found".
SPINDRIFT_API const char* to_string(Code code);

class [[nodiscard]] SPINDRIFT_API Status {
 public:
  // Everything but `what` may stay empty.
  struct Detail {
    std::string what;           // what failed: "write of 64 MiB to segment kv"
    std::string why;            // the first cause: "connection reset by peer"
    std::string hint;           // what to do: "register the memory first"
    std::string peer;           // which peer
    std::string rail;           // which rail
    std::string where;          // file:line:column, for configuration
    int os_error = 0;           // errno of the first cause, or 0
    std::uint64_t repeats = 0;  // how many more times the same cause was seen
  };

  Status() noexcept = default;  // ok
  // A template, so that a braced Detail never looks like a string.
  template <typename Text>
  requires std::convertible_to<Text, std::string> Status(Code code, Text&& what)
      : Status(code, Detail{.what = std::forward<Text>(what)}) {}
  Status(Code code, Detail detail);
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  bool ok() const noexcept { return rep_ == nullptr; }
  explicit operator bool() const noexcept { return ok(); }
  Code code() const noexcept { return rep_ ? rep_->code : Code::kOk; }
  const Detail& detail() const noexcept;  // of an ok status: all empty

  // One line for a person: "not found: segment kv: peer decode-0 has no such
  // segment (it has: weights) [peer decode-0]; check the name".
  std::string to_string() const;

 private:
  struct Rep {
    Code code;
    Detail detail;
  };
  std::unique_ptr<Rep> rep_;
};

// Either a value or a Status that is not ok. Reading the value of an error is a
// bug of the caller and ends the process with the error's text.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Status status)
      : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT(google-explicit-constructor)
  Result(Code code, std::string what) : Result(Status(code, std::move(what))) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }
  Code code() const noexcept { return ok() ? Code::kOk : std::get<1>(state_).code(); }

  T& value() & { return checked(); }
  T&& value() && { return std::move(checked()); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &value(); }

 private:
  T& checked();

  std::variant<T, Status> state_;
};

namespace detail {
[[noreturn]] SPINDRIFT_API void value_of_error(const Status& status);
}  // namespace detail

template <typename T>
T& Result<T>::checked() {
  if (!ok()) detail::value_of_error(std::get<1>(state_));
  return std::get<0>(state_);
}

}  // namespace spindrift
