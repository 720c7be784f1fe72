#!/usr/bin/env python3
"""What it costs to vary a loop: varied.py TALLY [--rounds N] [--large]

A step of a 100-500-10 perceptron with 8 rows, and with --large a script in the shapes of GPT-2 small with two blocks
(varied_gpt2.py). Each is varied and run plainly, in turn; what is printed are medians by the clock, the ratio, and how
many runs were asked for. Exits 1 where a figure that is demanded is missed. Never run by ctest: a time is no test."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
RECORDER = HERE.parents[1] / "kernels/subjects/pytorch"
sys.path.insert(0, str(RECORDER))

import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import tally_recorder  # noqa: E402

ROWS, WINDOWS = 8, 2
DEMANDED = {"100-500-10": 2, "GPT-2 small, 2 blocks": 60}  # seconds on two cores


def make():
    net = nn.Sequential(nn.Linear(100, 500), nn.ReLU(), nn.Linear(500, 10))
    return {"net": net, "opt": torch.optim.Adam(net.parameters(), lr=1e-3)}


def data(_):
    return {"x": torch.randn(ROWS, 100), "y": torch.randint(0, 10, (ROWS,))}


def step(state, micro_batches):
    state["opt"].zero_grad()
    for batch in micro_batches:
        (F.cross_entropy(state["net"](batch["x"]), batch["y"], reduction="sum") / ROWS).backward()
    state["opt"].step()


def plain_step(_):
    state = make()
    for window in range(WINDOWS):
        step(state, [data(window)])


def varied_step(out):
    tally_recorder.vary(step, make=make, data=data, rows=ROWS, windows=WINDOWS, out=out).raise_if_failed()


def plain_script(_):
    subprocess.run([sys.executable, HERE / "varied_gpt2.py", "--windows", str(WINDOWS)], check=True)


def varied_script(out):
    words = ["--rows", str(ROWS), "--windows", str(WINDOWS), "--out", out, "--set", "--batch-size {rows} --accum {k} --windows 3"]
    subprocess.run([sys.executable, "-B", "-m", "tally_recorder", "vary", *words, HERE / "varied_gpt2.py"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(RECORDER)})


def seconds_of(run, out):
    began = time.perf_counter()
    run(out)
    return time.perf_counter() - began


def row(name, plain, varied, rounds):
    """Of the table; whether its time is met."""
    times, alone = [], []
    with tempfile.TemporaryDirectory() as out:
        for _ in range(rounds):
            alone.append(seconds_of(plain, out))
            times.append(seconds_of(varied, out))
        with open(os.path.join(out, "vary.json"), encoding="utf-8") as file:
            runs = json.load(file)["runs"]
    low = sum(run["precision"] == "float32" for run in runs)
    one, all_of_them = statistics.median(alone), statistics.median(times)
    print(f"| {name} | {one:.3g} | {all_of_them:.3g} | {DEMANDED[name]} | {all_of_them / one:.3g} | {len(runs) - low} + {low} |")
    return all_of_them <= DEMANDED[name]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tally")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    os.environ["TALLY"] = options.tally
    print(f"PyTorch {torch.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| loop | plain, s | varied, s | demanded, s | times | runs in float64 + float32 |\n|---|---|---|---|---|---|")
    met = [row("100-500-10", plain_step, varied_step, options.rounds)]
    if options.large:
        met.append(row("GPT-2 small, 2 blocks", plain_script, varied_script, 1))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
