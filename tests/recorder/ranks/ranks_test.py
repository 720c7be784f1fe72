#!/usr/bin/env python3
"""Loops of several ranks: right ones pass, wrong ones are named with their rank: python3 tests/recorder/ranks/ranks_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import tempfile
import unittest
import warnings

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import loops  # noqa: E402
import rank_loops  # noqa: E402
from verdicts import ERROR, FAIL, PASS  # noqa: E402


class TwoRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        with tempfile.TemporaryDirectory() as folder:
            cls.told = rank_loops.together(2, folder, rank_loops.all_loops)

    def test_right_loops_pass(self):
        for name in rank_loops.right_loops():
            with self.subTest(name):
                told = self.told[name][0]
                self.assertEqual(told["code"], PASS, told["said"])
                self.assertEqual(told["said"].splitlines()[-1], "pass")

    def test_the_recorder_leaves_every_bit(self):
        for name in rank_loops.right_loops():
            for rank, told in self.told[name].items():
                with self.subTest(name, rank=rank):
                    self.assertEqual(told["bits"], told["unrecorded"])

    def test_wrong_loops_are_named_with_stage_and_rank(self):
        for name, (_, tap, cause) in rank_loops.WRONG.items():
            with self.subTest(name):
                told = self.told[name][0]
                self.assertEqual(told["code"], FAIL, told["said"])
                self.assertIn(tap, told["said"].splitlines()[-1])
                self.assertEqual(loops.cause(told["said"]), cause, told["said"])

    def test_a_loop_without_a_wrapper_is_told_what_counts_as_its_sum(self):
        for name, told in self.told.items():
            with self.subTest(name):
                self.assertEqual("recorder.added_up()" in told[0]["said"], "by hand" in name)

    def test_a_sum_at_another_place_than_was_looked_at_is_said(self):
        for name, (_, words) in rank_loops.HINTED.items():
            with self.subTest(name):
                self.assertNotEqual(self.told[name][0]["code"], PASS)
                self.assertIn(words, self.told[name][0]["said"])

    def test_what_cannot_be_stated_is_refused_in_one_line(self):
        for name, (_, words) in rank_loops.REFUSED.items():
            with self.subTest(name):
                told = self.told[name][0]
                self.assertEqual(told["code"], ERROR, told["said"])
                self.assertIn(f"error: {words}", told["said"])
                self.assertEqual(told["said"].count("error: "), 1, told["said"])

    def test_all_ranks_return_one_code_and_the_first_speaks(self):
        for name, told in self.told.items():
            with self.subTest(name):
                self.assertEqual(told[0]["code"], told[1]["code"])
                self.assertEqual(told[1]["said"], "")


if __name__ == "__main__":
    unittest.main()
