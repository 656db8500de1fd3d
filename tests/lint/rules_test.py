#!/usr/bin/env python3
"""Each rule of rules.py finds what it is for, and leaves alone what only looks like it."""

import sys

import rules

HEAD = "// Purpose.\n#pragma once\n"

# (path, text, what the only breach says, or None)
CASES = [
    ("planner/a.cc", '#include "../executor/b.h"\n', "never relative"),
    ("planner/a.cc", '#include "b.h"\n', 'include as "<folder>/<file>.h"'),
    ("planner/a.cc", '#include "planner/b.h"\n', None),
    ("control/a.cc", '#include "messages.pb.h"\n', None),
    ("control/a.h", HEAD + '#include "messages.pb.h"\n', "generated header"),
    ("health/a.cc", "auto t = std::chrono::steady_clock::now();\n", "a clock"),
    ("health/a.cc", "// not steady_clock::now()\n", None),
    ("health/a.cc", 'log("steady_clock::now()");\n', None),
    ("control/a.cc", "auto t = std::chrono::steady_clock::now();\n", None),
    ("executor/settle.cc", "#include <mutex>\n", "a thread, a lock"),
    ("executor/runner.cc", "#include <mutex>\n", None),
    ("policies/a.cc", "std::random_device seed;\n", "unseeded randomness"),
    ("policies/a.cc", "#include <unordered_map>\n", "an order that differs"),
    ("api/a.cc", 'getenv("HOME");\n', "only config/"),
    ("config/a.cc", 'getenv("HOME");\n', None),
    ("api/a.cc", "std::abort();\n", "a failed check"),
    ("base/check.cc", "std::abort();\n", None),
    ("tests/unit/a.cc", "std::this_thread::sleep_for(1ms);\n", "never sleeps"),
    ("tests/e2e/a.py", "time.sleep(1)\n", "never sleeps"),
    ("tests/e2e/a.sh", "sleep 1\n", "never sleeps"),
    ("base/a.cc", "int x;  // TODO later\n", "an unfinished mark"),
    ("base/a.h", HEAD + "class RailManager;\n", "name it"),
    ("base/a.h", "// Purpose.\n", "no #pragma once"),
    ("base/a.h", "#pragma once\n", "opens with its purpose"),
    ("base/a.h", HEAD + "#include <boost/asio.hpp>\n", "vendor header"),
    ("base/a.h", HEAD + "#include <unistd.h>\n", None),
    ("include/spindrift/a.h", HEAD + "#include <unistd.h>\n", "vendor header"),
    ("include/spindrift/a.h", HEAD + '#include "base/units.h"\n', "internal"),
    ("base/a.cc", "int x;\n" * 600, None),
    ("base/a.cc", "int x;\n" * 601, "601 lines"),
    ("docs/a.md", f"see {rules.ROOT}/docs/b.md\n", "an absolute path"),
]


def main():
    wrong = 0
    for path, text, expected in CASES:
        found = [say for _, say in rules.check_text(path, text)]
        if expected is None and found or expected and not (len(found) == 1 and expected in found[0]):
            wrong += 1
            print(f"{path}: {text[:60]!r}: expected {expected!r}, found {found}")
    print(f"rules_test: {len(CASES)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
