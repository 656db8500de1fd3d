"""What the benchmarks here have in common: iperf3, our own bench, and their output.

All `_bps` figures are bytes per second. Standard library and the harness of the
end-to-end tests only.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/e2e"))

import harness  # noqa: E402


def iperf3_or_skip():
    if not shutil.which("iperf3"):
        harness.skip("iperf3 is not installed (tools/install-deps test)")


def iperf3_bps(stage, server_ip, client_ip=None, ns_server=None, ns_client=None, seconds=3, more=()):
    """Payload bytes per second of one TCP connection, the first half second left out."""
    server = stage.start(["iperf3", "--server", "--one-off", "--bind", server_ip, "--port", "5299",
                          "--forceflush"], ns=ns_server)
    server.wait_line("listening", 10)
    bind = ["--bind", client_ip] if client_ip else []
    result = stage.run(["iperf3", "--client", server_ip, *bind, "--port", "5299", "--congestion",
                        "cubic", "--time", seconds, "--omit", "1", "--json", *more],
                       ns=ns_client, timeout_s=seconds + 30)
    server.wait_exit(10)
    return json.loads(result.stdout)["end"]["sum_received"]["bits_per_second"] / 8


def bench_point(stage, *arguments, ns=None, timeout_s=300):
    """One point of `spindrift bench --json`, whatever its exit status."""
    result = stage.run([stage.spindrift, "bench", "--json", *arguments], ns=ns, status=None,
                       timeout_s=timeout_s)
    lines = result.stdout.splitlines()
    harness.expect(len(lines) == 1, f"bench {arguments}: {result.stdout}\n{result.stderr}")
    return json.loads(lines[0])


def median(values):
    return statistics.median(values)


def mbit(bps):
    return f"{bps * 8 / 1e6:.0f} Mbit/s"


def build_if_needed():
    """Brings build/release up to date, unless SPINDRIFT_BIN names another build."""
    if "SPINDRIFT_BIN" in os.environ:
        return
    script = f"source {ROOT}/tools/build.sh && build_preset release spindrift raw_stream"
    built = subprocess.run(["bash", "-euo", "pipefail", "-c", script], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    harness.expect(built.returncode == 0, f"the build failed:\n{built.stdout[-4000:]}")


def run(measure, options):
    """Runs `measure(stage, options)`, which returns the figures, and ends the program."""
    try:
        build_if_needed()
        with harness.Stage() as stage:
            figures = measure(stage, options)
    except harness.Skipped as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        sys.exit(harness.SKIPPED_STATUS)
    except harness.Failure as failure:
        print(f"failed: {failure}", file=sys.stderr)
        sys.exit(1)
    if options.json:
        print(json.dumps(figures))
    sys.exit(1 if figures["verify_failures"] or figures["failed_intents"] else 0)
