#!/usr/bin/env python3
"""Shows that a wrong arrow between the layers does not compile.

    layering_check.py BUILD_DIR [COMPILER]

The build tells in BUILD_DIR/layers.json which include roots a user of each
layer sees. For every ordered pair of layers this includes a header of the
second with exactly the flags of the first, and fails when that is found though
the table below does not allow the arrow. Each layer must find its own header,
else all the refusals would prove nothing.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

# The floors (docs/ARCHITECTURE.md): what each layer may include besides itself.
# None: it wires everything and may include all, as tests may too.
PURE = {"public", "base"}
OPTIONS = {"control_options", "executor_options", "health_options", "tcp_options"}
MAY_SEE = {
    "public": set(),
    "base": {"public"},
    "health": PURE,
    "rail_port": PURE,
    "policies": PURE | {"health"},
    "planner": PURE | {"health", "policies"},
    "executor": PURE | {"health", "policies", "planner", "rail_port"},
    "control": PURE,
    "config": PURE | {"health", "policies", "planner"} | OPTIONS,
    "api": None,
    "lab": None,
    "tools": None,
}
# Option headers are public faces of a module that config may see.
MAY_SEE.update({name: PURE for name in OPTIONS})
MAY_SEE["executor_options"] = PURE | {"health_options"}
# A backend sees the port and its own options, never another backend.
BACKEND = PURE | {"rail_port"} | OPTIONS


def may_see(layer):
    if layer in MAY_SEE:
        return MAY_SEE[layer]
    if layer.endswith("_tests"):
        return None
    if layer.startswith("rail_") or layer.startswith("rails_"):
        return BACKEND
    sys.exit(f"layering: the layer '{layer}' is not in the table of tests/lint/layering_check.py")


def is_found(compiler, roots, header):
    """Whether a file with these include roots, and no others, can include the header."""
    command = [compiler, "-std=c++20", "-E", "-x", "c++", "-", "-o", os.devnull]
    command += [f"-I{root}" for root in roots]
    result = subprocess.run(command, input=f'#include "{header}"\n', text=True,
                            capture_output=True, timeout=60, cwd="/")
    if result.returncode == 0:
        return True
    missing = f"'{header}' file not found" in result.stderr or f"{header}: No such" in result.stderr
    # Found, though something that it includes itself is not: the arrow exists.
    return not missing


def layers_of(build_dir):
    layers = json.loads((build_dir / "layers.json").read_text())
    source = pathlib.Path(__file__).resolve().parents[2]
    public = sorted(str(p.relative_to(source / "include"))
                    for p in (source / "include").rglob("*.h"))
    layers["public"] = {"headers": public, "sees": [str(source / "include")]}
    return {name: layer for name, layer in layers.items() if any(layer["headers"])}


def arrow_problem(compiler, layers, user, used):
    allowed = may_see(user)
    if allowed is None or used in allowed:
        return None
    # A header that is also one of an allowed layer (options) proves nothing.
    visible = {h for name in allowed | {user} if name in layers for h in layers[name]["headers"]}
    for header in layers[used]["headers"]:
        if header not in visible:
            if is_found(compiler, layers[user]["sees"], header):
                return f"{user} can include \"{header}\" of {used}: a wrong arrow compiles"
            return None
    return None


def blind_problem(compiler, layers, user):
    header = layers[user]["headers"][0]
    if is_found(compiler, layers[user]["sees"], header):
        return None
    return f"{user} cannot include its own \"{header}\""


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    layers = layers_of(pathlib.Path(sys.argv[1]))
    compiler = sys.argv[2] if len(sys.argv) > 2 else "clang++-14"
    pairs = [(a, b) for a in layers for b in layers if a != b]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = list(pool.map(lambda p: arrow_problem(compiler, layers, *p), pairs))
        problems += list(pool.map(lambda user: blind_problem(compiler, layers, user), layers))
    problems = [problem for problem in problems if problem]
    for problem in problems:
        print(f"layering: {problem}")
    print(f"layering: {len(layers)} layers, {len(pairs)} pairs, {len(problems)} problems")
    return 1 if problems or len(layers) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
