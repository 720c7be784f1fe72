"""What the tool says of its mutants: shares, verdicts, exit status."""
import contextlib
import io
import json
import os
import tempfile
import unittest

import report
import verdicts


def row(after, outcome, **details):
    return {"id": after, "file": "kernels/a.cu", "function": "f", "line": 3, "operator": "bound_moved",
            "before": "a < b", "after": after, "nth": 1, "outcome": outcome, "by": "law", "law": "exact_lane",
            "stage": "loss", "class": "logic", "seconds": 1.0, **details}


def key(after):
    return ("kernels/a.cu", "f", "a < b", after, 1)


RUN = {"of": "kernels", "made_of": 9, "left_out": 2, "sample": None, "seed": 1, "killers": "By 2 laws.", "jobs": 1,
       "seconds": 9}


def finish(rows, judged, makeable=None):
    """Exit status, what was printed, and the page."""
    with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(io.StringIO()) as said:
        status = report.finish(rows, RUN, judged, makeable or {report.key_of(r) for r in rows}, out)
        with open(f"{out}/kernels.json", encoding="utf-8") as file:
            assert len(json.load(file)["mutants"]) == sum(r["outcome"] != "not_run" for r in rows)
        with open(f"{out}/kernels.md", encoding="utf-8") as page:
            return status, said.getvalue(), page.read()


class ExitStatus(unittest.TestCase):
    def test_all_killed_is_success(self):
        self.assertEqual(finish([row("x", "killed")], {})[0], 0)

    def test_a_survivor_without_a_verdict_fails_at_any_share(self):
        rows = [row(f"x{i}", "killed") for i in range(99)] + [row("alive", "survived")]
        status, said, page = finish(rows, {})

        self.assertEqual(status, 1)
        self.assertIn("survivor without a verdict: kernels/a.cu:3", said)
        self.assertIn("99.0 % of those that could be killed were", page)

    def test_equivalents_count_neither_for_nor_against(self):
        rows = [row(f"x{i}", "killed") for i in range(3)] + [row("same", "survived"), row("none", "same_code")]
        status, _, page = finish(rows, {key("same"): ("equivalent", "the loop stops before")})

        self.assertEqual(status, 0)
        self.assertIn("100.0 % of those that could be killed were", page)
        self.assertIn("75.0 % with the equivalent ones counted as survivors", page)
        self.assertIn("the loop stops before", page)

    def test_gaps_with_a_verdict_still_lower_the_share(self):
        rows = [row(f"x{i}", "killed") for i in range(3)] + [row("gap", "survived")]

        self.assertEqual(finish(rows, {key("gap"): ("law_to_write", "no case draws it")})[0], 1)

    def test_nothing_killable_says_nothing(self):
        self.assertEqual(finish([row("x", "invalid"), row("y", "same_code")], {})[0], 2)


class Verdicts(unittest.TestCase):
    def read(self, entries):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/verdicts.json", "w", encoding="utf-8") as file:
                json.dump(entries, file)
            return verdicts.read(f"{folder}/verdicts.json")

    def test_a_verdict_needs_a_reason(self):
        with self.assertRaises(ValueError):
            self.read([{"verdict": "equivalent", "reason": " ", "mutants": [key("x")]}])

    def test_a_mutant_is_judged_once(self):
        with self.assertRaises(ValueError):
            self.read([{"verdict": "equivalent", "reason": "r", "mutants": [key("x"), key("x")[:4]]}])

    def test_killed_and_vanished_mutants_make_verdicts_stale(self):
        mutants = [key("x"), key("gone"), key("not run")]
        judged = self.read([{"verdict": "equivalent", "reason": "r", "mutants": mutants}])
        _, said, page = finish([row("x", "killed")], judged, {key("x"), key("not run")})

        self.assertIn("stale verdict (killed): kernels/a.cu: x", said)
        self.assertIn("stale verdict (no such mutant): kernels/a.cu: gone", said)
        self.assertNotIn("`` not run ``", page)

    def test_the_kept_verdicts_are_readable(self):
        here = os.path.dirname(os.path.abspath(__file__))

        self.assertIsInstance(verdicts.read(f"{here}/verdicts.json"), dict)


if __name__ == "__main__":
    unittest.main()
