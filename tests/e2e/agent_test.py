#!/usr/bin/env python3
"""The agent: its ready line, its end, what it refuses, and that it survives strangers."""

import json
import os
import random
import re
import signal
import socket
import urllib.request

import harness
from harness import cpu_seconds, elapse, expect

NODE = """schema: spindrift/node/1
name: {name}
shutdown_grace: 1s
{more}segments:
  - name: bench
    size: 4MiB
"""
ONE_POINT = ["--size", "64KiB", "--count", "20", "--warmup", "0", "--verify", "--json"]


def node(name="target", more=""):
    return NODE.format(name=name, more=more)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def bench(stage, peer, *more, status=0, ns=None):
    return stage.run([stage.spindrift, "bench", "--peer", peer, *ONE_POINT, *more], status=status,
                     ns=ns)


def expect_serving(stage, agent):
    expect(agent.process.is_running(), agent.process.described())
    point = json.loads(bench(stage, agent.control).stdout)
    expect(point["verify_failures"] == 0 and point["verified_bytes"] == 20 * 65536, f"{point}")


def the_ready_line_is_exact(stage):
    agent = stage.agent(node())
    expect(re.fullmatch(r"ready name=target control=127\.0\.0\.1:\d+\n", agent.process.output),
           repr(agent.process.output))
    expect_serving(stage, agent)
    agent = stage.agent(node(more="metrics:\n  port: 0\n"))
    expect(set(agent.fields) == {"name", "control", "metrics"}, f"{agent.fields}")
    url = f"http://{agent.fields['metrics']}/metrics"
    text = urllib.request.urlopen(url, timeout=10).read().decode()
    expect("spindrift_build_info" in text, text[:500])


def signals_drain_and_exit_0(stage):
    for number in (signal.SIGTERM, signal.SIGINT):
        agent = stage.agent(node())
        expect_serving(stage, agent)
        agent.process.send(number)
        expect(agent.process.wait_exit(10) == 0, agent.process.described())


def an_end_under_load_leaves_no_hang(stage):
    agent = stage.agent(node())
    load = stage.start([stage.spindrift, "bench", "--peer", agent.control, "--size", "1MiB",
                        "--depth", "2", "--duration", "30s", "--budget", "5s", "--json",
                        "--warmup", "100ms"])
    elapse(1.0)
    expect(load.is_running(), load.described())
    agent.process.send(signal.SIGTERM)
    expect(agent.process.wait_exit(15) == 0, agent.process.described())
    # Its intents fail in time, one after another, and it says so.
    expect(load.wait_exit(60) == 1, load.described())


def refused(stage, config, *words):
    """The agent exits with 1 and standard error has all of the words."""
    path = stage.file("refused.yaml", config) if "\n" in config else config
    result = stage.run([stage.spindrift, "agent", "--config", path], status=1)
    for word in words:
        expect(word in result.stderr, f"no '{word}' in: {result.stderr}")
    expect(result.stdout == "", f"{result.stdout}")


def what_it_cannot_do_is_said(stage):
    refused(stage, "missing.yaml", "missing.yaml")
    refused(stage, node(more="contrl: {}\n"), "refused.yaml:4:1", "control")
    refused(stage, node(more="control:\n  bind: 0.0.0.0\n"), "insecure")
    refused(stage, node().replace("4MiB", "60TiB"), "segment bench", "memory")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(stage, node(more=f"control:\n  port: {port}\n"), "in use", str(port))
        refused(stage, node(more=f"metrics:\n  port: {port}\n"), str(port))


def a_peer_that_is_not_there_is_said(stage):
    config = stage.file("own.yaml", "schema: spindrift/node/1\nname: own\n")
    for peer, more, word in [(f"127.0.0.1:{free_port()}", [], "peer unreachable"),
                             ("nobody", ["--config", config], "not found")]:
        result = bench(stage, peer, *more, status=1)
        expect(word in result.stderr and peer in result.stderr, result.stderr)
    agent = stage.agent(node())
    result = bench(stage, agent.control, "--segment", "other", status=1)
    expect("not found" in result.stderr and "other" in result.stderr, result.stderr)
    expect_serving(stage, agent)


def a_wrong_key_is_refused(stage):
    agent = stage.agent(node(more="control:\n  key: 0123456789abcdef\n"))
    for text, status in [("0123456789abcdef", 0), ("fedcba9876543210", 1)]:
        key = stage.file("key", text + "\n")
        key.chmod(0o600)
        result = bench(stage, agent.control, "--key-file", key, status=status)
        expect(status == 0 or "authenticat" in result.stderr, result.stderr)
    result = bench(stage, agent.control, status=1)
    expect("authenticat" in result.stderr, result.stderr)
    expect(agent.process.is_running(), agent.process.described())


def rights_hold(stage):
    agent = stage.agent(node() + "    rights: read\n")
    result = bench(stage, agent.control, status=1)
    expect("permission denied" in result.stderr, result.stderr)
    arguments = [stage.spindrift, "bench", "--peer", agent.control, "--op", "read", "--size", "1MiB",
                 "--count", "3", "--warmup", "0", "--json"]
    point = json.loads(stage.run(arguments).stdout)
    expect(point["intents"] == 3 and point["bytes"] == 3 << 20, f"{point}")


def a_required_transport_that_is_absent_is_an_error(stage):
    agent = stage.agent(node())
    policy = stage.file("policy.yaml", "schema: spindrift/policy/1\nrules:\n  - name: rdma-only\n"
                        "    rails:\n      require:\n        - transport: rdma\n")
    result = bench(stage, agent.control, "--policy", policy, status=1)
    said = result.stderr + result.stdout
    expect("rdma-only" in said, said)
    expect_serving(stage, agent)


def throw(address, chunks):
    """Sends what it can; the other end may close at any moment."""
    try:
        with socket.create_connection(address, 5) as stranger:
            for chunk in chunks:
                stranger.sendall(chunk)
    except OSError:
        pass


def strangers_do_no_harm(stage):
    data_port = free_port()
    agent = stage.agent(node(more=f"control:\n  handshake_timeout: 500ms\ntcp:\n  port: {data_port}\n"))
    host, port = agent.control.split(":")
    dice = random.Random(4)
    expect_serving(stage, agent)
    held = []
    for address in ((host, int(port)), ("127.0.0.1", data_port)):
        for _ in range(40):
            throw(address, [dice.randbytes(dice.randint(0, 3000)) for _ in range(3)])
        # Lengths that promise much, in both byte orders, and then nothing.
        for promise in (b"\xff" * 8, b"\x7f\xff\xff\xff", b"\x00\x00\x10\x00", b"\x00\x10\x00\x00"):
            throw(address, [promise])
        for _ in range(5):  # half a handshake, then silence
            held.append(socket.create_connection(address, 5))
            held[-1].sendall(b"\x00")
    expect_serving(stage, agent)
    for silent in held:  # each is closed by the agent in time
        silent.settimeout(10)
        try:
            expect(silent.recv(1 << 16) is not None, "unreachable")
        except ConnectionError:
            pass
        except TimeoutError:
            raise harness.Failure("a silent stranger is still connected") from None
        silent.close()
    expect_serving(stage, agent)
    expect(len(os.listdir(f"/proc/{agent.pid}/fd")) < 100, "descriptors were left open")


def idle_costs_nothing(stage):
    agent = stage.agent(node())
    peer = stage.start([stage.spindrift, "bench", "--peer", agent.control, *ONE_POINT,
                        "--idle", "12s"])
    peer.wait_line('"op":"write"', 30)
    elapse(1.0)
    before = cpu_seconds(agent.pid)
    elapse(10.0)
    used = cpu_seconds(agent.pid) - before
    expect(peer.is_running(), peer.described())
    expect(used < 0.1, f"{used:.2f} s of CPU in 10 s of idleness with one open peer")
    expect(peer.wait_exit(30) == 0, peer.described())
    cost = json.loads(peer.output.splitlines()[-1])
    expect(cost["cpu_ns"] < cost["idle_ns"] / 100, f"the initiator: {cost}")


if __name__ == "__main__":
    harness.main([the_ready_line_is_exact, signals_drain_and_exit_0,
                  an_end_under_load_leaves_no_hang, what_it_cannot_do_is_said,
                  a_peer_that_is_not_there_is_said, a_wrong_key_is_refused, rights_hold,
                  a_required_transport_that_is_absent_is_an_error, strangers_do_no_harm,
                  idle_costs_nothing])
