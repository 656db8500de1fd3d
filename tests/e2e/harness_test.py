#!/usr/bin/env python3
"""The harness does what the other tests rely on."""

import json
import os
import signal
import subprocess
import sys

import harness
from harness import Failure, Stage, expect


def namespaces():
    return subprocess.run(["ip", "netns", "list"], text=True, capture_output=True).stdout


def rails_have_their_rates(stage):
    ground = stage.ground(rates_mbit=[1000, 0, 250])
    for ns in (ground.a, ground.b):
        links = json.loads(stage.run(["ip", "-j", "address"], ns=ns).stdout)
        names = {link["ifname"] for link in links}
        expect({"rail0", "rail1", "rail2"} <= names, f"interfaces {names}")
        qdiscs = json.loads(stage.run(["tc", "-j", "qdisc"], ns=ns).stdout)
        rates = {q["dev"]: q["options"]["rate"] for q in qdiscs if q["kind"] == "tbf"}
        expect(rates == {"rail0": 125_000_000, "rail2": 31_250_000}, f"rates {rates}")


SERVER = """
import socket, sys
server = socket.create_server((sys.argv[1], 0), family=socket.AF_INET6 if ":" in sys.argv[1]
                              else socket.AF_INET)
print("ready port=%d" % server.getsockname()[1], flush=True)
server.accept()[0].sendall(b"hello")
"""
CLIENT = """
import socket, sys
print(socket.create_connection((sys.argv[1], int(sys.argv[2])), 5).recv(5).decode())
"""


def both_ends_reach_each_other(stage):
    ground = stage.ground(rates_mbit=[100, 0])
    for i in range(2):
        for family in (4, 6):
            ip = ground.address("b", i, family)
            server = stage.start([sys.executable, "-c", SERVER, ip], ns=ground.b)
            port = server.wait_line(r"port=(\d+)", 10).group(1)
            client = stage.run([sys.executable, "-c", CLIENT, ip, port], ns=ground.a)
            expect(client.stdout == "hello\n", f"over {ip}: {client.stdout}")
            expect(server.wait_exit(10) == 0, server.described())


def nothing_is_left_behind(stage):
    inner = Stage()
    with inner:
        ground = inner.ground(rates_mbit=[100])
        process = inner.start(["cat", "/dev/zero"], ns=ground.a)
        expect(process.is_running() and ground.a in namespaces(), "nothing was made")
    expect(ground.a not in namespaces() and ground.b not in namespaces(), "namespaces stayed")
    expect(not os.path.exists(f"/proc/{process.pid}"), "the process stayed")
    expect(not inner.folder.exists(), "the folder stayed")


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
from harness import Stage
with Stage() as stage:
    ground = stage.ground(rates_mbit=[100])
    child = stage.start([sys.executable, "-c", "import signal; signal.pause()"], ns=ground.a)
    print(f"made ns={ground.a} pid={child.pid}", flush=True)
    child.wait_line("never", 60)
"""


def a_signal_cleans_up(stage):
    stage.ground(rates_mbit=[])  # skips where there is none
    folder = os.path.dirname(os.path.abspath(__file__))
    for number in (signal.SIGTERM, signal.SIGKILL):
        test = stage.start([sys.executable, "-c", KILLED, folder])
        made = test.wait_line(r"ns=(\S+) pid=(\d+)", 20)
        test.send(number)
        test.wait_exit(20)
        if number == signal.SIGKILL:
            stage.ground(rates_mbit=[])  # the next Stage's ground sweeps
        expect(made.group(1) not in namespaces(), f"signal {number}: a namespace stayed")


def deadlines_hold(stage):
    process = stage.start(["cat", "/dev/zero"])
    try:
        process.wait_line("x", 0.2)
    except Failure as failure:
        expect("within 0.2 s" in str(failure), str(failure))
    else:
        raise Failure("a line came from nowhere")
    try:
        stage.run(["cat", "/dev/zero"], timeout_s=0.2)
    except Failure as failure:
        expect("no end within" in str(failure), str(failure))
    else:
        raise Failure("an endless program ended")


if __name__ == "__main__":
    harness.main([deadlines_hold, rails_have_their_rates, both_ends_reach_each_other,
                  nothing_is_left_behind, a_signal_cleans_up])
