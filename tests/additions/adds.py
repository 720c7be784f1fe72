"""Adds each thing of oracle/architecture.md to the program, in a temporary folder, and runs it.

usage: adds.py BUILD. A folder of samples/ holds the files that the page's row of its name asks for, at the paths where
they would stand. Each is compiled as its neighbours in BUILD are, together with all of them as well as alone, and linked
with everything that BUILD's program is made of: no other file is touched, so what runs needs no list edited. CMake finds
new files by itself (a glob)."""
import collections
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "oracle" / "architecture.md"


def included(unit):
    return re.findall(r'#include "(.*)"', unit.read_text())


def one_unit(folder, there, added):
    """The unit that tally_units makes of these sources, were they all small: what it puts together depends on sizes."""
    sources = {path: ROOT / path for path in there} | {str(path): root / path for root, path in added}
    for path, real in sources.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).symlink_to(real)
    script = folder / "unit.cmake"
    script.write_text(f"set(PROJECT_SOURCE_DIR {folder})\ninclude({ROOT}/kernels/units.cmake)\n"
                      f"tally_units(made 100000000 {' '.join(str(folder / path) for path in sources)})\n")
    subprocess.run(["cmake", "-DTALLY_UNITS=ON", "-P", script], cwd=folder, check=True)
    unit, = (path for path in (folder / "units").rglob("1.c*"))
    assert set(included(unit)) == set(sources), unit.read_text()
    return unit


class Program:
    """BUILD's program, as ninja makes it."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        told = subprocess.run(["ninja", "-C", self.build, "-t", "commands", "reports/tally-lab"], check=True,
                              capture_output=True, text=True).stdout.splitlines()
        self.compiling = [shlex.split(line) for line in told if " -c " in line]
        self.linking = told[-1]

    def has_units(self):
        return "TALLY_UNITS:BOOL=ON" in (self.build / "CMakeCache.txt").read_text().splitlines()

    def neighbour(self, place, name):
        """The first source that is compiled for the host where `name` would be in `place`: its unit, and the words."""
        kind = re.search(r"_(bound|exact|predicted)\.cpp$", name)
        folders = [place, f"{place}/{kind[1]}"] if kind else [place]
        for words in self.compiling:
            at = pathlib.Path(words[-1])
            host = "-DTALLY_CHECKED" not in words and not any(word.endswith("nvcc") for word in words)
            if host and at.suffix == pathlib.Path(name).suffix and str(at.parent).endswith(f"/{folders[-1]}"):
                return at, words[: words.index("-MD")]
        raise AssertionError(f"{folders[-1]}: nothing there is compiled for the host as {name}")

    def compile(self, source, root, out):
        _, words = self.neighbour(source.relative_to(root).parent, source.name)
        words = words + [f"-I{root}", "-o", str(out), "-c", str(source)]
        subprocess.run(words, cwd=self.build, check=True)

    def check_units(self, folder):
        """Each sample with everything that it may be compiled together with, as kernels/units.cmake would put it."""
        groups, failed = collections.defaultdict(list), 0
        for root in sorted((HERE / "samples").iterdir()):
            for source in sorted(root.rglob("*.c*")):
                unit, words = self.neighbour(source.relative_to(root).parent, source.name)
                groups[unit.parent, unit.suffix, tuple(words)].append((root, source.relative_to(root)))
        for i, ((units, suffix, words), added) in enumerate(groups.items()):
            unit = one_unit(folder / str(i), [path for at in units.glob(f"*{suffix}") for path in included(at)], added)
            words = [*words, *(f"-I{root}" for root, _ in added), "-fsyntax-only", str(unit)]
            compiled = subprocess.run(words, cwd=self.build).returncode == 0
            print(f"{added[0][1].parent}, with {', '.join(path.name for _, path in added)}: "
                  f"{'compiled together' if compiled else 'does not compile together'}", flush=True)
            failed += not compiled
        assert not failed, f"{failed} of {len(groups)} units do not compile with what is added"

    def link(self, objects, out):
        line = self.linking.replace(" -o reports/tally-lab ", f" {shlex.join(map(str, objects))} -o {shlex.quote(str(out))} ")
        assert str(out) in line, line
        subprocess.run(["bash", "-c", line], cwd=self.build, check=True)

    def with_sample(self, name, folder):
        root = HERE / "samples" / name
        objects = []
        for i, source in enumerate(sorted(root.rglob("*.c*"))):
            objects.append(folder / f"{i}.o")
            self.compile(source, root, objects[-1])
        self.link(objects, folder / "tally")
        return folder / "tally"


def case_with(layer="relu", optimizer="sgd", kernels=None):
    third = [[0.5, -0.25, 1], [-1, 0.75, 0.125], [2, -0.5, -0.75], [0.25, 1.5, -2]]
    tensors = {
        "x": {"dtype": "fp32", "shape": [4, 3], "data": sum(third, [])},
        "target": {"dtype": "i64", "shape": [4], "data": [0, 1, 1, 0]},
        "fc1.weight": {"dtype": "fp32", "shape": [4, 3], "data": sum(third, [])},
        "fc1.bias": {"dtype": "fp32", "shape": [4], "data": [0.5, 0, -0.5, 0.25]},
        "fc2.weight": {"dtype": "fp32", "shape": [2, 4], "data": [1, -1, 0.5, 0.25, -0.75, 0.5, 1, 2]},
        "fc2.bias": {"dtype": "fp32", "shape": [2], "data": [0, 0.125]},
    }
    layers = [{"kind": "linear", "name": "fc1", "out": 4}, {"kind": layer}, {"kind": "linear", "name": "fc2", "out": 2}]
    recipe = {"optimizer": {"kind": optimizer}, "learning_rate": {"kind": "constant", "base": 0.1},
              "weight_decay": {"kind": "none"}, "clip": {"kind": "none"}, "loss_scale": {"kind": "none"}}
    return {"tally_case": 1, "name": "a sample",
            "model": {"input": 3, "layers": layers, "loss": {"kind": "cross_entropy"}},
            "windows": [[1, 3]], "normalisation": "window_items", "recipe": recipe, "tensors": tensors,
            "precision": {"storage": "fp32", "compute": "fp32", "accumulate": "fp32", "master": "fp32", "tf32": False},
            "execution": {"recompute": False, **({"kernels": kernels} if kernels else {})}}


def replayed(case):
    """The words that replay a case, written where they run."""
    return lambda folder: ((folder / "case.json").write_text(json.dumps(case)),
                           ["replay", folder / "case.json", "--subject", "host"])[1]


def always(*words):
    return lambda folder: [*words, *(["--out", folder / "out"] if words[0] == "verify" else [])]


RUNS = {  # sample: what is run, what it says with the sample
    "activation": (replayed(case_with(layer="softsign")), "pass"),
    "optimizer": (replayed(case_with(optimizer="descent")), "pass"),
    "kernel": (replayed(case_with(kernels={"relu.forward": "by_product"})), "pass"),
    "law": (always("verify", "--subject", "host", "--law", "two_runs_agree", "--precision", "fp32", "--cases", "3",
                   "--no-training", "--processes", "1"), "two_runs_agree"),
    "fault": (always("faults", "decay-forgotten", "--subject", "host", "--processes", "1"), "right first stage: 1 of 1"),
    "bug": (always("explain", "schedule-doubled"), "restatement schedule-doubled: the schedule steps twice a window"),
    "command": (always("greet", "reader"), "hello, reader"),
}


def run(program, words):
    ran = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=300)
    return ran.returncode, ran.stdout + ran.stderr


def main():
    program = Program(sys.argv[1])
    samples = {folder.name for folder in (HERE / "samples").iterdir()}
    linked = set(re.findall(r"\(\.\./tests/additions/samples/([a-z_]+)\)", PAGE.read_text()))
    assert samples == linked == set(RUNS), f"{PAGE}: found rows for {linked}; expected {samples}, run: {set(RUNS)}"
    if program.has_units():
        with tempfile.TemporaryDirectory() as made:
            program.check_units(pathlib.Path(made))
    for name, (words, said) in RUNS.items():
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            code, text = run(program.build / "reports" / "tally", words(folder))
            assert code not in (0, 1), f"{name}: known without its files: {text}"
            code, text = run(program.with_sample(name, folder), words(folder))
            assert code == 0 and said in text, f"{name}: exit code {code}; expected {said!r} in:\n{text}"
            print(f"{name}: added and run", flush=True)


main()
