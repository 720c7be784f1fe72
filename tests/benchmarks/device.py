#!/usr/bin/env python3
"""The figures of a GPU in one command: the fused passes at a window's end against its own copy and against PyTorch.

usage: tests/benchmarks/device.py [--rounds N] [--parameters N] [--python PYTHON] [--build FOLDER] [--out FOLDER]

Sets up and builds what is missing (./tally), runs Tally's benchmark and PyTorch's steps in turn, prints the table of
medians and, when every figure was measured, writes it to OUT/<gpu>/window_passes.md. Exits 0 when all figures are met,
1 when one is missed, 3 when something breaks, 77 ("not run: ...") without a device or when a figure was not measured.
--executor host runs the logic on the CPU, at a small size: it measures nothing and writes nothing.
"""
import argparse
import ctypes
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import window_table

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MET, MISSED, BROKEN, NOT_RUN = 0, 1, 3, 77


class NotRun(Exception):
    pass


def device_is_there(devices=pathlib.Path("/dev"), library="libcuda.so.1"):
    if any(devices.glob("nvidia*")):
        return True
    try:
        ctypes.CDLL(library)
        return True
    except OSError:
        return False


def build(folder):
    """The benchmark's path, built if needed; what building prints goes to stderr."""
    if not (folder / "build.ninja").exists():
        subprocess.run([ROOT / "tally", "doctor"], stdout=sys.stderr, check=False)
    subprocess.run(["cmake", "--build", folder, "--target", "device_benchmarks"], stdout=sys.stderr, check=True)
    return folder / "tests" / "device_benchmarks"


def output_of(command, timeout=1200):
    """What a command prints; exit 77 is passed on with its reason."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=timeout)
    if done.returncode == NOT_RUN:
        raise NotRun(done.stdout.strip().removeprefix("not run: "))
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit {done.returncode}")
    return done.stdout


def one_round(benchmark, options, sizes):
    executor = ["--executor", options.executor, "--parameters", str(options.parameters)]
    small = ["--launches", "1", "--benchmark_min_time=0.01"] if options.executor == "host" else []
    tally = json.loads(output_of([benchmark, *executor, *small, "--benchmark_format=json"]))
    device = ["--device", "cpu", "--steps", "2", "--repeats", "1"] if options.executor == "host" else []
    try:
        torch = json.loads(output_of([options.python, HERE / "window_in_torch.py", sizes, *device]))
    except NotRun as reason:
        torch = {"reason": str(reason)}
    return tally, torch


def driver():
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"],
                              capture_output=True, text=True, timeout=60)
        return said.stdout.strip() or "unknown"
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"


def facts_of(rounds, driver_version, date):
    context, torch = rounds[0][0]["context"], rounds[0][1]
    return [("device", context["device"]), ("driver", driver_version), ("toolkit", context["toolkit"]),
            ("PyTorch", f"{torch['torch']}, CUDA {torch['cuda']}, unscaling by {torch['unscale']}"
             if "torch" in torch else f"not run: {torch['reason']}"),
            ("date", date), ("fp32 parameters", context["parameters"]), ("tensors", context["tensors"]),
            ("launches a wait", context["launches_an_iteration"]), ("rounds", str(len(rounds)))]


def write_whole(path, text):
    """The file or nothing: it appears under its name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".", delete=False) as part:
        part.write(text)
    os.chmod(part.name, 0o644)
    os.replace(part.name, path)


def report(rounds, driver_version, date, out):
    """Prints the table, writes it when it is whole, and returns the exit code. `out` None: nothing is written."""
    text, outcomes = window_table.table(rounds, facts_of(rounds, driver_version, date))
    print(text)
    if window_table.NOT_RUN in outcomes:
        print("not run: a figure was not measured, so no file was written")
        return NOT_RUN
    if out is not None:
        name = re.sub("[^a-z0-9]+", "_", rounds[0][0]["context"]["device"].lower()).strip("_")
        path = out / name / "window_passes.md"
        write_whole(path, text)
        print(f"written: {path}")
    return MISSED if window_table.NO in outcomes else MET


def run(options):
    host = options.executor == "host"
    if not host and not device_is_there():
        raise NotRun("no CUDA device: neither /dev/nvidia* nor libcuda.so.1 is there")
    benchmark = build(options.build)
    sizes_text = output_of([benchmark, "--print_sizes", "--parameters", str(options.parameters)])
    with tempfile.TemporaryDirectory() as folder:
        sizes = pathlib.Path(folder) / "sizes"
        sizes.write_text(sizes_text)
        rounds = []
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
            rounds.append(one_round(benchmark, options, sizes))
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    if host:
        print("On the host executor: this runs the logic, and measures nothing.\n")
    return report(rounds, "none" if host else driver(), date, None if host else options.out)


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--rounds", type=int, default=5)
    reader.add_argument("--parameters", type=int)
    reader.add_argument("--python", default=sys.executable, help="the interpreter that has PyTorch")
    reader.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "default")
    reader.add_argument("--out", type=pathlib.Path, default=ROOT / "reports" / "evidence")
    reader.add_argument("--executor", choices=("cuda", "host"), default="cuda")
    options = reader.parse_args()
    if options.rounds < 1:
        reader.error("--rounds must be at least 1")
    options.parameters = options.parameters or (100_000_000 if options.executor == "cuda" else 100_000)
    try:
        return run(options)
    except NotRun as reason:
        print(f"not run: {reason}")
        return NOT_RUN
    except (OSError, RuntimeError, ValueError, KeyError, subprocess.SubprocessError) as error:
        print(f"device.py: {type(error).__name__}: {error}", file=sys.stderr)
        return BROKEN


if __name__ == "__main__":
    sys.exit(main())
