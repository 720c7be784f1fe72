#!/usr/bin/env python3
"""Kinds of bugs that accumulating loops had in public, written anew, wrong and right: python3 tests/recorder/vary/vary_public_bugs_test.py"""
import os
import sys
import tempfile
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import bugs_of_all_partitions as alike  # noqa: E402
import bugs_of_gradients  # noqa: E402
import bugs_of_rows  # noqa: E402
import bugs_of_steps  # noqa: E402
import bugs_of_weights  # noqa: E402
from accumulating import ROWS  # noqa: E402

import tally_recorder  # noqa: E402

BUGS = [*bugs_of_weights.BUGS, *bugs_of_gradients.BUGS, *bugs_of_steps.BUGS, *bugs_of_rows.BUGS]
SILENT = ("no sum of the micro-batches", "weights", "unknown")  # causes that say no more than that the gradient is off
SHARE_NAMED = 0.8  # of them, at least


class PublicBugs(unittest.TestCase):
    def vary(self, bug, step):
        with tempfile.TemporaryDirectory() as folder:
            return tally_recorder.vary(step, make=bug.make, data=bug.data, rows=ROWS, out=folder)

    def test_every_wrong_one_is_caught(self):
        named = 0
        for bug in BUGS:
            with self.subTest(bug.source):
                verdict = self.vary(bug, bug.wrong)
                self.assertFalse(verdict.passed, verdict.sentence)
                named += verdict.cause in bug.causes
                self.assertIn(verdict.cause, (*bug.causes, *SILENT), verdict.sentence)
                if os.environ.get("TALLY_TABLE"):
                    print(f"| {bug.source} | {','.join(map(str, verdict.partition))} | {verdict.cause} |")
        self.assertGreaterEqual(named, SHARE_NAMED * len(BUGS))

    def test_what_all_partitions_share_is_not_asked(self):
        for bug in alike.BUGS:
            with self.subTest(bug.source):
                verdict = self.vary(bug, bug.wrong)
                self.assertTrue(verdict.passed, verdict.sentence)
                self.assertIn("errors that are the same in every partition", verdict.notes[-1])

    def test_no_right_one_is(self):
        for bug in BUGS:
            if bug.fixed:
                with self.subTest(bug.source):
                    verdict = self.vary(bug, bug.fixed)
                    self.assertTrue(verdict.passed, verdict.sentence)


if __name__ == "__main__":
    unittest.main()
