#!/usr/bin/env python3
"""The rules of docs/CONTRIBUTING.md that a text search can enforce.

    rules.py [FILE]...      default: every file that git tracks or would add

Prints `file:line: rule` for each breach; exit status 0 exactly if there is none.
A rule is a row of LINE_RULES (a pattern that must not occur in some files) or
a function of FILE_RULES. C++ comments are blanked first, so that prose is free.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES_MAX = 600  # a file that one can still find one's way in

SHARED_PLACES = {"/", "/tmp", "/opt", "/srv", "/usr", "/var", "/mnt"}  # may stand in any file

LAYERS = ("include", "base", "health", "rails", "policies", "planner", "executor", "control",
          "config", "api", "lab", "tools")
# The executor's shell: the only files of the pure floors that may have a thread or a clock.
SHELL = re.compile(r"executor/(inbox|worker|runner)\w*\.(h|cc)$")

STD_HEADERS = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono
cinttypes climits clocale cmath compare complex concepts condition_variable coroutine csetjmp
csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception
execution filesystem format forward_list fstream functional future initializer_list iomanip ios
iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new
numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set
shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view
syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set
utility valarray variant vector version
""".split())
SYSTEM_HEADERS = re.compile(
    r"(sys|net|netinet|arpa|linux|bits)/[\w/.]+|"
    r"(unistd|fcntl|poll|sched|signal|errno|netdb|ifaddrs|pthread|time|limits|endian)\.h")


def is_layer(path):
    return path.split("/")[0] in LAYERS


def is_pure(path):
    return path.split("/")[0] in ("health", "policies", "planner", "executor") and not SHELL.match(path)


def is_cpp(path):
    return path.endswith((".h", ".cc"))


def is_test(path):
    return path.startswith("tests/") and path.endswith((".h", ".cc", ".py", ".sh"))


# (applies to a path, must not occur, what to say)
LINE_RULES = [
    (is_cpp, r'#\s*include\s*[<"]\.\.?/', 'include as "<folder>/<file>.h", never relative'),
    (lambda p: is_cpp(p) and is_layer(p), r'#\s*include\s*"(?![^"/]+/)(?![^"]*\.pb\.h")',
     'include as "<folder>/<file>.h"'),
    (lambda p: is_pure(p) and is_cpp(p),
     r"(steady|system|high_resolution)_clock::now|clock_gettime|gettimeofday|\btime\(",
     "a clock in a pure layer: `now` is an argument"),
    (lambda p: is_pure(p) and is_cpp(p), r"random_device|\bs?rand\(|getrandom",
     "unseeded randomness in a pure layer: use base/prng.h"),
    (lambda p: is_pure(p) and is_cpp(p),
     r"#\s*include\s*<(mutex|shared_mutex|thread|condition_variable|future|semaphore|latch|barrier|"
     r"stop_token|fstream|iostream|unistd\.h|fcntl\.h|poll\.h|sys/[^>]*)>",
     "a thread, a lock or the kernel in a pure layer"),
    (lambda p: is_pure(p) and is_cpp(p), r"std::unordered_|#\s*include\s*<unordered_",
     "an order that differs between standard libraries in a pure layer"),
    (lambda p: is_cpp(p) and is_layer(p) and not p.startswith("config/"), r"\bgetenv\b",
     "only config/ reads the environment"),
    (lambda p: is_cpp(p) and is_layer(p) and p not in ("base/check.cc", "base/status.cc"),
     r"\b(assert|abort|_exit|quick_exit|terminate)\s*\(",
     "only a failed check ends the process; input errors are a Status"),
    (is_test, r"\bsleep_(for|until)\b|\b(u|nano)?sleep\s*\(|\btime\.sleep\b|^\s*sleep\s+[\d.$]",
     "a test waits for the event, it never sleeps"),
    (is_cpp, r"\bclass\s+\w*(Manager|Helper|Util|Impl)\b", "name it after what it does"),
]
LINE_RULES = [(applies, re.compile(pattern), say) for applies, pattern, say in LINE_RULES]


def blank_comments(text):
    """The same text, line by line, with C++ comments and string contents blanked."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'',
                       re.S)

    def blank(match):
        found = match.group(0)
        start = text.rfind("\n", 0, match.start()) + 1
        if found[0] == '"' and "#" in text[start:match.start()]:
            return found  # the name of an included file
        return re.sub(r"[^\n]", " ", found)

    return token.sub(blank, text)


def check_length(path, text):
    count = text.count("\n")
    if is_cpp(path) and count > LINES_MAX:
        yield LINES_MAX, f"{count} lines; a newcomer finds the way in at most {LINES_MAX}"


def check_pragma_once(path, text):
    if path.endswith(".h") and not re.search(r"^#pragma once$", text, re.M):
        yield 1, "no #pragma once"


def check_file_head(path, text):
    if is_cpp(path) and is_layer(path) and path.endswith(".h") and not text.startswith("//"):
        yield 1, "a header opens with its purpose"


def check_header_includes(path, text):
    """Vendor headers only in .cc files; the public API needs the standard library alone."""
    if not (path.endswith(".h") and is_layer(path)):
        return
    public = path.startswith("include/")
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        name = match.group(2)
        if match.group(1) == '"':
            if name.endswith(".pb.h"):
                yield number, f'generated header "{name}" outside a .cc file'
            elif public and not name.startswith("spindrift/"):
                yield number, f'a public header includes the internal "{name}"'
        elif name not in STD_HEADERS and (public or not SYSTEM_HEADERS.fullmatch(name)):
            yield number, f"vendor header <{name}> outside a .cc file"


def check_unfinished(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\bTODO\b|\bFIXME\b", line):
            yield number, "an unfinished mark"


FILE_RULES = [check_length, check_pragma_once, check_file_head, check_header_includes,
              check_unfinished]


def check_own_path(path, text):
    """A path of the machine that it was written on means nothing elsewhere."""
    for place in {str(ROOT), str(ROOT.parent)} - SHARED_PLACES:
        if place + "/" in text:
            yield text[:text.index(place + "/")].count("\n") + 1, "an absolute path of this machine"
            return


def check_file(path):
    try:
        text = (ROOT / path).read_text()
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return  # binary, deleted in the working tree, or a submodule
    yield from check_text(path, text)


def check_text(path, text):
    yield from check_own_path(path, text)
    if is_cpp(path):
        for rule in FILE_RULES:
            yield from rule(path, text)
        text = blank_comments(text)
    elif not is_test(path):
        return
    for number, line in enumerate(text.split("\n"), 1):
        for applies, pattern, say in LINE_RULES:
            if applies(path) and not path.startswith("tests/lint/rules") and pattern.search(line):
                yield number, say


def listed_files():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True).stdout.split("\n")


def main():
    paths = sys.argv[1:] or [path for path in listed_files() if path]
    breaches = [(path, number, say) for path in sorted(set(paths)) for number, say in check_file(path)]
    for path, number, say in breaches:
        print(f"{path}:{number}: {say}")
    print(f"rules: {len(paths)} files, {len(breaches)} breaches")
    return 1 if breaches or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
