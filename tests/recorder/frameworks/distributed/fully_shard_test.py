#!/usr/bin/env python3
"""Loops under fully_shard (FSDP2) over gloo: right ones pass, wrong ones are named."""
import os
import sys
import tempfile
import unittest
import warnings

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import recorder_path  # noqa: E402, F401
import fully_shard_loops  # noqa: E402
import loops  # noqa: E402
import rank_loops  # noqa: E402
from verdicts import ERROR, FAIL, PASS  # noqa: E402


class FullyShard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        with tempfile.TemporaryDirectory() as folder:
            cls.told = rank_loops.together(2, folder, fully_shard_loops.all_loops)

    def test_right_loops_pass(self):
        for name in fully_shard_loops.right_loops():
            with self.subTest(name):
                told = self.told[name][0]
                self.assertEqual(told["code"], PASS, told["said"])

    def test_the_recorder_leaves_every_bit(self):
        for name in fully_shard_loops.right_loops():
            for rank, told in self.told[name].items():
                with self.subTest(name, rank=rank):
                    self.assertEqual(told["bits"], told["unrecorded"])

    def test_wrong_loops_are_named(self):
        for name, (_, tap, cause) in fully_shard_loops.WRONG.items():
            with self.subTest(name):
                told = self.told[name][0]
                self.assertEqual(told["code"], FAIL, told["said"])
                self.assertIn(tap, told["said"].splitlines()[-1])
                self.assertEqual(loops.cause(told["said"]), cause, told["said"])

    def test_a_micro_batch_without_a_reduce_scatter_is_refused(self):
        told = self.told["no reduce-scatter"][0]
        self.assertEqual(told["code"], ERROR, told["said"])
        self.assertIn("a backward pass of the model: found no reduce-scatter in it, as set_requires_gradient_sync(False)",
                      told["said"])


if __name__ == "__main__":
    unittest.main()
