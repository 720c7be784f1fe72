#!/usr/bin/env python3
"""What an item weighs in the losses of torch.nn.functional is held to 1 / N: python3 tests/recorder/model/seen_losses_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import loops  # noqa: E402
from verdicts import FAIL, PASS, verdict_of, headline  # noqa: E402

BESIDE = "pass, but not judged: the loss beside its factor"


class Loop(loops.Loop):
    """Of a loss by its function: mean / K, or sum / N where `by_sum` says so."""

    def __init__(self, function, by_sum, per_row=1, **options):
        super().__init__(windows=options.pop("windows", loops.UNEQUAL), **options)
        self.function, self.by_sum, self.per_row = function, by_sum, per_row

    def divided(self, y, target, sizes):
        if self.by_sum:
            return self.function(y, target, "sum") / (sum(sizes) * self.per_row)
        return self.function(y, target, "mean") / len(sizes)


def hot(target):
    return F.one_hot(target, 4).float()


def lengths(y):
    return torch.ones(len(y), dtype=torch.long)


KINDS = {  # how many items a row has
    "binary_cross_entropy_with_logits": (4, lambda y, t, how: F.binary_cross_entropy_with_logits(y, hot(t), reduction=how)),
    "l1_loss": (4, lambda y, t, how: F.l1_loss(y, hot(t), reduction=how)),
    "smooth_l1_loss": (4, lambda y, t, how: nn.SmoothL1Loss(reduction=how)(y, hot(t))),
    "huber_loss": (4, lambda y, t, how: F.huber_loss(y, hot(t), reduction=how)),
    "nll_loss": (1, lambda y, t, how: F.nll_loss(y.log_softmax(-1), t, reduction=how)),
    "cross_entropy": (1, lambda y, t, how: F.cross_entropy(y, hot(t), reduction=how)),
    "kl_div": (1, lambda y, t, how: F.kl_div(y.log_softmax(-1), hot(t) * 0.6 + 0.1, reduction="batchmean" if how == "mean" else how)),
    "ctc_loss": (1, lambda y, t, how: F.ctc_loss(y.log_softmax(-1)[None], t[:, None].clamp(1), lengths(y), lengths(y), reduction=how)),
}


class Seen(unittest.TestCase):
    """Losses of torch.nn.functional that no case states."""

    def test_each_is_judged(self):
        for name, (per_row, function) in KINDS.items():
            with self.subTest(name):
                code, said = verdict_of(Loop(function, True, per_row).record("state"))
                self.assertEqual((code, headline(said)), (PASS, BESIDE), said)
                self.assertNotIn("has the coefficient", said)
                code, said = verdict_of(Loop(function, False).record("state"))
                self.assertEqual(code, FAIL, said)
                self.assertIn(f"fail: {name} at ", said.splitlines()[-1])
                self.assertIn("looks like mean-of-means, 1/(K n_k)", said.splitlines()[-1])

    def test_equal_micro_batches_pass_either_way(self):
        for name, (_, function) in KINDS.items():
            with self.subTest(name):
                code, said = verdict_of(Loop(function, False, windows=loops.EQUAL).record("state"))
                self.assertEqual((code, headline(said)), (PASS, BESIDE), said)
                self.assertNotIn("has the coefficient", said)

    def test_a_stated_normalisation_holds(self):
        code, said = verdict_of(Loop(KINDS["l1_loss"][1], False, normalisation="mean_of_means").record("state"))
        self.assertEqual((code, headline(said)), (PASS, BESIDE), said)

    def test_a_short_window_is_divided_by_its_own(self):
        class Configured(Loop):
            def divided(self, y, target, sizes):
                return self.function(y, target, "mean") / loops.K

        code, said = verdict_of(Configured(KINDS["l1_loss"][1], False, windows=loops.TAIL).record("state", micro_batches=[4, 4, 2]))
        self.assertEqual(code, FAIL, said)
        self.assertIn("looks like last-window-wrong-divisor", said)

    def test_a_loss_that_nobody_divides(self):
        class Undivided(Loop):
            def divided(self, y, target, sizes):
                return self.function(y, target, "mean")

        code, said = verdict_of(Undivided(KINDS["l1_loss"][1], False, windows=loops.EQUAL).record("state"))
        self.assertEqual(code, FAIL, said)
        self.assertIn("looks like own-items", said)

    def test_a_coefficient_is_printed(self):
        class Half(Loop):
            def divided(self, y, target, sizes):
                return 0.5 * super().divided(y, target, sizes)

        code, said = verdict_of(Half(KINDS["l1_loss"][1], True, 4).record("state"))
        self.assertEqual((code, headline(said)), (PASS, BESIDE), said)
        self.assertRegex(said, r"assumed: l1_loss at \S+:\d+ has the coefficient 0.5")

    def test_two_terms_are_judged_apart(self):
        class Boxes(loops.Loop):
            """Class loss by rows, box loss by all of the window's rows or by the micro-batch's own."""

            def __init__(self, own):
                super().__init__(windows=loops.UNEQUAL)
                self.own = own

            def divided(self, y, target, sizes):
                boxes = F.l1_loss(y, hot(target), reduction="sum")
                boxes = boxes / len(target) / len(sizes) if self.own else boxes / sum(sizes)
                return F.cross_entropy(y, target, reduction="sum") / sum(sizes) + 5 * boxes

        code, said = verdict_of(Boxes(False).record("state"))
        self.assertEqual((code, headline(said)), (PASS, BESIDE), said)
        self.assertRegex(said, r"assumed: l1_loss at \S+ has the coefficient 20")
        code, said = verdict_of(Boxes(True).record("state"))
        self.assertEqual(code, FAIL, said)
        self.assertRegex(said.splitlines()[-1], r"^fail: l1_loss at .* looks like mean-of-means")

    def test_a_mix_of_two_targets_is_one_loss(self):
        class Mixed(loops.Loop):
            def divided(self, y, target, sizes):
                share = float(torch.rand(()))
                return (share * F.cross_entropy(y, target) + (1 - share) * F.cross_entropy(y, target.flip(0))) / len(sizes)

        code, said = verdict_of(Mixed().record("state"))
        self.assertEqual((code, headline(said)), (PASS, BESIDE), said)
        code, said = verdict_of(Mixed(windows=loops.UNEQUAL).record("state"))
        self.assertEqual(code, FAIL, said)
        self.assertIn("looks like mean-of-means", said)

    def test_logits_of_16_bits(self):
        class Half(loops.Loop):
            def micro_batch(self, w, k, rows, sizes):
                x, target = self.data(rows)
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    y = self.net(x)
                self.divided(y, target, sizes).backward()

        code, said = verdict_of(Half().record("state"))
        self.assertEqual((code, headline(said)), (PASS, BESIDE), said)
        code, said = verdict_of(Half(windows=loops.UNEQUAL).record("state"))
        self.assertEqual(code, FAIL, said)
        self.assertIn("looks like mean-of-means", said)

    def test_a_second_backward_pass_through_a_term_is_not_judged(self):
        class Twice(loops.Loop):
            def micro_batch(self, w, k, rows, sizes):
                x, target = self.data(rows)
                loss = F.l1_loss(self.net(x), hot(target)) / len(sizes) / 2
                loss.backward(retain_graph=True)
                loss.backward()

        code, said = verdict_of(Twice().record("state", micro_batches=8))
        self.assertEqual(code, PASS, said)
        self.assertRegex(said, "not judged: a term of the loss: what l1_loss at .* or a backward pass went through it twice")

    def test_a_term_beside_is_named_and_the_rest_judged(self):
        class Router(loops.Loop):
            def divided(self, y, target, sizes):
                entropy = -(y.softmax(-1) * y.log_softmax(-1)).sum(-1).mean()
                return super().divided(y, target, sizes) - 0.1 * entropy / len(sizes)

        code, said = verdict_of(Router().record("state"))
        self.assertEqual((code, headline(said)), (PASS, f"{BESIDE}, a term of the loss"), said)
        self.assertRegex(said, r"not judged: a term of the loss: one that was not declared reaches model.\S+ \(and 3 more\)")
        code, said = verdict_of(Router(windows=loops.UNEQUAL).record("state"))
        self.assertEqual(code, FAIL, said)
        self.assertRegex(said.splitlines()[-1], r"^fail: cross_entropy at .* looks like mean-of-means")


if __name__ == "__main__":
    unittest.main()
