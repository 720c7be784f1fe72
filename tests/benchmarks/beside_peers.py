#!/usr/bin/env python3
"""Tally's judging beside the check that it replaces, PyTorch's float32 against float64: one table, measured in turn.

usage: tests/benchmarks/beside_peers.py [--rounds N] [--python PYTHON] [--build FOLDER] [--out FOLDER] [--filter REGEX]

Builds wide_benchmarks, runs it and check_in_torch.py by turns on one thread each, and prints the medians of processor
time. With --out the table, machine and flags are kept as OUT/beside_peers.md. Exits 0 when every figure is met, 1 when
one is missed, 3 when something breaks, 77 without PyTorch.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

import peer_table

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MET, MISSED, BROKEN, NOT_RUN = 0, 1, 3, 77


def processor():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return model[1] if model else "unknown"


def tally_seconds(benchmark, chosen):
    """Processor seconds by (lens, width, rows)."""
    words = [benchmark, "--benchmark_format=json", f"--benchmark_filter={chosen}"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=1800)
    seconds = {}
    for each in json.loads(done.stdout)["benchmarks"]:
        lens, width, rows = re.fullmatch(r"(\w+)/width:(\d+)/rows:(\d+)", each["name"]).groups()
        seconds[lens, int(width), int(rows)] = each["cpu_time"] / 1e3
    return seconds


def torch_seconds(python, width, rows):
    words = [python, HERE / "check_in_torch.py", str(width), str(rows)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    if done.returncode == NOT_RUN:
        print(done.stdout.strip())
        sys.exit(NOT_RUN)
    done.check_returncode()
    return json.loads(done.stdout)


def measured(options):
    """Seconds of every round by (lens, width, rows), and PyTorch's version."""
    benchmark = options.build / "tests" / "wide_benchmarks"
    build = ["cmake", "--build", options.build, "--target", "wide_benchmarks"]
    subprocess.run(build, stdout=sys.stderr, check=True)
    tally, torch, version = {}, {}, ""
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        for place, seconds in tally_seconds(benchmark, options.filter).items():
            tally.setdefault(place, []).append(seconds)
            own = torch_seconds(options.python, *place[1:])
            torch.setdefault(place, []).append(own["seconds"])
            version = own["torch"]
    return tally, torch, version


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "default")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--filter", default=".")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    tally, torch, version = measured(options)
    rows = [peer_table.row(*place, torch[place], tally[place]) for place in sorted(tally)]
    text = (f"# Judging beside PyTorch's check\n\nMedians of processor time, {options.rounds} rounds by turns, one thread "
            f"each.\n{processor()}, load {load:.1f} when it began on {os.cpu_count()} cores; PyTorch {version}; Tally as "
            "the preset builds it.\n\n" + peer_table.table(rows))
    print(text, end="")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "beside_peers.md").write_text(text, encoding="utf-8")
    return MISSED if any(each[-1] == "no" for each in rows) else MET


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(BROKEN)
