// Checks for our own bugs. They stay on in release, because a broken invariant
// that runs on corrupts memory. Never for input: what comes from a user, a file
// or the wire gets a Status.
#pragma once

namespace spindrift {

[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace spindrift

#define SPINDRIFT_CHECK(expression)                   \
  (__builtin_expect(static_cast<bool>(expression), 1) \
       ? static_cast<void>(0)                         \
       : ::spindrift::check_failed(#expression, __FILE__, __LINE__))
