// base/status.cc, base/cause.cc, base/rail_types.cc: what people read.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>

#include "base/cause.h"
#include "base/rail_types.h"
#include "spindrift/status.h"

namespace spindrift {
namespace {

TEST_CASE("every code has a name of its own") {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Code::kInternal); ++i) {
    const std::string name = to_string(static_cast<Code>(i));
    CHECK(name != "unknown");
    CHECK(names.insert(name).second);
  }
  CHECK(std::string(to_string(Code::kNotFound)) == "not found");
  CHECK(std::string(to_string(static_cast<Code>(200))) == "unknown");
}

TEST_CASE("a status reads as one line") {
  struct Row {
    Status status;
    const char* text;
  };
  const Row rows[] = {
      {Status(), "ok"},
      {Status(Code::kOk, "ignored"), "ok"},
      {Status(Code::kBusy, "64 transfers"), "busy: 64 transfers"},
      {Status(Code::kNotFound, {.what = "segment kv",
                                .why = "peer decode-0 has no such segment (it has: weights)",
                                .hint = "check the name",
                                .peer = "decode-0"}),
       "not found: segment kv: peer decode-0 has no such segment (it has: weights) "
       "[peer decode-0]; check the name"},
      {Status(Code::kRailFailed, {.what = "write", .peer = "p", .rail = "tcp:a>b", .repeats = 3}),
       "rail failed: write [peer p, rail tcp:a>b] (and 3 more like it)"},
      {Status(Code::kRailFailed, {.what = "write", .rail = "tcp:a>b"}),
       "rail failed: write [rail tcp:a>b]"},
      {Status(Code::kConfig, {.what = "unknown key \"sise\"",
                              .hint = "did you mean \"size\"?",
                              .where = "node.yaml:3:5"}),
       "node.yaml:3:5: error: unknown key \"sise\"; did you mean \"size\"?"},
  };
  for (const Row& row : rows) CHECK(row.status.to_string() == row.text);
}

TEST_CASE("an errno is told in words") {
  const std::string text = Status(Code::kIoError, {.what = "open x", .os_error = 2}).to_string();
  CHECK(text.find("open x") != std::string::npos);
  CHECK(text.find("No such file or directory") != std::string::npos);
}

TEST_CASE("a status is a value") {
  const Status failed(Code::kBusy, {.what = "w", .peer = "p"});
  Status copy = failed;
  CHECK(copy.code() == Code::kBusy);
  CHECK(copy.detail().peer == "p");
  const Status moved = std::move(copy);
  CHECK(moved.code() == Code::kBusy);
  Status ok;
  CHECK(ok.ok());
  CHECK(ok.detail().what.empty());
  ok = failed;
  CHECK_FALSE(ok.ok());
  CHECK(failed.detail().what == "w");
}

TEST_CASE("a result is a value or a status") {
  Result<std::string> good = std::string("x");
  CHECK(good.ok());
  CHECK(good.code() == Code::kOk);
  CHECK(good.status().ok());
  CHECK(*good == "x");
  CHECK(good->size() == 1);
  const Result<std::string> bad(Code::kNotFound, "y");
  CHECK_FALSE(bad);
  CHECK(bad.code() == Code::kNotFound);
  CHECK(bad.status().detail().what == "y");
}

TEST_CASE("every cause has a name of its own and the code that a caller can act on") {
  const std::pair<Cause, Code> rows[] = {
      {Cause::kNone, Code::kOk},
      {Cause::kBadRange, Code::kOutOfRange},
      {Cause::kNoRight, Code::kPermissionDenied},
      {Cause::kNoRegion, Code::kNotRegistered},
      {Cause::kQuiesced, Code::kPermissionDenied},
      {Cause::kChecksum, Code::kIntegrity},
      {Cause::kConnectionReset, Code::kRailFailed},
      {Cause::kConnectionClosed, Code::kRailFailed},
      {Cause::kConnectFailed, Code::kRailFailed},
      {Cause::kProtocol, Code::kProtocol},
      {Cause::kStaleGeneration, Code::kRailFailed},
      {Cause::kLinkDown, Code::kRailFailed},
      {Cause::kSilent, Code::kRailFailed},
      {Cause::kPeerSilent, Code::kRailFailed},
      {Cause::kProbeFailed, Code::kRailFailed},
      {Cause::kSuperseded, Code::kRailFailed},
      {Cause::kFenced, Code::kRailFailed},
      {Cause::kNotPosted, Code::kRailFailed},
      {Cause::kDeadline, Code::kDeadlineExceeded},
      {Cause::kCancelled, Code::kCancelled},
      {Cause::kRetriesSpent, Code::kRailFailed},
      {Cause::kNoUsableRail, Code::kPeerUnreachable},
      {Cause::kPeerRestarted, Code::kPeerRestarted},
      {Cause::kPeerGone, Code::kPeerUnreachable},
      {Cause::kShutDown, Code::kShutDown},
  };
  CHECK(std::size(rows) == static_cast<std::size_t>(Cause::kShutDown) + 1);
  std::set<std::string> names;
  for (const auto& [cause, code] : rows) {
    CAPTURE(to_string(cause));
    CHECK(to_code(cause) == code);
    CHECK(std::string(to_string(cause)) != "unknown");
    CHECK(names.insert(to_string(cause)).second);
  }
  CHECK(to_code(static_cast<Cause>(200)) == Code::kInternal);
}

TEST_CASE("only the request's own faults are not retried on another rail") {
  for (int i = 0; i <= static_cast<int>(Cause::kShutDown); ++i) {
    const auto cause = static_cast<Cause>(i);
    const bool own = cause == Cause::kBadRange || cause == Cause::kNoRight ||
                     cause == Cause::kNoRegion || cause == Cause::kQuiesced;
    CAPTURE(to_string(cause));
    CHECK(is_request_fault(cause) == own);
  }
}

TEST_CASE("a rail's name says transport and both devices") {
  const std::pair<Transport, const char*> rows[] = {
      {Transport::kSim, "sim:a>b"},       {Transport::kTcp, "tcp:a>b"},
      {Transport::kShm, "shm:a>b"},       {Transport::kRdma, "rdma:a>b"},
      {Transport::kNvlink, "nvlink:a>b"}, {Transport::kFile, "file:a>b"},
  };
  for (const auto& [transport, name] : rows) {
    CHECK(RailFacts{.transport = transport, .local_device = "a", .remote_device = "b"}.name() ==
          name);
  }
}

}  // namespace
}  // namespace spindrift
