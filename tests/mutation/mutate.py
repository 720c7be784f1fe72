"""Mutates the shipped kernels and the training step, one place at a time, and asks the laws to notice.

mutate.py --build BUILD [--sample N --seed S] [--file GLOB]... [--operator GLOB]... [--out FOLDER] [--list]
mutate.py --of judging …: what judges instead, and the unit tests, laws and seeded faults have to notice

Exit status 0 when at least 95 of 100 mutants that change anything are killed and every survivor has a verdict in
verdicts.json; 1 when not; 2 when nothing can be said (no mutant, or the unchanged program fails).
"""
import argparse
import fnmatch
import glob
import json
import math
import os
import random
import sys
import tempfile
import time

import judging
import program
import report
import verdicts
from campaign import Campaign, laws_of
from mutant import mutants_of
from trial import COUNTED, Trial

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = ["kernels/**/*.cu", "kernels/reduction/*.hpp", "kernels/window/*", "kernels/training_step/**/*.cpp",
           *(f"kernels/{room}/*.cpp" for room in ("activation", "attention", "elementwise", "embedding", "linear", "losses", "norm"))]
SCOPES = {"kernels": KERNELS, "judging": judging.SCOPE}


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", choices=sorted(SCOPES), default="kernels", help="what is changed")
    parser.add_argument("--build", default="build/default", help="a finished Ninja build of the program tally")
    parser.add_argument("--file", action="append", help="only files that match this pattern")
    parser.add_argument("--operator", action="append", help="only operators that match this pattern")
    parser.add_argument("--sample", type=int, help="until so many were killed or survived, in the order of --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", default="4,24", help="of kernels: cases a law and precision, round by round")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--minutes", type=float, help="start no mutant later than this")
    parser.add_argument("--known", help="results of an earlier run: what it lacks is run and added")
    parser.add_argument("--again", action="store_true", help="with --known: its survivors too, as after a new law")
    parser.add_argument("--out", default="build/mutation")
    parser.add_argument("--list", action="store_true", help="print the mutants, build nothing")
    return parser.parse_args()


def files_of(root, scope):
    found = {os.path.relpath(path, root) for pattern in scope
             for path in glob.glob(f"{root}/{pattern}", recursive=True)}
    probes = "kernels/device/"  # no training step runs them
    return sorted(path for path in found if os.path.isfile(f"{root}/{path}") and not path.startswith(probes))


def all_mutants(root, scope):
    for path in files_of(root, scope):
        with open(f"{root}/{path}", encoding="utf-8") as file:
            yield from mutants_of(path, file.read())


def chosen(mutants, options):
    def fits(name, patterns):
        return not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)

    return [m for m in mutants if fits(m.file, options.file) and fits(m.operator, options.operator)]


def known(options):
    """Rows of an earlier run by id: those that stand, and those to try again."""
    rows = []
    if options.known:
        with open(options.known, encoding="utf-8") as file:
            rows = [row for row in json.load(file)["mutants"] if row["outcome"] != "not_run"]
    again = {row["id"] for row in rows if options.again and row["outcome"] == "survived"}
    return {row["id"]: row for row in rows if row["id"] not in again}, again


def killers_of(options, built, folder):
    """Who has to notice."""
    if options.of == "judging":
        return judging.Judges(built.root, options.seed)
    laws = laws_of(f"{built.build}/reports/tally-lab", folder)
    return Campaign(laws, [int(n) for n in options.cases.split(",")], options.seed)


def tried(mutants, options, built):
    """One row a mutant that was tried, in their order, and who had to notice."""
    rows = {}
    earlier, again = known(options)
    rows.update((m.id, dict(earlier[m.id], line=m.line)) for m in mutants if m.id in earlier)

    def told(mutant, outcome, details, seconds):
        if outcome == "not_run" and options.sample is not None:
            return
        rows[mutant.id] = report.row_of(mutant, outcome, details, seconds)
        if outcome == "not_run":
            return
        print(f"[{len(rows)}] {outcome} {details.get('by', '')} {details.get('law', '')} "
              f"{mutant.file}:{mutant.line} {mutant.operator} {seconds:.1f} s", flush=True)
        if outcome == "survived":
            print(f"  - {mutant.before}\n  + {mutant.after}", flush=True)

    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        trial = Trial(built, killers_of(options, built, folder), folder)
        started = time.monotonic()
        trial.prove()
        print(f"the unchanged program passes in {time.monotonic() - started:.0f} s", flush=True)
        order = list(mutants)
        random.Random(options.seed).shuffle(order)  # a run cut short has seen a fair draw
        order.sort(key=lambda m: m.id not in again)
        deadline = started + 60 * options.minutes if options.minutes else math.inf
        wanted = (options.sample or math.inf) - sum(row["outcome"] in COUNTED for row in rows.values())
        trial.try_all([m for m in order if m.id not in earlier], options.jobs, deadline, wanted, told)
    return [rows[m.id] for m in mutants if m.id in rows], str(trial.campaign)


def main():
    options = parsed()
    judges = {"others": judging.TARGETS.values(), "folders": ("",)} if options.of == "judging" else {}
    built = program.Program(options.build, **judges)
    everything = list(all_mutants(built.root, SCOPES[options.of]))
    out_of_reach = {path for path in {m.file for m in everything} if judges and not judging.reaches(built, path)}
    mutants = [m for m in chosen(everything, options) if m.file not in out_of_reach]
    if options.list:
        for m in mutants:
            print(f"{m.file}:{m.line}: {m.operator}\n  - {m.before}\n  + {m.after}")
        print(f"{len(mutants)} of {len(everything)} mutants")
        return 0
    program.be_modest()
    judged = verdicts.read(f"{HERE}/verdicts.json")
    started = time.monotonic()
    rows, killers = tried(mutants, options, built)
    run = {"of": options.of, "made_of": len(everything), "left_out": sum(m.file in out_of_reach for m in everything),
           "sample": options.sample, "seed": options.seed, "killers": killers, "jobs": options.jobs,
           "seconds": round(time.monotonic() - started)}
    judged = {key: said for key, said in judged.items() if key[0].startswith("kernels/") == (options.of == "kernels")}
    return report.finish(rows, run, judged, {m.key for m in everything}, options.out)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, ValueError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
