#!/usr/bin/env python3
"""Loops of PyTorch, Accelerate, Lightning and Transformers, right ones and each with its famous bug.

run.py makes an environment that has them and runs this with it. The program is named by the variable TALLY, or found on
the PATH."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))

from recorder_path import PACKAGE  # noqa: E402
import data  # noqa: E402
from judged import cause, judged  # noqa: E402
from table_of_loops import ERROR, FAIL, PASS, ROWS, loops  # noqa: E402

LEVELS = ("gradients", "state", "all")


class Loops(unittest.TestCase):
    def test_every_loop_is_judged_as_the_table_says(self):
        for name, loop, expected in loops():
            for rows, said in zip(ROWS, expected):
                for level in LEVELS if rows == data.WHOLE else ("state",):
                    with self.subTest(name, rows=rows, level=level):
                        code, text = judged(loop, rows, level)
                        if said is None:
                            self.assertIn(code, (FAIL, ERROR), text)
                        else:
                            self.assertEqual((code, cause(text)), said, text)


class Tails(unittest.TestCase):
    """What Accelerate and Lightning do with what is left at the end, as they are shipped: known to be wrong."""

    def said(self, loop, rows):
        code, text = judged(loop, rows)
        self.assertEqual(code, FAIL, text)
        return text

    def loops(self):
        import accelerate_loops
        import lightning_loops
        return accelerate_loops.accumulate, lightning_loops.accumulated

    def test_a_short_last_batch_weighs_as_much_as_the_others(self):
        for loop in self.loops():
            text = self.said(loop, data.SHORT_BATCH)
            self.assertIn("expected 0.07143, got 0.0625, ratio 0.875 = N/(K n_k) with n_k = 4, N = 14, K = 4", text)
            self.assertIn("  looks like mean-of-means (explains 100 % of the error)\n"
                          "    every micro-batch is divided by its own items, and the window by K:  c = S / (K n_k)",
                          text)

    def test_a_short_last_window_is_divided_by_the_k_of_the_others(self):
        for loop in self.loops():
            text = self.said(loop, data.SHORT_WINDOW)
            self.assertIn("expected 0.125, got 0.0625, ratio 0.5 = 1/K with K = 2", text)
            self.assertIn("  looks like last-window-wrong-divisor (explains 100 % of the error)\n"
                          "    a short window is divided by the K of the others, not by its own:", text)

    def test_they_pass_where_this_is_what_is_meant(self):
        for loop in self.loops():
            for rows, meant in ((data.SHORT_BATCH, "mean_of_means"), (data.SHORT_WINDOW, "mean_of_means_configured")):
                code, text = judged(loop, rows, normalisation=meant)
                self.assertEqual(code, PASS, text)


class Scripts(unittest.TestCase):
    """`python -m tally_recorder` on scripts that know nothing of it."""

    def run_script(self, name, *options):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-B", "-m", "tally_recorder", "--micro-batches", "4", *options, "--out",
                 os.path.join(folder, "out"), os.path.join(HERE, "scripts", f"{name}_script.py")],
                cwd=folder, env={**os.environ, "PYTHONPATH": PACKAGE}, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def test_scripts_are_recorded_as_they_are(self):
        for name in ("accelerate", "lightning", "trainer"):
            with self.subTest(name):
                code, said = self.run_script(name)
                self.assertEqual(code, PASS, said)
                self.assertIn("assumed: clip is global_norm", said)
                self.assertNotIn("not judged: the loss", said)

    def test_scripts_can_be_stopped_when_enough_is_recorded(self):
        for name in ("accelerate", "lightning", "trainer"):
            with self.subTest(name):
                code, said = self.run_script(name, "--windows", "1", "--stop")
                self.assertEqual(code, PASS, said)
                self.assertIn("1 window", said)

    def test_a_normalisation_that_the_script_does_not_have_fails(self):
        for name in ("accelerate", "lightning", "trainer"):
            with self.subTest(name):
                code, said = self.run_script(name, "--windows", "1", "--normalisation", "sum")
                self.assertEqual(code, FAIL, said)


if __name__ == "__main__":
    unittest.main()
