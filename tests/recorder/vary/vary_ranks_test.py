#!/usr/bin/env python3
"""A script on the same rows with several ranks: python3 tests/recorder/vary/vary_ranks_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
from varied_scripts import ERROR, FAIL, PASS, SCRIPTS, Varied  # noqa: E402

RANKS = ["--nproc", "2", "--set", "--batch-size {rows} --accum {k}", os.path.join(SCRIPTS, "ranks.py"), "--kind"]


class Ranks(Varied):
    def fails(self, kind, cause):
        return self.vary(FAIL, *RANKS, kind, said=[cause, "2 ranks with micro-batches of 2 rows end ", "ranks.py:63 `optimizer.step()`"])

    def test_right_loops_come_to_the_whole_batch(self):
        for kind in ("no sync", "added up", "seeded by rank", "waits at its end"):
            with self.subTest(kind):
                said = self.vary(PASS, *RANKS, kind, said=["gloo stood in for nccl", "2 on each of 2 ranks", "1, 1 on each of 2 ranks"])
                self.assertNotRegex(said, r"(?m)^  .* error\b")  # a row of the table
        runs = [run for run in self.document()["runs"] if run["ranks"] == 2]
        for run in runs:
            far = max(tensor["max"] / tensor["scale"] for tensor in run["tensors"])
            self.assertLess(far, torch.finfo(torch.float32).eps ** 1.5, run["sizes"])  # float64 throughout

    def test_what_each_rank_divides_by_its_own_items_is_named(self):
        self.fails("own items", "each rank's loss is divided by its own ")

    def test_ranks_that_do_not_meet_are_named(self):
        for kind in ("not wrapped", "calls the inner"):
            self.fails(kind, "each of 2 ranks steps with its own gradient only")

    def test_what_ranks_do_not_have_in_common_is_named(self):
        for kind, said in (("begins apart", "rank 1 begins with another 0.weight than rank 0"),
                           ("own rate", "in window 0 rank 1 steps with lr = 0.02, rank 0 with 0.01")):
            self.vary(FAIL, *RANKS, kind, said=["ranks differ where they should agree: " + said])

    def test_a_clip_before_ranks_are_added_up_is_named(self):
        self.fails("clips its own", "each rank's gradient has a factor of its own, as when it is clipped")

    def test_parameters_of_every_rank_are_compared(self):
        self.vary(FAIL, *RANKS, "one drifts", said=["2 ranks with micro-batches of 2 rows end ", "(0.bias alone)"])

    def test_a_mean_over_ranks_of_what_all_hold_is_named(self):
        self.fails("averaged twice", "gradients are divided by the 2 ranks")

    def test_a_sum_over_ranks_of_what_each_holds_is_named(self):
        self.fails("own rows added up", "gradients are added up over 2 ranks, each of which divides by its own share")

    def test_the_same_rows_on_each_rank_are_other_rows(self):
        self.vary(ERROR, *RANKS, "same rows", said=["give each rank its own share of the same rows, as a DistributedSampler does",
                                                    "with micro-batches of 2 rows on each of 2 ranks the script trains on "])

    def test_one_rank_that_ends_early_ends_all(self):
        self.vary(FAIL, *RANKS, "one ends", said=["end with RuntimeError at ", "(on rank 1: rank 1 has had enough)"])

    def test_numbers_of_ranks_that_cannot_be(self):
        for words, said in (("3", "found 3 ranks for --rows 4"), ("two", "found two, expected numbers of ranks")):
            self.vary(ERROR, "--nproc", words, *RANKS[2:], "right", said=[said])


if __name__ == "__main__":
    unittest.main()
