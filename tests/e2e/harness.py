"""Real processes over real links, for end-to-end tests and benchmarks.

A test is a program that builds what it needs inside `with Stage() as stage:`
and leaves nothing behind: processes, network namespaces and temporary files go
when the block ends, in whatever way, on SIGTERM, SIGINT and SIGHUP too. If the
test itself is killed outright, the kernel kills its processes and the next
Stage removes its namespaces.

    from harness import Stage
    with Stage() as stage:
        ground = stage.ground(rates_mbit=[1000, 1000, 500, 250])
        agent = stage.agent(CONFIG.format(ip=ground.address("b", 0)), ns=ground.b)
        stage.run([stage.spindrift, "bench", agent.control, ...], ns=ground.a, timeout_s=60)

Every wait has a deadline. Only processes that the Stage started are ended, by
pid. What cannot run here (no root, no namespaces) is skipped with exit status
77, which CTest reports as skipped. Standard library only. Not thread-safe: one
Stage, in the main thread.
"""

import contextlib
import ctypes
import dataclasses
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED_STATUS = 77
PREFIX = "spindrift-"  # of namespaces: spindrift-<pid of the test>-<end>-<serial>
# As in tbf(8): deep enough for one 64 KiB burst of segmentation offload per
# millisecond, shallow enough that the rate is what a few windows average to.
TBF_SHAPE = ("burst", "256kb", "latency", "20ms")
PR_SET_PDEATHSIG = 1
NET_COMMAND_S = 20
STOP_S = 10

_libc = ctypes.CDLL(None, use_errno=True)


class Failure(Exception):
    """The test failed; the text says what was expected and what came."""


class Skipped(Exception):
    """The test cannot run here; the text says why."""


def skip(reason):
    raise Skipped(reason)


def expect(condition, text):
    if not condition:
        raise Failure(text)


def elapse(seconds):
    """Lets time pass where time itself is measured; never a way to wait for an event."""
    select.select([], [], [], seconds)


def until(condition, timeout_s, text):
    """Waits for what no file descriptor tells of: asks every 20 ms, within this time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        expect(time.monotonic() < deadline, f"{text} within {timeout_s} s")
        elapse(0.02)


def cpu_seconds(pid):
    """User and system time that a process has used."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _die_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _inside(ns, command):
    """`ip netns exec` replaces itself, so the pid is the command's own."""
    command = [str(part) for part in command]
    return ["ip", "netns", "exec", ns] + command if ns else command


def _net(*words):
    """One `ip` or `tc` command; a failure shows what it said."""
    result = subprocess.run(words, text=True, capture_output=True, timeout=NET_COMMAND_S)
    if result.returncode != 0:
        raise Failure(f"{' '.join(words)}: {result.stderr.strip()}")
    return result.stdout


def _pid_lives(pid):
    return os.path.exists(f"/proc/{pid}")


def _remove_stale_namespaces():
    for line in _net("ip", "netns", "list").splitlines():
        match = re.match(rf"{PREFIX}(\d+)-", line)
        if match and not _pid_lives(match.group(1)):
            subprocess.run(["ip", "netns", "delete", line.split()[0]], capture_output=True,
                           timeout=NET_COMMAND_S)


def why_no_namespaces():
    """None when network namespaces can be made here, else the reason."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not shutil.which("ip") or not shutil.which("tc"):
        return "ip and tc (package iproute2) are not installed"
    name = f"{PREFIX}{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", name], text=True, capture_output=True,
                          timeout=NET_COMMAND_S)
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, timeout=NET_COMMAND_S)
    return f"no network namespaces here: {made.stderr.strip()}" if made.returncode else None


class Ground:
    """Two namespaces, `a` and `b`, joined by veth pairs rail0, rail1, ... of set rates.

    Rail i is 10.77.i.1/24 at a and 10.77.i.2/24 at b (fd77:i::1 and ::2 over
    IPv6); a rate of 0 leaves it unshaped. Both directions are shaped alike.
    """

    _serial = 0

    def __init__(self, rates_mbit):
        Ground._serial += 1
        self.rates_mbit = list(rates_mbit)
        self.a, self.b = (f"{PREFIX}{os.getpid()}-{end}-{Ground._serial}" for end in "ab")

    def create(self):
        for ns in (self.a, self.b):
            _net("ip", "netns", "add", ns)
            _net("ip", "-n", ns, "link", "set", "lo", "up")
        for i, rate in enumerate(self.rates_mbit):
            _net("ip", "link", "add", f"rail{i}", "netns", self.a, "type", "veth",
                 "peer", "name", f"rail{i}", "netns", self.b)
            for host, ns in enumerate((self.a, self.b), 1):
                self._set_up_end(ns, i, host, rate)

    def _set_up_end(self, ns, i, host, rate):
        _net("ip", "-n", ns, "address", "add", f"10.77.{i}.{host}/24", "dev", f"rail{i}")
        _net("ip", "-n", ns, "address", "add", f"fd77:{i}::{host}/64", "dev", f"rail{i}", "nodad")
        _net("ip", "-n", ns, "link", "set", f"rail{i}", "up")
        if rate:
            self.set_rate(ns, i, rate)

    def set_rate(self, ns, i, rate_mbit):
        """Shapes what `ns` sends over rail i, also while traffic flows."""
        _net("tc", "-n", ns, "qdisc", "replace", "dev", f"rail{i}", "root", "tbf",
             "rate", f"{rate_mbit}mbit", *TBF_SHAPE)

    def set_link(self, ns, i, up):
        _net("ip", "-n", ns, "link", "set", f"rail{i}", "up" if up else "down")

    def sent(self, ns, i):
        """Bytes that `ns` has sent over rail i."""
        shown = json.loads(_net("ip", "-n", ns, "-j", "-s", "link", "show", "dev", f"rail{i}"))
        return shown[0]["stats64"]["tx"]["bytes"]

    def address(self, end, i, family=4):
        host = {"a": 1, "b": 2}[end]
        return f"10.77.{i}.{host}" if family == 4 else f"fd77:{i}::{host}"

    def delete(self):
        for ns in (self.a, self.b):
            subprocess.run(["ip", "netns", "delete", ns], capture_output=True,
                           timeout=NET_COMMAND_S)


class Process:
    """A started program. Its stderr goes to a file, its stdout is read by lines."""

    def __init__(self, command, ns, folder):
        self.command = [str(part) for part in command]
        self.errors = pathlib.Path(folder) / "stderr"
        with open(self.errors, "wb") as errors:
            self._popen = subprocess.Popen(_inside(ns, command), stdin=subprocess.DEVNULL,
                                           stdout=subprocess.PIPE, stderr=errors, cwd=folder,
                                           preexec_fn=_die_with_parent)
        self.pid = self._popen.pid
        self.output = ""
        self._unread = 0  # where the next wait_line begins in `output`

    def wait_line(self, pattern, timeout_s):
        """The match of the next line of stdout that `pattern` fits."""
        deadline = time.monotonic() + timeout_s
        while True:
            while "\n" in self.output[self._unread:]:
                end = self.output.index("\n", self._unread)
                line, self._unread = self.output[self._unread:end], end + 1
                match = re.search(pattern, line)
                if match:
                    return match
            if not self._read_more(deadline):
                raise Failure(f"no line '{pattern}' within {timeout_s} s from {self.described()}")

    def _read_more(self, deadline):
        """Waits for output; False at the deadline or the end of the output."""
        stdout = self._popen.stdout
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([stdout], [], [], left)[0]:
            return False
        got = os.read(stdout.fileno(), 65536)
        self.output += got.decode(errors="replace")
        return bool(got)

    def is_running(self):
        return self._popen.poll() is None

    def send(self, signal_number):
        if self.is_running():
            os.kill(self.pid, signal_number)

    def wait_exit(self, timeout_s):
        """Its exit status (negative: the signal that ended it)."""
        deadline = time.monotonic() + timeout_s
        while self._read_more(deadline):
            pass
        try:
            return self._popen.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Failure(f"still running after {timeout_s} s: {self.described()}") from None

    def stop(self):
        """Ends it if it runs: SIGCONT and SIGTERM first, SIGKILL when that does not do."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self.is_running():
                break
            self.send(number)
            self.send(signal.SIGCONT)
            with contextlib.suppress(Failure):
                self.wait_exit(STOP_S)
        self._popen.stdout.close()

    def said(self):
        """All of its stderr so far."""
        return self.errors.read_text(errors="replace")

    def described(self):
        return (f"pid {self.pid}: {' '.join(self.command)}\n--- stdout\n{self.output[-4000:]}\n"
                f"--- stderr\n{self.said()[-4000:]}")


@dataclasses.dataclass
class Agent:
    """A serving `spindrift agent` and what its ready line said."""

    process: Process
    name: str
    control: str            # "IP:PORT"
    fields: dict            # every key=value of the ready line
    config: pathlib.Path

    @property
    def pid(self):
        return self.process.pid


class Stage(contextlib.ExitStack):
    """Owns everything that a test starts or makes."""

    def __init__(self, spindrift=None):
        super().__init__()
        default = os.environ.get("SPINDRIFT_BIN", ROOT / "build/release/bin/spindrift")
        self.spindrift = str(spindrift or default)
        self._serial = 0

    def __enter__(self):
        super().__enter__()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            old = signal.signal(number, lambda n, _: sys.exit(128 + n))
            self.callback(signal.signal, number, old)
        self.folder = pathlib.Path(self.enter_context(tempfile.TemporaryDirectory(prefix=PREFIX)))
        return self

    def ground(self, rates_mbit):
        """A new Ground, or the end of the test as skipped where none can be made."""
        reason = why_no_namespaces()
        if reason:
            skip(reason)
        _remove_stale_namespaces()
        ground = Ground(rates_mbit)
        self.callback(ground.delete)
        ground.create()
        return ground

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def _new_folder(self):
        self._serial += 1
        folder = self.folder / str(self._serial)
        folder.mkdir()
        return folder

    def start(self, command, ns=None):
        process = Process(command, ns, self._new_folder())
        self.callback(process.stop)
        return process

    def run(self, command, ns=None, timeout_s=60, status=0, env=None):
        """Runs to the end and expects this exit status (None: any)."""
        try:
            result = subprocess.run(_inside(ns, command), text=True, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    timeout=timeout_s, cwd=self.folder,
                                    env={**os.environ, **(env or {})},
                                    preexec_fn=_die_with_parent)
        except subprocess.TimeoutExpired as late:
            said = ((late.stdout or b"") + (late.stderr or b"")).decode(errors="replace")
            raise Failure(f"{' '.join(map(str, command))}: no end within {timeout_s} s\n"
                          f"{said[-4000:]}") from None
        if status is not None and result.returncode != status:
            raise Failure(f"{' '.join(map(str, command))}: exit status {result.returncode}, "
                          f"expected {status}\n--- stdout\n{result.stdout[-4000:]}\n"
                          f"--- stderr\n{result.stderr[-4000:]}")
        return result

    def agent(self, config_text, ns=None, timeout_s=20):
        """Starts `spindrift agent` with this node file and waits until it serves."""
        self._serial += 1
        config = self.file(f"node{self._serial}.yaml", config_text)
        process = self.start([self.spindrift, "agent", "--config", config], ns)
        line = process.wait_line(r"^ready\s+(.*)$", timeout_s).group(1)
        fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
        expect("name" in fields and "control" in fields, f"not a ready line: {line}")
        return Agent(process, fields["name"], fields["control"], fields, config)


def _run_one(test):
    """"passed", "FAILED" or "skipped", with what there is to say."""
    try:
        with Stage() as stage:
            test(stage)
    except Failure as failure:
        return "FAILED", f": {failure}"
    except Skipped as reason:
        return "skipped", f": {reason}"
    return "passed", ""


def main(tests):
    """Runs functions of one Stage each, those named on the command line or all."""
    chosen = [test for test in tests if not sys.argv[1:] or test.__name__ in sys.argv[1:]]
    counts = {"passed": 0, "FAILED": 0, "skipped": 0}
    for test in chosen:
        verdict, text = _run_one(test)
        counts[verdict] += 1
        print(f"{test.__name__} {verdict}{text}", flush=True)
    print(", ".join(f"{count} {verdict.lower()}" for verdict, count in counts.items()))
    if counts["FAILED"] or not chosen:
        sys.exit(1)
    sys.exit(0 if counts["passed"] else SKIPPED_STATUS)
