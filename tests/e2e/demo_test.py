#!/usr/bin/env python3
"""The demo runs by itself, verifies what it moved, and leaves nothing behind."""

import os
import re
import signal
import subprocess

import harness
from harness import expect


def left_behind(pid):
    names = subprocess.run(["ip", "netns", "list"], text=True, capture_output=True).stdout
    return [name for name in names.split() if name.startswith(f"spindrift-demo-{pid}-")]


def children_of(pid):
    path = f"/proc/{pid}/task/{pid}/children"
    with open(path) as children:
        return children.read().split()


def over_loopback(stage):
    result = stage.run([stage.spindrift, "demo", "--duration", "2s", "--loopback"], timeout_s=100)
    expect("loopback addresses" in result.stdout, result.stdout)
    expect("every byte is right" in result.stdout, result.stdout)
    expect("spray: least_completion" in result.stdout, result.stdout)


def over_unequal_links(stage):
    stage.ground(rates_mbit=[])  # skips where there is none
    demo = stage.start([stage.spindrift, "demo", "--duration", "2s"])
    demo.wait_line(r"veth pairs", 60)
    demo.wait_line(r"rail3.* = \d+ Mbit/s of 2630", 60)
    expect(demo.wait_exit(100) == 0, demo.described())
    expect("every byte is right" in demo.output, demo.output)
    share = re.search(r"([\d.]+) % of the 2630 Mbit/s", demo.output)
    # How good it is, is measured elsewhere; that links add up shows here.
    expect(share and 50 < float(share.group(1)) < 105, demo.output)
    for rail in range(4):
        expect(f"tcp:rail{rail}>rail{rail}" in demo.output, demo.output)
    expect(not left_behind(demo.pid), f"{left_behind(demo.pid)}")


def a_signal_cleans_up(stage):
    stage.ground(rates_mbit=[])
    for number in (signal.SIGTERM, signal.SIGINT):
        demo = stage.start([stage.spindrift, "demo", "--duration", "60s"])
        demo.wait_line(r"moving.*Mbit/s", 60)
        expect(len(left_behind(demo.pid)) == 2, "no namespaces to clean up")
        demo.send(number)
        expect(demo.wait_exit(40) == 1, demo.described())
        expect(not left_behind(demo.pid), f"{left_behind(demo.pid)}")


def a_dead_agent_ends_it(stage):
    stage.ground(rates_mbit=[])
    demo = stage.start([stage.spindrift, "demo", "--duration", "60s"])
    demo.wait_line(r"moving.*Mbit/s", 60)
    agent = next(pid for pid in children_of(demo.pid)
                 if "agent" in open(f"/proc/{pid}/cmdline").read().split("\0"))
    os.kill(int(agent), signal.SIGKILL)
    expect(demo.wait_exit(40) == 1, demo.described())
    expect(not left_behind(demo.pid), f"{left_behind(demo.pid)}")


if __name__ == "__main__":
    harness.main([over_loopback, over_unequal_links, a_signal_cleans_up, a_dead_agent_ends_it])
