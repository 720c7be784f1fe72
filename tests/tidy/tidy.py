"""Runs clang-tidy 16 with the repository's .clang-tidy: tidy.py headers|everything|samples [--include FOLDER]…

`headers` checks every header, `everything` also every source that compiles without a CUDA toolkit; other arguments
are files to check. `samples` must find exactly the checks that each file of samples/ names in its first line.
Exit status 0 without a finding, 1 with one; without a clang-tidy 16 here 77, and 3 for `everything`, which nobody asks
for by chance.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import units

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SAMPLES = "tests/tidy/samples/"
FINDING = re.compile(r"^(\S+?):(\d+):\d+: (?:warning|error): (.*) \[([\w.,-]+?)(?:,-warnings-as-errors)?\]$", re.MULTILINE)
# Sources that only nvcc's toolkit or a fuzzer's compiler can read, or that want a definition of what is odd.
ELSEWHERE = ("kernels/device/cuda/", "tests/fuzz/", "tests/style/samples/", "tests/additions/samples/", "tests/kernels/ptx/", SAMPLES,
             "tests/subjects/step/odd_entries.cpp")
TOLD_BY_THE_BUILD = ("TALLY_SOURCE_DIR", "TALLY_DIGITS_FILE", "TALLY_CUDA_TOOLKIT",
                     "TALLY_VERSION", "TALLY_COMPILER", "TALLY_FLAGS", "TALLY_ARB_LIBRARY", "TALLY_EXAMPLE_STEP")
BROKEN = "clang-diagnostic-error"


def tools():
    found = [shutil.which(name) for name in ("clang-tidy-16", "clang++-16")]
    return found if all(found) else None


class Tidy:
    def __init__(self, folder, include_folders):
        self.tidy, self.compiler = tools()
        self.folder = folder
        self.flags = ["-std=c++20", "-x", "c++", "-I", ".", *(f'-D{name}=""' for name in TOLD_BY_THE_BUILD),
                      *(option for include in include_folders for option in ("-isystem", include))]

    def compiles(self, unit):
        command = [self.compiler, *self.flags, "-w", "-fsyntax-only", unit]
        return subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0

    def check(self, sources):
        """(place, check, message) of every finding; a unit that cannot be read is a finding."""
        folder = tempfile.mkdtemp(dir=self.folder)
        headers = sources[0].endswith(".hpp")
        unit = units.write(sources, folder, read) if not headers else units.include(sources, folder)
        if len(sources) > 1 and not headers and not self.compiles(unit):
            print(f"cut in two: {len(sources)} files from {sources[0]} to {sources[-1]}", file=sys.stderr)
            middle = len(sources) // 2
            return self.check(sources[:middle]) | self.check(sources[middle:])
        command = [self.tidy, "--quiet", f"--config-file={ROOT}/.clang-tidy", unit, "--", *self.flags]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        found = {(f"{os.path.relpath(os.path.join(ROOT, place.removeprefix(folder + '/')), ROOT)}:{line}", check,
                  units.NUMBERED.sub("", message))
                 for place, line, message, check in FINDING.findall(ran.stdout)}
        if ran.returncode != 0 and not found:
            found = {(sources[0], BROKEN, (ran.stdout + ran.stderr).strip()[-300:])}
        return found


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def listed(*endings):
    command = ["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"]
    paths = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(path for path in paths if path.endswith(endings) and not path.startswith(ELSEWHERE))


def report(tidy, parts, jobs):
    count = sum(map(len, parts))
    found = set()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for findings in pool.map(tidy.check, parts):
            found |= findings
    for place, check, message in sorted(found):
        print(f"{place}: {message} [{check}]")
    print(f"{len(found)} findings in {count} files, read as at least {len(parts)} units")
    return 1 if found or not count else 0


def samples(tidy):
    wrong = 0
    paths = sorted(str(path.relative_to(ROOT)) for path in (HERE / "samples").glob("*.cpp"))
    for path in paths:
        first = read(path).splitlines()[0]
        expected = set(first.removeprefix("// ").split()) - {"none"}
        found = {check for _, check, _ in tidy.check([path])}
        if found != expected:
            wrong += 1
            print(f"{path}: expected {sorted(expected)}, found {sorted(found)}")
    print(f"{len(paths) - wrong} of {len(paths)} samples judged right")
    return 1 if wrong or not paths else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="+")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if not tools():
        print("not run: no clang-tidy-16 and clang++-16 here")
        return 3 if options.what == ["everything"] else 77
    with tempfile.TemporaryDirectory() as folder:
        tidy = Tidy(folder, options.include)
        if options.what == ["samples"]:
            return samples(tidy)
        parts = {"headers": lambda: units.header_units(listed(".hpp")),
                 "everything": lambda: units.header_units(listed(".hpp")) + units.units(
                     listed(".cpp", ".cu"), read)}
        return report(tidy, parts.get(options.what[0], lambda: [options.what])(), options.jobs)


if __name__ == "__main__":
    sys.exit(main())
