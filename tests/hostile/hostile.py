"""Hostile inputs over everything that Tally reads: each is refused with one line, or judged where it is valid after all.

hostile.py TALLY ROOT [--count N] [--seed S] [--only NUMBER]. Each runs with 2 GB of address space and 10 s of the
processor; a signal, another exit code, a second line (but a few indented ones, of what else is wrong), a control
character on the terminal, or a file that a refused command leaves are failures, which exit with 1 and name the input's
number: --only NUMBER --keep FOLDER leaves its files.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

from inputs import Inputs

MEMORY_KIB, SECONDS, PATIENCE = 2 * 1024 * 1024, 10, 120
REFUSED, VERDICTS = 2, {0, 1, 4, 5}
MOST_FURTHER = 20  # indented lines behind the first: what else is wrong with a trace
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
DUMPED = ["adam_fp16_dynamic_scale", "resumed_sgd", "dropout_bf16_ignored_micro_batch", "two_windows_short_tail"]


class Run:
    """One command in a folder of its own, under limits."""

    def __init__(self, tally, given, folder):
        for name, data in given.files.items():
            (folder / name).write_bytes(data)
        before = set(folder.rglob("*"))
        with open(folder / ".printed", "wb") as printed, open(folder / ".said", "wb") as said:
            process = subprocess.Popen(["bash", "-c", f'ulimit -v {MEMORY_KIB}; exec "$0" "$@"', tally, *given.words],
                                       cwd=folder, stdin=subprocess.DEVNULL, stdout=printed, stderr=said,
                                       env={**os.environ, "LC_ALL": "C"})
            watch = threading.Timer(PATIENCE, process.kill)
            watch.start()
            _, status, used = os.wait4(process.pid, 0)
            watch.cancel()
        process.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.seconds, self.mebibytes = used.ru_utime + used.ru_stime, used.ru_maxrss // 1024
        self.printed, self.said = ((folder / name).read_bytes().decode(errors="replace") for name in (".printed", ".said"))
        self.left = [p for p in set(folder.rglob("*")) - before if p.is_file() and not p.name.startswith(".")]

    def problems(self):
        if self.code < 0:
            yield f"signal {-self.code}"
        elif self.code != REFUSED and self.code not in VERDICTS:
            yield f"exit code {self.code}"
        if self.seconds > SECONDS:
            yield f"{self.seconds:.0f} s"
        if CONTROL.search(self.printed + self.said):
            yield "a control character on the terminal"
        if self.code == REFUSED:
            lines = [line for line in self.said.splitlines() if not line.startswith("Run with --help")]
            further = [line for line in lines[1:] if line.startswith("  ")]
            if len(lines) - len(further) != 1 or len(further) > MOST_FURTHER:
                yield f"{len(lines)} lines of error"
            if self.left:
                yield f"left {', '.join(p.name for p in self.left)}"


def dumped(tally, root, folder):
    """Cases with the traces of their runs."""
    for name in DUMPED:
        case = root / "tests/oracle/case/valid" / f"{name}.json"
        subprocess.run([tally, "replay", case, "--subject", "host", "--dump", folder / name], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
    return folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tally", type=os.path.abspath)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=330)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        there = pathlib.Path(temporary)
        (there / "dumped").mkdir()
        inputs = Inputs(options.root.resolve(), dumped(options.tally, options.root.resolve(), there / "dumped"), options.seed)

        def one(number):
            given = inputs.drawn(number)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                return number, given, Run(options.tally, given, options.keep.resolve())
            with tempfile.TemporaryDirectory(dir=there) as folder:
                return number, given, Run(options.tally, given, pathlib.Path(folder))

        numbers = range(options.count) if options.only is None else [options.only]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            done = list(pool.map(one, numbers))
    codes, wrong = collections.defaultdict(collections.Counter), 0
    for number, given, run in done:
        codes[given.kind][run.code] += 1
        problems = list(run.problems())
        wrong += bool(problems)
        if problems or options.only is not None:
            print(f"{number} {given.kind} {' '.join(given.words)[:120]!a}: {'; '.join(problems) or 'fine'}: {run.said[:300]!a}")
    for kind, counted in sorted(codes.items()):
        print(f"{kind:10}", ", ".join(f"{count} exit {code}" for code, count in sorted(counted.items())))
    print(f"{len(done)} inputs, {wrong} wrong, slowest {max(r.seconds for _, _, r in done):.1f} s, "
          f"largest {max(r.mebibytes for _, _, r in done)} MiB")
    refused = sum(run.code == REFUSED for _, _, run in done)
    if options.only is None and not refused * 2 > len(done):
        print(f"{refused} of {len(done)} refused: most of these inputs are no hostile ones")
        wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
