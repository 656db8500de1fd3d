#!/usr/bin/env python3
"""Every size, shape and direction arrives byte for byte, and the figures are consistent."""

import json

import harness
from harness import expect

ODD_SIZES = "0B,1B,3B,511B,512B,513B,4095B,4097B,1048577B"


def points(stage, *arguments, timeout_s=100):
    result = stage.run([stage.spindrift, "bench", "--loopback", "--json", *arguments],
                       timeout_s=timeout_s)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    for point in found:
        expect_consistent(point)
    return found


def expect_consistent(point):
    inputs = point["inputs"]
    expect(point["schema"] == "spindrift/bench/1", f"{point}")
    expect(point["failed_intents"] == 0 and point["verify_failures"] == 0, f"{point}")
    expect(point["bytes"] == point["intents"] * point["size"], f"{point}")
    expect(sum(rail["bytes"] for rail in point["rails"]) == point["bytes"], f"{point}")
    if inputs["verify"]:
        expect(point["verified_bytes"] == point["bytes"], f"{point}")
    if inputs["count"]:
        expect(point["intents"] == inputs["count"], f"{point}")
    latency = point["latency_ns"]
    order = [latency[key] for key in ("min", "p50", "p90", "p99", "p999", "max")]
    expect(order == sorted(order) and order[0] > 0, f"{latency}")
    rate = point["bytes"] * 1e9 / point["timed_ns"]
    expect(abs(rate - point["goodput_bytes_per_s"]) <= rate / 1000 + 1, f"{point}")
    # Intents of a thread cannot have been quicker together than one after another.
    in_flight = inputs["depth"] * inputs["threads"]
    expect(latency["mean"] * point["intents"] <= point["timed_ns"] * in_flight * 1.01 + 1e6,
           f"{point}")


def odd_sizes_both_ways(stage):
    for shape in ([], ["--unaligned"], ["--descriptors", "7", "--scatter", "--unaligned"]):
        found = points(stage, "--op", "both", "--sizes", ODD_SIZES, "--count", "24", "--warmup", "0",
                       "--verify", "--depth", "3", "--memory", "32MiB", *shape)
        expect(len(found) == 2 * len(ODD_SIZES.split(",")), f"{len(found)} points")


def many_small_pieces(stage):
    found = points(stage, "--op", "both", "--size", "256MiB", "--descriptors", "65536", "--scatter",
                   "--count", "2", "--warmup", "0", "--verify")
    for point in found:
        expect(point["inputs"]["descriptors"] == 65536, f"{point}")
        expect(point["submit_ns_per_descriptor"] > 0, f"{point}")


def several_rails_and_threads(stage):
    found = points(stage, "--op", "both", "--size", "1MiB", "--rails", "4", "--threads", "2",
                   "--depth", "3", "--duration", "1s", "--warmup", "100ms", "--verify",
                   "--memory", "64MiB", "--checksum")
    for point in found:
        expect(len(point["rails"]) == 4, f"{point['rails']}")
        expect(point["rounds"] > 0 and point["timed_ns"] > 0, f"{point}")


def sprays_can_be_chosen(stage):
    single, even = (points(stage, "--size", "8MiB", "--rails", "4", "--count", "8", "--warmup", "0",
                           "--spray", spray, "--verify")[0] for spray in ("single", "round_robin"))
    used = [rail["bytes"] for rail in single["rails"] if rail["bytes"]]
    expect(len(used) == 1, f"{single['rails']}")
    shares = [rail["bytes"] for rail in even["rails"]]
    expect(len(shares) == 4 and max(shares) == min(shares), f"{shares}")


def a_seed_repeats_the_inputs(stage):
    first = points(stage, "--size", "64KiB", "--count", "5", "--warmup", "0", "--verify",
                   "--seed", "77")[0]
    again = points(stage, "--size", "64KiB", "--count", "5", "--warmup", "0", "--verify",
                   "--seed", "77")[0]
    expect(first["inputs"] == again["inputs"], f"{first['inputs']}\n{again['inputs']}")


def the_table_is_for_people(stage):
    result = stage.run([stage.spindrift, "bench", "--loopback", "--sizes", "64KiB:256KiB",
                        "--count", "10", "--rails", "2", "--verify"])
    rows = [line for line in result.stdout.splitlines() if line.startswith("write")]
    expect(len(rows) == 3 and all(row.endswith(" ok") for row in rows), result.stdout)
    expect("tcp:lo/127.0.0.2>lo/127.0.0.2" in result.stdout, result.stdout)
    expect("\033" not in result.stdout + result.stderr, "terminal codes in a pipe")


def too_little_memory_is_said(stage):
    result = stage.run([stage.spindrift, "bench", "--loopback", "--size", "8MiB", "--depth", "4",
                        "--memory", "16MiB"], status=1)
    expect("8 MiB" in result.stderr and "16 MiB" in result.stderr, result.stderr)


if __name__ == "__main__":
    harness.main([odd_sizes_both_ways, many_small_pieces, several_rails_and_threads,
                  sprays_can_be_chosen, a_seed_repeats_the_inputs, the_table_is_for_people,
                  too_little_memory_is_said])
