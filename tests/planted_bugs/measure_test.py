"""What is counted of a campaign, on a program that only writes results. Standard library only."""
import json
import os
import pathlib
import tempfile
import unittest

import measure

# Law "a" passes, "b" fails twice and has an error, "c" ends its process, "d" fails with seed 2 alone.
TALLY = """#!/usr/bin/env python3
import json, os, sys
def of(word): return sys.argv[sys.argv.index(word) + 1]
law, seed, out = of("--law"), of("--seed"), of("--out")
if law == "c": os.abort()
statuses = {"a": ["pass", "vacuous"], "b": ["fail", "pass", "fail", "error"], "d": ["fail" if seed == "2" else "pass"]}[law]
os.makedirs(out)
with open(out + "/results.json", "w") as file:
    json.dump({"cases": [dict(law=law, precision="fp32", title=str(i), message="", status=status)
                         for i, status in enumerate(statuses)]}, file)
"""


class Measured(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.tally = pathlib.Path(self.folder) / "tally"
        self.tally.write_text(TALLY)
        self.tally.chmod(0o755)

    def seen(self, laws, seed=1, unchanged=()):
        return measure.seen_with(str(self.tally), laws, seed, unchanged, 5, self.folder)

    def test_failing_cases_errors_and_a_process_that_dies_count_and_passing_ones_do_not(self):
        found = self.seen(["a", "b", "c"])
        self.assertEqual((found["failing"], found["law"], found["shown_by"]), (4, "b", ["b", "c"]))

    def test_a_seed_is_done_when_enough_was_seen_and_says_no_more_than_that(self):
        self.assertEqual(self.seen(["b", "b", "no such law"])["failing"], 5)

    def test_a_bug_that_no_law_of_a_seed_shows_escapes_it(self):
        self.assertEqual([self.seen(["a", "d"], seed)["failing"] for seed in (1, 2)], [0, 1])
        row = {"name": "n", "kind": "size", "seeds": {"1": {"failing": 0, "law": "", "seconds": 9}}}
        self.assertIn("0 ESCAPED 9 s", measure.shown(row, [1], 5))

    def test_what_fails_without_a_bug_is_not_counted_and_a_program_that_dies_shows_nothing(self):
        self.assertEqual(self.seen(["b"], 1, [["b", "fp32", "2", ""]])["failing"], 2)
        known = {"1": [["b", "fp32", "2", ""]], "2": [["", "", "", "ended with -6"]]}
        self.assertEqual(measure.fails_unchanged("", [1], known, self.folder), known)
        with self.assertRaisesRegex(RuntimeError, "ended with -6 with seed 2"):
            measure.fails_unchanged("", [2], known, self.folder)

    def test_laws_that_showed_a_bug_go_first_and_then_those_that_fit_its_file(self):
        laws = ["other", "softmax_holds_far_apart", "showed"]
        self.assertEqual(measure.in_turn(laws, "kernels/losses/cross_entropy.cu", ["showed"]),
                         ["showed", "softmax_holds_far_apart", "other"])

    def test_an_earlier_row_is_kept_while_its_bug_is_the_same_and_its_seeds_are_not_measured_again(self):
        bugs = measure.planted.changes(measure.BUGS)[:2]
        found = {"failing": 1, "law": "b", "shown_by": ["b"], "seconds": 9}
        rows = [{**bug, "seeds": {"1": found}} for bug in bugs]
        rows[1]["after"] += " "
        known = os.path.join(self.folder, "known.json")
        pathlib.Path(known).write_text(json.dumps({"bugs": rows, "unchanged": {"1": []}}))
        kept, unchanged = measure.earlier(known)
        self.assertEqual((list(kept), unchanged), ([bugs[0]["name"]], {"1": []}))
        again = measure.row_of(bugs[0], kept[bugs[0]["name"]]["seeds"], None, [], [1], unchanged, 5, self.folder)
        self.assertEqual(again["seeds"], {"1": found})


if __name__ == "__main__":
    unittest.main(verbosity=2)
