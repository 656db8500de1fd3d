#!/usr/bin/env python3
"""The commands that move nothing: help pages, version, check, plan, topo."""

import json
import re

import harness
from harness import ROOT, expect

COMMANDS = ["agent", "bench", "plan", "check", "topo", "demo", "version"]
EXAMPLES = ROOT / "docs/examples"


def every_help_is_a_page(stage):
    top = stage.run([stage.spindrift, "--help"]).stdout
    for command in COMMANDS:
        line = re.search(rf"^  {command} +(\S.*)$", top, re.M)
        expect(line, f"--help does not list {command}:\n{top}")
        page = stage.run([stage.spindrift, command, "--help"]).stdout
        expect("Exit status: 0" in page, f"{command} --help has no exit statuses:\n{page}")
        expect(line.group(1) in page, f"{command} --help does not begin as the list does")
        expect(command == "version" or f"spindrift {command}" in page, f"{command}: no example")
        longest = max(len(text) for text in page.split("\n"))
        expect(longest <= 100, f"{command} --help has a line of {longest} characters")


def wrong_command_lines_exit_2(stage):
    for words in ([], ["fly"], ["bench", "--size"], ["bench", "--size", "64"],
                  ["bench", "--loopback", "--size", "1Mb"], ["bench"],
                  ["bench", "--loopback", "--peer", "127.0.0.1:1"], ["agent"], ["bench", "--peer", "decode-0"],
                  ["bench", "--peer", "127.0.0.1:1", "--rails", "2"],
                  ["bench", "--loopback", "--sizes", "1MiB:4KiB"], ["plan", "--topology", "x"],
                  ["bench", "--loopback", "--spray", "wishful"], ["check"],
                  ["bench", "--loopback", "--count", "3", "--duration", "1s"]):
        result = stage.run([stage.spindrift, *words], status=2)
        expect(result.stderr.startswith("spindrift: "), f"{words}: {result.stderr}")
        expect(result.stdout == "", f"{words}: {result.stdout}")


def version_says_what_runs(stage):
    lines = dict(line.split(" ", 1) for line in
                 stage.run([stage.spindrift, "version"]).stdout.splitlines())
    expect(set(lines) == {"spindrift", "compiler", "kernel"}, f"{lines}")
    expect(re.fullmatch(r"\d+\.\d+\.\d+", lines["spindrift"]), lines["spindrift"])


def check_accepts_the_examples(stage):
    files = sorted(EXAMPLES.glob("*.yaml"))
    result = stage.run([stage.spindrift, "check", *files])
    expect(len(result.stdout.splitlines()) == len(files) > 3, result.stdout)


def check_finds_every_problem(stage):
    bad = stage.file("bad.yaml", "schema: spindrift/node/1\nname: a\ncontrol:\n  port: 70000\n"
                     "  prot: 1\ntcp:\n  ack_every: 64\n")
    found = stage.run([stage.spindrift, "check", bad], status=1).stdout.splitlines()
    places = [re.match(rf"{bad}:(\d+):(\d+): error: ", line) for line in found]
    expect(all(places), f"not file:line:column: error: {found}")
    expect([place.group(1) for place in places] == ["4", "5", "7"], f"{found}")
    expect("did you mean" in found[1] and "port" in found[1], found[1])


def check_warns_without_failing(stage):
    odd = stage.file("odd.yaml", "schema: spindrift/policy/1\nrules:\n  - name: all\n"
                     "  - name: never\n")
    result = stage.run([stage.spindrift, "check", odd])
    expect(re.search(r"odd\.yaml:4:\d+: warning: ", result.stdout), result.stdout)


def check_refuses_what_it_cannot_read(stage):
    twice = stage.file("twice.yaml", "schema: spindrift/policy/1\nrules:\n  - name: a\n    match:\n"
                       "      size_min: 1MiB\n  - name: a\n")
    expect("a" in stage.run([stage.spindrift, "check", twice], status=1).stdout, "two of one name")
    for path in (stage.folder / "missing.yaml", stage.folder):
        result = stage.run([stage.spindrift, "check", path], status=1)
        expect(str(path) in result.stdout, result.stdout)


def plan_explains_itself(stage):
    files = ["--topology", EXAMPLES / "eth-4x100g.yaml", "--policy", EXAMPLES / "policy.yaml",
             "--intent", EXAMPLES / "intent.yaml"]
    page = stage.run([stage.spindrift, "plan", *files]).stdout
    expect("everything-else" in page and "kv-blocks" in page, page)
    plan = json.loads(stage.run([stage.spindrift, "plan", *files, "--json"]).stdout)
    text = json.dumps(plan)
    for rail in range(4):
        expect(f"tcp:eth{rail}>eth{rail}" in text, f"no rail {rail}: {text}")
    expect(page == stage.run([stage.spindrift, "plan", *files]).stdout, "two plans differ")


def plan_fails_on_what_cannot_be(stage):
    policy = stage.file("rdma.yaml", "schema: spindrift/policy/1\nrules:\n  - name: rdma-only\n"
                        "    rails:\n      require:\n        - transport: rdma\n")
    files = ["--topology", EXAMPLES / "eth-4x100g.yaml", "--intent", EXAMPLES / "intent.yaml"]
    result = stage.run([stage.spindrift, "plan", *files, "--policy", policy], status=1)
    expect("rdma-only" in result.stderr, result.stderr)
    result = stage.run([stage.spindrift, "plan", *files, "--policy", "missing.yaml"], status=1)
    expect("missing.yaml" in result.stderr, result.stderr)


def topo_shows_interfaces_and_reasons(stage):
    page = json.loads(stage.run([stage.spindrift, "topo", "--json"]).stdout)
    nics = {nic["name"]: nic for nic in page["interfaces"]}
    expect("lo" in nics and not nics["lo"]["used"] and nics["lo"]["reason"], f"{nics}")
    expect(any("congestion" in fact["name"] for fact in page["kernel"]), f"{page['kernel']}")
    table = stage.run([stage.spindrift, "topo"]).stdout
    for nic in nics.values():
        expect(nic["name"] in table and nic["reason"] in table, table)


def topo_in_a_namespace_finds_its_rails(stage):
    ground = stage.ground(rates_mbit=[100, 0])
    page = json.loads(stage.run([stage.spindrift, "topo", "--json"], ns=ground.a).stdout)
    used = {nic["name"] for nic in page["interfaces"] if nic["used"]}
    expect(used == {"rail0", "rail1"}, f"{page['interfaces']}")


if __name__ == "__main__":
    harness.main([every_help_is_a_page, wrong_command_lines_exit_2, version_says_what_runs,
                  check_accepts_the_examples, check_finds_every_problem,
                  check_warns_without_failing, check_refuses_what_it_cannot_read,
                  plan_explains_itself, plan_fails_on_what_cannot_be,
                  topo_shows_interfaces_and_reasons, topo_in_a_namespace_finds_its_rails])
