"""Does the gate name the kernels that changed, and none else? Plants every change of changes.json in the kernels, one
at a time, runs the same campaign with each, and holds it against the program without.

measure.py --build BUILD [--change WORDS]... [--law GLOB] [--effort E] [--known JSON]
  [--out FOLDER]

Exit status 0 when every change is named exactly, 1 when not, 2 when nothing can be said.
"""
import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mutation"))

import evidence  # noqa: E402
import planted  # noqa: E402
import program  # noqa: E402

CAMPAIGN = ["--subject", "host", "--unsteered", "--no-training", "--no-shrink", "--keep-going"]
CAMPAIGN_SECONDS = 1800


class Gate:
    """A baseline of the unchanged program, and what the gate and `compare` say of another one's results."""

    def __init__(self, tally, folder, campaign):
        self.tally, self.folder, self.words = tally, folder, campaign
        os.makedirs(folder)
        self.before = self.campaign(tally, f"{folder}/before")
        self.baseline = f"{folder}/baseline.json"
        words = ["bless", self.before, "--baseline", self.baseline, "--reason", "the kernels as they ship", "--allow-ci"]
        self.said(self.tally, words, {0})

    def said(self, tally, words, codes):
        code, output = program.run_limited([tally, *words], self.folder, CAMPAIGN_SECONDS)
        if code not in codes:
            raise RuntimeError(f"tally {' '.join(words)} ended with {code}: {output[-2000:]}")
        return output

    def campaign(self, tally, out):
        shutil.rmtree(out, ignore_errors=True)
        self.said(tally, ["verify", *self.words, "--out", out], {0, 1})
        return f"{out}/results.json"

    def of(self, tally):
        """What the gate says of that program, shortly and with all of it, and the names that `compare` gives."""
        now = self.campaign(tally, f"{self.folder}/now")
        words = ["gate", now, "--baseline", self.baseline]
        compared = self.said(self.tally, ["compare", self.before, now, "--all"], {0, 1})
        return (self.said(self.tally, words, {0, 1, 5}), self.said(self.tally, [*words, "--all"], {0, 1, 5}), compared)


def measured(built, gate, change, folder):
    tally = planted.built_with(built, change, folder)  # no race checker: this campaign does not run it
    if tally is None:
        raise RuntimeError(f"'{change['name']}' does not compile")
    shown, everything, compared = gate.of(tally)
    named, expected = evidence.kernels_named(everything), sorted(change["kernels"])
    return {**change, "named": named, "lines": len(shown.splitlines()), "said": shown.replace(gate.folder + "/", ""),
            "right": named == expected and evidence.kernels_named(compared) == expected}


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/default", help="a finished Ninja build of the program tally")
    parser.add_argument("--change", action="append", help="only changes whose name holds these words")
    parser.add_argument("--law", default="*", help="laws of the campaign, as a shell pattern, where a change names none")
    parser.add_argument("--effort", default="1")
    parser.add_argument("--known", help="changes.json of an earlier run: what --change does not name is kept")
    parser.add_argument("--out", default="build/kernel_changes")
    return parser.parse_args()


def campaign_of(law, options):
    return [*CAMPAIGN, "--law", law, "--effort", options.effort]


def main():
    options = parsed()
    changes = [change for change in planted.changes()
               if not options.change or any(words in change["name"] for words in options.change)]
    if not changes:
        raise RuntimeError("no change has that name")
    built = program.Program(options.build)
    program.be_modest()
    gates, rows = {}, []
    with tempfile.TemporaryDirectory(prefix="kernel-changes-") as folder:
        for change in changes:
            law = change.get("law", options.law)
            if law not in gates:
                gates[law] = Gate(f"{built.build}/reports/tally", f"{folder}/{len(gates)}", campaign_of(law, options))
            rows.append(measured(built, gates[law], change, f"{folder}/program"))
            row = rows[-1]
            print(f"[{len(rows)}/{len(changes)}] {'right' if row['right'] else 'WRONG'} {row['name']}: named "
                  f"{', '.join(row['named']) or 'none'} in {row['lines']} lines: {row['said'].splitlines()[-1]}", flush=True)
    if options.known:
        rows = evidence.together(rows, options.known, [change["name"] for change in planted.changes()])
    evidence.write(rows, campaign_of(options.law, options), options.out)
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, ValueError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
