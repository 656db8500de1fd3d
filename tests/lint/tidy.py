#!/usr/bin/env python3
"""clang-tidy over the product's sources, and only those that changed.

    tidy.py BUILD_DIR [FILE]...      default: every .cc file of the layers

BUILD_DIR holds compile_commands.json. A file that passed is remembered by the
contents of itself, of the headers of ours that it includes and of .clang-tidy,
so that a second call takes a moment. Exit status 0 exactly if nothing is found.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDY = "clang-tidy-14"
SECONDS_MAX = 240  # for one file
NOT_PRODUCT = ("tests", "perf", "build", "examples", "docs")


def included(path, seen):
    """Adds the repository's files that `path` includes, directly or not, to `seen`."""
    if path in seen or not path.is_file():
        return
    seen.add(path)
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.M):
        included(ROOT / name, seen)
        included(ROOT / "include" / name, seen)


def fingerprint(entry, version):
    digest = hashlib.sha256()
    files = set()
    included(pathlib.Path(entry["file"]), files)
    for path in sorted(files) + [ROOT / ".clang-tidy"]:
        digest.update(str(path).encode() + path.read_bytes())
    digest.update((entry["command"] + version).encode())
    return digest.hexdigest()


def run_tidy(build_dir, entry, version):
    """What clang-tidy said against the file; nothing if it passes."""
    mark = build_dir / "tidy-passed" / fingerprint(entry, version)
    if mark.exists():
        return ""
    result = subprocess.run([TIDY, "--quiet", "-p", str(build_dir), entry["file"]], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS_MAX)
    if result.returncode == 0:
        mark.parent.mkdir(exist_ok=True)
        mark.touch()
        return ""
    return result.stdout or result.stderr


def product_entries(build_dir, chosen):
    for entry in json.loads((build_dir / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if ROOT not in path.parents or path.is_relative_to(build_dir):
            continue
        name = str(path.relative_to(ROOT))
        if name in chosen or (not chosen and name.split("/")[0] not in NOT_PRODUCT):
            yield entry


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build_dir = pathlib.Path(sys.argv[1]).resolve()
    entries = list(product_entries(build_dir, set(sys.argv[2:])))
    version = subprocess.run([TIDY, "--version"], text=True, capture_output=True, check=True).stdout
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(pool.map(lambda entry: run_tidy(build_dir, entry, version), entries))
    complaints = [complaint for complaint in complaints if complaint]
    print("".join(complaints), end="")
    print(f"tidy: {len(entries)} files, {len(complaints)} with complaints")
    return 1 if complaints or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
