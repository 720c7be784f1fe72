#!/usr/bin/env python3
"""Every right loop passes, every wrong one does not, at every level: python3 tests/recorder/loops/recorded_loops_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest
import warnings

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import loops  # noqa: E402
from tally_recorder.recipe import LEVELS  # noqa: E402

PASS, FAIL, ERROR, UNJUDGED = 0, 1, 2, 4


class RecordedLoops(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")

    def test_right_loops_pass(self):
        for name, loop in {**loops.right_loops(), **loops.opaque_loops()}.items():
            for level in ("state", "window", "all"):
                with self.subTest(name, level=level):
                    code, said = loops.judged(loop, level)
                    self.assertEqual(code, PASS, said)

    def test_right_loops_never_fail_with_few_taps(self):
        for name, loop in {**loops.right_loops(), **loops.opaque_loops()}.items():
            for level in ("parameters", "gradients"):
                with self.subTest(name, level=level):
                    code, said = loops.judged(loop, level)
                    self.assertIn(code, (PASS, UNJUDGED), said)

    def test_wrong_loops_do_not_pass_and_are_named(self):
        self.assertEqual(set(loops.CAUSES), set(loops.wrong_loops()))
        for name, loop in loops.wrong_loops().items():
            for level in LEVELS:
                with self.subTest(name, level=level):
                    code, said = loops.judged(loop, level)
                    self.assertIn(code, (FAIL, ERROR), said)
                    if level != "parameters" or code == FAIL:
                        self.assertEqual((code, loops.cause(said)), (FAIL, loops.CAUSES[name]), said)


if __name__ == "__main__":
    unittest.main()
