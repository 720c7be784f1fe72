"""Which branches of the shipped kernels does a campaign never take both ways, which loops never often enough?

cover.py --build BUILD [--host] [--out FOLDER] [--report FOLDER] [--known] [--jobs N] [--verify WORDS]

Exit status 0 when every gap carries a reason in reasons.json and no reason is stale; 1 when not; 2 when nothing can be
said; 77 where clang++-16 or llvm-cov-16 is not there.
"""
import argparse
import collections
import functools
import json
import os
import pathlib
import shlex
import sys
import time

import branches
import gap
import loops
import measured
import reasons
import report
from program import Program

HERE = pathlib.Path(__file__).resolve().parent
CAMPAIGN = "--subject host --no-training --no-shrink"
SCOPE = "kernels"
SECONDS = 3600


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/no-cuda", help="a finished Ninja build of the program tally")
    parser.add_argument("--host", action="store_true", help="make a build for the host alone first: --build has CUDA")
    parser.add_argument("--out", default="build/coverage", help="objects, counts and the report")
    parser.add_argument("--report", help="folder of coverage.md, coverage.json and gaps.json; default: --out")
    parser.add_argument("--known", action="store_true", help="judge the counts that an earlier run left in --out")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers and campaign processes at once")
    parser.add_argument("--verify", default=CAMPAIGN, help="words of `tally verify`")
    return parser.parse_args()


def measure(built, sources, words, jobs, out):
    """Builds and runs; out/run.json says what it took, how it ended and which objects count."""
    started = time.monotonic()
    program, objects = measured.build(built, sources, out, jobs)
    ready = time.monotonic()
    status = measured.run(program, shlex.split(words), out, SECONDS)
    took = f"`tally verify {words}`: built in {ready - started:.0f} s, ran in {time.monotonic() - ready:.0f} s."
    kept = json.dumps({"took": took, "status": status, "objects": objects})
    pathlib.Path(out, "run.json").write_text(kept, encoding="utf-8")


def read_run(out):
    return json.loads(pathlib.Path(out, "run.json").read_text(encoding="utf-8"))


def counted_and_gaps(built, sources, out):
    """What `measure` left: (kind, file) of every branch and loop that is part of the program, and all gaps."""
    compiled = {path for name in measured.plain(built) for path in built.included_by(built.sources[name])}
    sources = {path: source for path, source in sources.items() if path in compiled}
    taken = branches.taken(branches.exported(read_run(out)["objects"], out), sources, out)
    known = functools.lru_cache(None)(lambda path: loops.constants_of(sources[path].source.text, shared=True))

    def constants(path):
        included = [known(file) for file in sorted(built.included_by(path) & set(sources))]
        return dict(collections.ChainMap(loops.constants_of(sources[path].source.text), *included))

    gaps = [*gap.of_branches(taken, sources), *gap.of_loops(pathlib.Path(out, "turns"), sources, constants)]
    counted = [("branch", place.file) for place in taken]
    return [*counted, *(("loop", path) for path, source in sources.items() for _ in source.loops)], gaps


def main():
    options = parsed()
    if missing := measured.missing():
        print(f"skipped: {', '.join(missing)} not found; apt-get install clang-16 llvm-16 libclang-rt-16-dev")
        return 77
    out = os.path.abspath(options.out)
    os.makedirs(out, exist_ok=True)
    os.nice(5)
    built = Program(measured.host_build(options.build, out, options.jobs) if options.host else options.build, "reports/tally")
    sources = measured.counted_sources(built.root, SCOPE)
    if options.known:
        for place, _ in measured.laid_out(sources, built.root, out):
            raise RuntimeError(f"{place} is not the source as it stands; expected counts of this tree: run it without --known")
    else:
        measure(built, sources, f"{options.verify} --processes {options.jobs}", options.jobs, out)
    counted, gaps = counted_and_gaps(built, sources, out)
    judged, stale = reasons.judged(gaps, reasons.read(HERE / "reasons.json"))
    run = read_run(out)
    if run["status"] != 0:
        print(f"the campaign failed, so that some of it did not run: see {out}/campaign/report.html")
    return report.finish(counted, judged, stale, run["took"], options.report or out,
                         f"{out}/campaign/results.json") or run["status"]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, ValueError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
