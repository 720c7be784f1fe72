#!/usr/bin/env python3
"""How time and memory grow with a model: judging a capture beside PyTorch's float32 against float64, as plots.

usage: tests/benchmarks/growth.py [--out FOLDER] [--tally PROGRAM] [--python PYTHON] [--axis NAME]

Four axes: parameters, rows, micro-batches, layers. Of each point a capture is written (large_capture.py) and judged by
`tally check`, with the local lens and with all of them; check_in_torch.py runs beside it. Processor time and largest
resident size of the whole process for Tally, of the check without PyTorch's own start for PyTorch. An exponent is the
slope of a line through the logarithms of the upper half of an axis. Prints the table; with --out keeps growth.md and
growth.svg. Needs NumPy; without PyTorch or Matplotlib it exits 77.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NOT_RUN = 77
USUAL = {"width": 128, "layers": 3, "rows": 64, "micro-batches": 4}
AXES = {
    "parameters": [{"width": width} for width in (64, 128, 256, 512, 1024)],
    "rows": [{"rows": rows} for rows in (64, 128, 256, 512, 1024, 2048)],
    "micro-batches": [{"micro-batches": k} for k in (1, 2, 4, 8, 16, 32)],
    "layers": [{"layers": layers} for layers in (2, 4, 8, 16, 32)],
}
SERIES = {"Tally, local lens": "local", "Tally, all lenses": "all", "PyTorch": None}


def parameters_of(point):
    width, layers = point["width"], point["layers"]
    return (layers - 1) * width * (width + 1) + 10 * (width + 1)


def place_on(axis, point):
    return parameters_of(point) if axis == "parameters" else point[axis]


def judged(tally, folder, lens):
    """Processor seconds and resident bytes of one check."""
    words = [tally, "check", folder / "case.json", folder / "trace.safetensors", "--lens", lens]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as check:
        _, status, used = os.wait4(check.pid, 0)
        check.returncode = os.waitstatus_to_exitcode(status)
    if check.returncode != 0:
        raise subprocess.CalledProcessError(check.returncode, words)
    return used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss


def in_torch(python, point):
    words = [python, HERE / "check_in_torch.py", str(point["width"]), str(point["rows"]),
             "--layers", str(point["layers"]), "--micro-batches", str(point["micro-batches"])]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode == NOT_RUN:
        print(done.stdout.strip())
        sys.exit(NOT_RUN)
    done.check_returncode()
    said = json.loads(done.stdout)
    return said["seconds"], said["bytes"]


def measure(options, point):
    with tempfile.TemporaryDirectory() as folder:
        words = [options.python, HERE / "large_capture.py", folder, "--tally", options.tally]
        for key in ("width", "layers", "micro-batches"):
            words += [f"--{key}", str(point[key])]
        words += ["--rows", str(point["rows"] // point["micro-batches"])]
        subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
        return {name: judged(options.tally, pathlib.Path(folder), lens) if lens else in_torch(options.python, point)
                for name, lens in SERIES.items()}


def exponent(places, values):
    """The slope through the logarithms of the upper half."""
    upper = [(math.log(x), math.log(y)) for x, y in zip(places, values) if y > 0][len(places) // 2:]
    if len(upper) < 2:
        return math.nan
    middle_x, middle_y = (sum(column) / len(upper) for column in zip(*upper))
    return (sum((x - middle_x) * (y - middle_y) for x, y in upper) /
            sum((x - middle_x) ** 2 for x, y in upper))


def table(results):
    lines = ["| axis | from | to | series | time, exponent | memory, exponent | last point, ms | MB |", "|---" * 8 + "|"]
    for axis, points in results.items():
        places = [place for place, _ in points]
        for name in SERIES:
            seconds, sizes = ([measured[name][i] for _, measured in points] for i in (0, 1))
            lines.append(f"| {axis} | {places[0]:,} | {places[-1]:,} | {name} | {exponent(places, seconds):.2f} "
                         f"| {exponent(places, sizes):.2f} | {1e3 * seconds[-1]:.3g} | {sizes[-1] / 1e6:.3g} |")
    return "\n".join(lines) + "\n"


def draw(results, file):
    from matplotlib import pyplot
    pyplot.rcParams["svg.hashsalt"] = "tally"
    figure, axes = pyplot.subplots(2, len(results), figsize=(4 * len(results), 7), squeeze=False)
    for column, (axis, points) in enumerate(results.items()):
        for row, (what, scale) in enumerate((("processor time, ms", 1e3), ("memory, MB", 1e-6))):
            panel = axes[row][column]
            for name, marker in zip(SERIES, "osx"):
                panel.loglog([place for place, _ in points], [measured[name][row] * scale for _, measured in points],
                             marker=marker, label=name)
            panel.set_xlabel(axis)
            panel.set_ylabel(what)
            panel.grid(True, which="major", alpha=0.3)
    axes[0][0].legend()
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--tally", type=pathlib.Path, default=ROOT / "build" / "default" / "reports" / "tally")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--axis", choices=sorted(AXES), action="append")
    options = parser.parse_args()
    try:
        import matplotlib
        matplotlib.use("Agg")
    except ImportError as error:
        print(f"not run: {error}")
        return NOT_RUN
    results = {}
    for axis in options.axis or AXES:
        for changed in AXES[axis]:
            point = {**USUAL, **changed}
            print(f"{axis}: {changed}", file=sys.stderr)
            results.setdefault(axis, []).append((place_on(axis, point), measure(options, point)))
    text = ("# Growth of judging a capture\n\nLinear layers of one width with ReLU between them, cross-entropy, SGD with "
            "momentum, clip by norm; 128 wide, 3 layers, 64 rows in 4 micro-batches where an axis does not say "
            "otherwise. One run of each point.\n\n" + table(results))
    print(text, end="")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "growth.md").write_text(text, encoding="utf-8")
        draw(results, options.out / "growth.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
