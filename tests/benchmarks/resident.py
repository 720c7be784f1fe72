#!/usr/bin/env python3
"""Memory over time while a capture is judged, as a plot.

usage: tests/benchmarks/resident.py FOLDER [--lens local] [--tally PROGRAM] [--out FOLDER]

FOLDER as large_capture.py leaves it. Reads the resident size ten times a second and prints the largest, the time and
the exit code; with --out keeps resident.md and resident.svg. Needs Matplotlib for the plot, else it exits 77.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_RUN = 77


def resident_bytes(pid):
    """All pages, and those of files."""
    fields = pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    page = os.sysconf("SC_PAGESIZE")
    return int(fields[1]) * page, int(fields[2]) * page


def watch(words):
    """(seconds, all, of files) while the command runs, its usage, its exit code and its last line."""
    samples, began = [], time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as check:
        while True:
            pid, status, usage = os.wait4(check.pid, os.WNOHANG)
            if pid:
                break
            try:
                samples.append((time.monotonic() - began, *resident_bytes(check.pid)))
            except (OSError, IndexError):
                pass
            time.sleep(0.1)
        check.returncode = os.waitstatus_to_exitcode(status)
        last = (check.stdout.read().strip().splitlines() or [""])[-1]
    return samples, usage, check.returncode, last


def draw(samples, file):
    from matplotlib import pyplot
    pyplot.rcParams["svg.hashsalt"] = "tally"
    figure, panel = pyplot.subplots(figsize=(9, 4))
    seconds = [each[0] for each in samples]
    panel.plot(seconds, [each[1] / 1e6 for each in samples], label="resident")
    panel.plot(seconds, [each[2] / 1e6 for each in samples], label="of that, pages of the capture")
    panel.set_xlabel("seconds")
    panel.set_ylabel("MB")
    panel.set_ylim(bottom=0)
    panel.grid(True, alpha=0.3)
    panel.legend()
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--lens", default="local", choices=["local", "all"])
    parser.add_argument("--tally", type=pathlib.Path, default=ROOT / "build" / "default" / "reports" / "tally")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    if options.out:
        try:
            import matplotlib
            matplotlib.use("Agg")
        except ImportError as error:
            print(f"not run: {error}")
            return NOT_RUN
    trace = options.folder / "trace.safetensors"
    samples, usage, code, last = watch([options.tally, "check", options.folder / "case.json", trace,
                                        "--lens", options.lens])
    text = (f"`tally check --lens {options.lens}` of a trace of {trace.stat().st_size / 1e9:.2f} GB: {last}, exit code "
            f"{code}; largest resident size {usage.ru_maxrss * 1024 / 1e6:.0f} MB; processor time "
            f"{usage.ru_utime:.1f} s of its own and {usage.ru_stime:.1f} s of the system.\n")
    print(text, end="")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "resident.md").write_text("# Memory over time\n\n" + text, encoding="utf-8")
        draw(samples, options.out / "resident.svg")
    return code


if __name__ == "__main__":
    sys.exit(main())
