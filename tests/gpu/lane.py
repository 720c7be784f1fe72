#!/usr/bin/env python3
"""Everything that needs a GPU, in one command.

usage: tests/gpu/lane.py [--python PYTHON] [--out FOLDER]

Runs every test labelled gpu, asks the device how it computes, replays captured cases and measures the fused passes; then
writes OUT/<gpu>/lane.md with what each step printed, the driver, the toolkit and the date. PYTHON is the interpreter that
has PyTorch. Exits 0 when every step passed, 1 when one failed or missed its figure, 77 ("not run: ...") without a device
or when a step did not run.
"""
import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
import device  # noqa: E402

PASSED, FAILED, NOT_RUN = device.MET, device.MISSED, device.NOT_RUN
CASES_A_SECOND = 300
LAST_LINES = 60


def step(title, command):
    """A step's title, exit code and what it printed."""
    print(f"{title}: {' '.join(map(str, command))}", file=sys.stderr)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
    except OSError as error:
        return title, device.BROKEN, str(error)
    return title, done.returncode, done.stdout.rstrip()


def captured_cases(benchmark):
    """Every captured case, held against the figure."""
    title, code, printed = step("captured cases", [benchmark, "--benchmark_filter=captured_case/cuda:1",
                                                   "--benchmark_format=json"])
    try:
        runs = json.JSONDecoder().raw_decode(printed[printed.index("{"):])[0]["benchmarks"] if code == PASSED else []
    except ValueError:
        runs = []
    if not runs:
        return title, code or device.BROKEN, printed
    skipped = [run["error_message"] for run in runs if run.get("error_occurred")]
    if skipped:
        return title, NOT_RUN, skipped[0]
    met = all(run["items_per_second"] >= CASES_A_SECOND for run in runs)  # a NaN is not
    rows = [f"{run['name']}: {run['items_per_second']:.0f} cases a second" for run in runs]
    return title, PASSED if met else FAILED, "\n".join(rows + [f"at least {CASES_A_SECOND}: {'met' if met else 'MISSED'}"])


def steps(options):
    build = ROOT / "build" / "default"
    yield step("tests", [ROOT / "tally", "test", "-L", "gpu"])
    yield step("probes", [ROOT / "tally", "doctor", "--probe", "cuda"])
    built = step("benchmark", ["cmake", "--build", build, "--target", "executor_benchmarks"])
    yield captured_cases(build / "tests" / "executor_benchmarks") if built[1] == PASSED else built
    yield step("window passes", [sys.executable, ROOT / "tests" / "benchmarks" / "device.py", "--python", options.python,
                                 "--out", options.out])


def gpu():
    """Its name and driver, as the driver's own tool says; (unknown) where that is missing."""
    words = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"]
    try:
        said = subprocess.run(words, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        said = ""
    return tuple(said.split(", ")) if said.count(", ") == 1 else ("unknown GPU", "unknown")


def verdict(code):
    return {PASSED: "passed", NOT_RUN: "not run"}.get(code, f"FAILED, exit {code}")


def end_of(printed):
    return "\n".join(printed.splitlines()[-LAST_LINES:])


def page(results, name, driver, date):
    rows = "\n".join(f"| {title} | {verdict(code)} |" for title, code, _ in results)
    parts = "\n\n".join(f"## {title}\n```\n{end_of(printed)}\n```" for title, _, printed in results)
    return (f"# What ran on {name}\n\nDriver {driver}, {date}; `tests/gpu/lane.py`.\n\n"
            f"| step | result |\n|---|---|\n{rows}\n\n{parts}\n")


def outcome(results):
    """A failure counts before a step that did not run."""
    codes = [code for _, code, _ in results]
    if any(code not in (PASSED, NOT_RUN) for code in codes):
        return FAILED
    return NOT_RUN if NOT_RUN in codes or not codes else PASSED


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--python", default=sys.executable, help="the interpreter that has PyTorch")
    reader.add_argument("--out", type=pathlib.Path, default=ROOT / "reports" / "evidence")
    options = reader.parse_args()
    if not device.device_is_there():
        print("not run: no CUDA device: neither /dev/nvidia* nor libcuda.so.1 is there")
        return NOT_RUN
    results = list(steps(options))
    name, driver = gpu()
    folder = re.sub("[^a-z0-9]+", "_", name.lower()).strip("_")
    text = page(results, name, driver, datetime.datetime.now(datetime.timezone.utc).date().isoformat())
    device.write_whole(options.out / folder / "lane.md", text)
    print(text)
    return outcome(results)


if __name__ == "__main__":
    sys.exit(main())
