#!/usr/bin/env python3
"""Rows, windows and causes of scripts that know nothing of Tally: python3 tests/recorder/vary/vary_script_windows_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
from varied_scripts import ERROR, FAIL, PASS, PLAIN, SENTENCES, Varied  # noqa: E402


class RowsOfLoaders(Varied):
    """They are what a loader dealt, whatever is sliced from it and pads it."""

    def test_of_whatever_batches(self):
        for batch in ("tensor", "tuple", "dict", "encoding", "numbers", "indices", "words"):
            with self.subTest(batch):
                self.vary(PASS, *SENTENCES, "--batch", batch, "--padding", "9")
        self.vary(FAIL, *SENTENCES, "--batch", "dict", "--mean-of-means", said=["items and by K = 2"])

    def test_of_batches_that_are_not_trained_on_or_fetched_ahead(self):
        for words in (["--ahead"], ["--looks"], ["--ahead", "--looks", "--batch", "encoding"]):
            with self.subTest(words):
                self.vary(PASS, *SENTENCES, *words)
        for run in self.document()["runs"]:
            self.assertEqual(run["rows_hash"] == "", bool(run["moved"]))

    def test_of_windows_that_the_loop_cuts(self):
        self.vary(PASS, *SENTENCES, "--chunks")
        self.vary(ERROR, *SENTENCES, "--chunks", "--loses", said=["have other rows than the whole batch", "and leaves out 4"])


class BesideTheGradient(Varied):
    """What is wrong elsewhere than in the weights of micro-batches, and right all the same."""

    def test_a_schedule(self):
        self.vary(PASS, *PLAIN, "--schedule", "window")
        said = self.vary(FAIL, *PLAIN, "--schedule", "micro-batch", said=["after the optimizer's step"])
        self.assertRegex(said, "step 0 of window 0 uses lr = [0-9.]+, the whole batch's uses [0-9.]+")
        self.assertEqual([len(window) for window in self.document()["runs"][0]["options"]], [1, 1])

    def test_an_average_that_is_only_saved(self):
        for by in ("copy", "module"):
            with self.subTest(by):
                self.vary(PASS, *PLAIN, "--average", "window", "--average-by", by)
                self.vary(FAIL, *PLAIN, "--average", "micro-batch", "--average-by", by, said=["other state of the loop does not: "])

    def test_gradients_that_nobody_clears(self):
        self.vary(FAIL, *PLAIN, "--keep-gradients", said=["contains 1 times window 0's gradient", "clear gradients after every step"])

    def test_a_step_behind_the_first_micro_batch(self):
        said = self.vary(FAIL, *PLAIN, "--off-by-one", said=["the optimizer steps after micro-batch 1 of 2 in window 0", "`(i + 1) % K == 0`"])
        self.assertNotIn("other rows", said)

    def test_rows_that_are_trained_on_again(self):
        self.vary(FAIL, *PLAIN, "--same-batch", said=["2 rows are trained on twice in window 0", "fetch a new batch for every micro-batch"])

    def test_what_an_epoch_leaves_over(self):
        """Of 6 rows in windows of 4."""
        self.vary(PASS, *PLAIN, "--size", "6", "--epoch", "steps")
        self.vary(FAIL, *PLAIN, "--size", "6", "--epoch", "carries", said=["2 rows left over from an epoch go into window 1"])
        self.vary(FAIL, *PLAIN, "--size", "6", "--epoch", "loses", said=["2 rows left over from an epoch are cleared before window 1"])
        self.vary(PASS, *PLAIN, "--size", "6", "--epoch", "loses", "--drop-last")

    def test_a_short_window_that_is_divided_by_all(self):
        self.vary(FAIL, *PLAIN, "--size", "6", "--epoch", "steps", "--loss", "mean-of-means",
                  said=["window 1 has 1 of 2 micro-batches, but its sum is divided by 2"])

        said = self.vary(FAIL, *PLAIN, "--size", "7", "--epoch", "steps", "--loss", "mean-of-means")
        self.assertIn("divided by its own 1 rows and by K = 2", said, "a window of 2 + 1 rows")

    def test_counts_that_nobody_saw(self):
        self.vary(FAIL, *PLAIN, "--loss", "by-own-mask", said=["each micro-batch's loss is divided by its own items and by K = 2"])

    def test_uneven_windows_that_a_script_takes_for_larger_ones(self):
        """It is told its largest micro-batch and their number alone."""
        for words, said in ((["--loss", "by-told-window"], "the script divides by its batch size times K, 2 * 3, and this window has 4 rows"),
                            (["--rate-by-window"], "is told of a window of its batch size times K, 2 * 3, and this one has 4 rows"),
                            (["--whole-windows", "--size", "16"], "takes other rows for a window of its batch size times K, 2 * 3"),
                            (["--step-by-rows"], "only equal micro-batches were dealt: the script counts rows, not micro-batches")):
            with self.subTest(words):
                self.vary(PASS, "--seed", "1", *PLAIN, *words, said=[said])
        equal = "Equal micro-batches match the whole batch: a short last one, as at an epoch's end, does not"
        self.vary(FAIL, "--seed", "1", *PLAIN, "--loss", "mean-of-means", said=[equal])

    def test_a_second_cause_behind_layers_that_see_the_batch(self):
        said = self.vary(FAIL, *PLAIN, "--batch-norm", "--loss", "mean-of-means", said=["BatchNorm1d 1 sees each micro-batch by itself"])
        self.assertRegex(said, "with that held still micro-batches of [0-9, ]+ rows differ as well: each micro-batch's loss is divided")
        said = self.vary(FAIL, *PLAIN, "--batch-norm")
        self.assertNotIn("differ as well", said)
        self.assertNotIn("plain.py:1 ", said)


if __name__ == "__main__":
    unittest.main()
