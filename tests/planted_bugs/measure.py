"""Which planted bugs does the default campaign notice? Plants each bug of bugs.json by itself and runs the campaign with
several seeds, law by law, until a seed has shown so many failing cases.

measure.py --build BUILD [--bug WORDS]... [--seeds 1,2,3] [--enough 5] [--known JSON] [--out FOLDER]

Exit status 0 when every bug shows with every seed, 1 when one escapes, 2 when nothing can be said.
"""
import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "mutation"), str(HERE.parent / "kernel_changes")]

import campaign  # noqa: E402
import planted  # noqa: E402
import program  # noqa: E402

BUGS = HERE / "bugs.json"
CAMPAIGN = ["--subject", "host", "--no-training", "--no-shrink", "--keep-going", "--processes", "1"]
CAMPAIGN_SECONDS, LAW_SECONDS = 3600, 300  # of the unchanged program; of a law with a bug in it, which may hang
SAID_OF_A_CASE = ("law", "precision", "title", "message")


def run(tally, words, folder, seconds):
    """The failing cases, each as what is said of it. A process that dies or never ends leaves one of which nothing is."""
    out = f"{folder}/out"
    shutil.rmtree(out, ignore_errors=True)
    code, output = program.run_limited([tally, "verify", *CAMPAIGN, *words, "--out", out], folder, seconds)
    if code is not None and code >= 0 and os.path.isfile(f"{out}/results.json"):
        with open(f"{out}/results.json", encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        return [[case[key] for key in SAID_OF_A_CASE] for case in cases if case["status"] in ("fail", "error")]
    if code in (2, 3):
        raise RuntimeError(f"tally verify {' '.join(words)} ended with {code}: {output[-2000:]}")
    return [["", "", "", f"no end within {seconds} s" if code is None else f"ended with {code}"]]


def fails_unchanged(tally, seeds, known, folder):
    """By seed, the cases that fail without any bug: what fails with one alike shows nothing."""
    by_seed = dict(known)
    for seed in seeds:
        if str(seed) not in by_seed:
            by_seed[str(seed)] = run(tally, ["--seed", str(seed)], folder, CAMPAIGN_SECONDS)
        if not all(law for law, *_ in by_seed[str(seed)]):
            raise RuntimeError(f"the unchanged program {by_seed[str(seed)][0][-1]} with seed {seed}: nothing can be said")
        print(f"seed {seed}: {len(by_seed[str(seed)])} cases fail without any bug and are not counted", flush=True)
    return by_seed


def seen_with(tally, laws, seed, unchanged, enough, folder):
    """Law by law until so many failing cases were seen: how many, the laws that had some, and the seconds."""
    started, failing, shown_by = time.monotonic(), 0, []
    for law in laws:
        found = run(tally, ["--law", law, "--seed", str(seed)], folder, LAW_SECONDS)
        here = sum(case not in unchanged for case in found)
        failing += here
        shown_by += [law] if here else []
        if failing >= enough:
            break
    return {"failing": min(failing, enough), "law": shown_by[0] if shown_by else "", "shown_by": shown_by,
            "seconds": round(time.monotonic() - started)}


def in_turn(laws, path, seen):
    """Those that showed the bug with another seed, those that fit its file, then the rest."""
    return list(dict.fromkeys(seen + campaign.ordered(laws, path)))


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/default", help="a finished Ninja build of the program tally")
    parser.add_argument("--bug", action="append", help="only bugs whose name holds these words, in this order")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--enough", type=int, default=5, help="failing cases after which a seed is done")
    parser.add_argument("--known", help="bugs.json of an earlier run: seeds that it has are not measured again")
    parser.add_argument("--out", default="build/planted_bugs")
    return parser.parse_args()


def row_of(bug, done, built, laws, seeds, unchanged, enough, folder):
    """What was seen with every seed; `done` are those of an earlier run."""
    by_seed, missing = dict(done), [seed for seed in seeds if str(seed) not in done]
    if missing:
        tally = planted.built_with(built, bug, f"{folder}/program", checked=True)
        if tally is None:
            raise RuntimeError(f"'{bug['name']}' does not compile")
    for seed in missing:
        seen = [law for found in by_seed.values() for law in found["shown_by"]]
        order = in_turn(laws, bug["file"], seen)
        by_seed[str(seed)] = seen_with(tally, order, seed, unchanged[str(seed)], enough, folder)
    return {**bug, "seeds": by_seed}


def shown(row, seeds, enough):
    """One line of the table: under each seed the failing cases, the first law and the seconds."""
    found = [row["seeds"][str(seed)] for seed in seeds]
    cells = [f"{'>= ' if seed['failing'] >= enough else ''}{seed['failing']} {seed['law'] or 'ESCAPED'} {seed['seconds']} s"
             for seed in found]
    return f"| {row['name']} | {row['kind']} | " + " | ".join(cells) + " |"


def write(rows, unchanged, options):
    os.makedirs(options.out, exist_ok=True)
    path = f"{options.out}/bugs.json"
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        json.dump({"campaign": CAMPAIGN, "enough": options.enough, "unchanged": unchanged, "bugs": rows}, file, indent=1)
        file.write("\n")
    os.replace(f"{path}.part", path)


def table(rows, seeds, enough):
    head = ["| bug | kind | " + " | ".join(f"seed {seed}" for seed in seeds) + " |", "|---|---|" + "---|" * len(seeds)]
    return "\n".join(head + [shown(row, seeds, enough) for row in rows])


def chosen(options):
    bugs = planted.changes(BUGS)
    if not options.bug:
        return bugs
    found = [bug for words in options.bug for bug in bugs if words in bug["name"]]
    return list({bug["name"]: bug for bug in found}.values())


def earlier(known):
    """Of an earlier run: rows of bugs that are as they were, by name, and what fails without any bug, by seed."""
    if not known or not os.path.isfile(known):
        return {}, {}
    with open(known, encoding="utf-8") as file:
        run_before = json.load(file)
    now = {bug["name"]: bug for bug in planted.changes(BUGS)}
    same = [row for row in run_before["bugs"] if now.get(row["name"], {"": None}).items() <= row.items()]
    return {row["name"]: row for row in same}, run_before["unchanged"]


def main():
    options = parsed()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    bugs = chosen(options)
    if not bugs:
        raise RuntimeError("no bug has that name")
    rows, unchanged = earlier(options.known)
    built = program.Program(options.build, "reports/tally")
    program.be_modest()
    with tempfile.TemporaryDirectory(prefix="planted-bugs-") as folder:
        tally = f"{built.build}/reports/tally"
        laws = campaign.laws_of(tally, folder)
        unchanged = fails_unchanged(tally, seeds, unchanged, folder)
        write(list(rows.values()), unchanged, options)
        for bug in bugs:
            done = rows.get(bug["name"], {"seeds": {}})["seeds"]
            rows[bug["name"]] = row_of(bug, done, built, laws, seeds, unchanged, options.enough, folder)
            write(list(rows.values()), unchanged, options)
            print(shown(rows[bug["name"]], seeds, options.enough), flush=True)
    measured = [rows[bug["name"]] for bug in bugs]
    print("\n" + table(measured, seeds, options.enough))
    return 0 if all(row["seeds"][str(seed)]["failing"] for row in measured for seed in seeds) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, ValueError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
