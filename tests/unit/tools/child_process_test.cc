#include "tools/child_process.h"

#include <unistd.h>

#include <csignal>

#include <catch2/catch.hpp>

namespace spindrift::tools {
namespace {

using Output = ChildProcess::Output;
constexpr Duration kLong = std::chrono::seconds(20);

TEST_CASE("a child's lines and its exit status") {
  auto child = ChildProcess::start({"sh", "-c", "echo one; echo two; exit 3"}, Output::kPipe);
  REQUIRE(child.ok());
  CHECK(*child->read_line(kLong) == "one");
  CHECK(*child->read_line(kLong) == "two");
  CHECK(child->read_line(kLong).code() == Code::kIoError);
  CHECK(*child->wait(kLong) == 3);
}

TEST_CASE("waits have an end") {
  auto child = ChildProcess::start({"cat", "/dev/zero"}, Output::kPipe);
  REQUIRE(child.ok());
  CHECK(child->wait(Duration(0)).code() == Code::kDeadlineExceeded);
  child->signal(SIGKILL);
  CHECK(*child->wait(kLong) == 128 + SIGKILL);
}

TEST_CASE("a program that is not there") {
  CHECK(ChildProcess::start({"spindrift-no-such-program"}, Output::kInherit).code() ==
        Code::kIoError);
}

TEST_CASE("the destructor ends it") {
  pid_t pid = -1;
  {
    auto child =
        ChildProcess::start({"sh", "-c", "trap '' TERM; echo up; exec cat"}, Output::kPipe);
    REQUIRE(child.ok());
    pid = child->pid();
  }
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("a child reads a file that is only in memory") {
  const auto file = text_as_file("schema: x\n");
  REQUIRE(file.ok());
  auto child = ChildProcess::start({"cat", file->path}, Output::kPipe);
  REQUIRE(child.ok());
  CHECK(*child->read_line(kLong) == "schema: x");
}

TEST_CASE("a failed command says what it said") {
  CHECK(run_quietly({"true"}, kLong).ok());
  const Status failed = run_quietly({"sh", "-c", "echo no such device >&2; exit 2"}, kLong);
  CHECK(failed.code() == Code::kIoError);
  CHECK(failed.detail().why == "no such device");
}

}  // namespace
}  // namespace spindrift::tools
