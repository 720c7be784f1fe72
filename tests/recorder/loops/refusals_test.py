#!/usr/bin/env python3
"""What no case can state is refused in one line that says why: python3 tests/recorder/loops/refusals_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402

import loops  # noqa: E402
from verdicts import ERROR, FAIL, PASS, verdict_of  # noqa: E402


class Refusals(unittest.TestCase):
    def refused(self, loop, expected, **options):
        """One line of error that holds all of `expected`."""
        code, said = verdict_of(loop.record("state", **options))
        self.assertEqual(code, ERROR, said)
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, said)
        for words in expected if isinstance(expected, tuple) else (expected,):
            self.assertIn(words, errors[0])


class Parameters(Refusals):
    """A layer that is replaced while the loop runs."""

    @staticmethod
    def replacing(when, change):
        class Loop(loops.Loop):
            def window(self, w, sizes):
                super().window(w, sizes)
                if when == "between" and w == 0:
                    change(self)

            def micro_batch(self, w, k, rows, sizes):
                if when == "inside" and (w, k) == (2, 2):
                    change(self)
                super().micro_batch(w, k, rows, sizes)

        return Loop()

    def test_the_optimizer_keeps_the_old_one(self):
        def change(loop):
            loop.net[0] = nn.Linear(6, 8)

        for when, window in (("between", 1), ("inside", 2)):
            self.refused(self.replacing(when, change), (
                f"error: window {window}, model.0.weight (and 1 more): found a parameter that the optimizer steps and "
                "the model no longer has; no optimizer holds its new model.0.weight (and 1 more), expected",))

    def test_a_new_one(self):
        def change(loop):
            loop.net.add_module("3", nn.Linear(4, 4))

        self.refused(self.replacing("between", change), "error: window 1, model.3.weight (and 1 more): found a new "
                                                        "parameter that no group of the optimizer holds, expected")


class Passes(Refusals):
    """Forward passes without a backward pass."""

    def test_a_micro_batch_that_is_left_out_is_judged(self):
        for skipped in ((1,), (1, 2)):
            class Loop(loops.Loop):
                def micro_batch(self, w, k, rows, sizes):
                    x, target = self.data(rows)
                    loss = self.divided(self.net(x), target, sizes)
                    if k not in skipped:
                        loss.backward()

            code, said = verdict_of(Loop().record("state"))
            self.assertEqual(code, FAIL, said)


if __name__ == "__main__":
    unittest.main()
