#!/usr/bin/env python3
"""A rail whose link goes down under load, at either end: nothing fails, and it comes back."""

import json
import re

import harness
from harness import expect

NODE = """schema: spindrift/node/1
name: {name}
control:
  bind: {ip}
  key: only-for-this-test
{more}"""
MEMORY = """segments:
  - name: bench
    size: 17MiB
"""
RAIL = 1  # the control connection's address is rail 0's
FLOWS = 4 << 20  # bytes by which a rail is seen to carry its share
WAIT_S = 20


def start(stage, ground):
    """A bench over three rails from a to b, with a load that outlasts the test's steps."""
    agent = stage.agent(NODE.format(name="target", ip=ground.address("b", 0), more=MEMORY),
                        ns=ground.b)
    own = stage.file("own.yaml", NODE.format(name="source", ip=ground.address("a", 0), more=""))
    return stage.start([stage.spindrift, "bench", "--config", own, "--peer", agent.control,
                        "--size", "4MiB", "--depth", "2", "--duration", "6s", "--warmup", "0",
                        "--memory", "17MiB", "--verify", "--json"], ns=ground.a)


def a_link_goes_down_and_comes_back(stage, ground, ns):
    bench = start(stage, ground)
    harness.until(lambda: ground.sent(ground.a, RAIL) > FLOWS, WAIT_S, "the rail carries nothing")
    ground.set_link(ns, RAIL, False)
    given_up = rf"rail{RAIL}>rail{RAIL}.*-> quarantined: link down"
    harness.until(lambda: re.search(given_up, bench.said()), WAIT_S, "the link is not missed")
    before = ground.sent(ground.a, RAIL)
    ground.set_link(ns, RAIL, True)
    harness.until(lambda: ground.sent(ground.a, RAIL) > before + FLOWS, WAIT_S,
                  "the rail does not come back")
    expect(bench.is_running(), "it came back when all was over: " + bench.described())
    expect(bench.wait_exit(WAIT_S) == 0, bench.described())
    point = json.loads(bench.output.splitlines()[-1])
    expect(point["failed_intents"] == 0 and point["verify_failures"] == 0, f"{point}")
    expect(point["verified_bytes"] == point["bytes"] > 0, f"{point}")


def down_at_the_sender(stage):
    ground = stage.ground(rates_mbit=[100, 100, 100])
    a_link_goes_down_and_comes_back(stage, ground, ground.a)


def down_at_the_receiver(stage):
    ground = stage.ground(rates_mbit=[100, 100, 100])
    a_link_goes_down_and_comes_back(stage, ground, ground.b)


if __name__ == "__main__":
    harness.main([down_at_the_sender, down_at_the_receiver])
