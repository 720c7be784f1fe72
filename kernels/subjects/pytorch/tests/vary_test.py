#!/usr/bin/env python3
"""A loop is its own oracle: its rows in other micro-batches: python3 tests/vary_test.py"""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import needs_torch  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import tally_recorder  # noqa: E402
from tally_recorder.varied.rows import partitions_of  # noqa: E402

ROWS = 8
OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01),
    "AMSGrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True), "Adagrad": lambda p: torch.optim.Adagrad(p),
    "Adadelta": lambda p: torch.optim.Adadelta(p), "NAdam": lambda p: torch.optim.NAdam(p),
    "RAdam": lambda p: torch.optim.RAdam(p), "Adamax": lambda p: torch.optim.Adamax(p),
    "Rprop": lambda p: torch.optim.Rprop(p), "RMSprop": lambda p: torch.optim.RMSprop(p, centered=True)}


def network(*layers):
    return nn.Sequential(nn.Linear(6, 8), *layers, nn.Tanh(), nn.Linear(8, 4))


def made(optimizer=OPTIMIZERS["SGD"], *layers):
    model = network(*layers)
    return {"model": model, "optimizer": optimizer(model.parameters())}


def data(_):
    return {"x": torch.randn(ROWS, 6), "y": torch.randint(0, 4, (ROWS,))}


def rows_of(micro_batches):
    return sum(len(batch["x"]) for batch in micro_batches)


def loop(weigh, behind=lambda state: None, before=lambda state: None, clear="window"):
    """A step whose micro-batches' mean losses are weighed by `weigh(n, N, K)`."""
    def step(state, micro_batches):
        state["optimizer"].zero_grad()
        for batch in micro_batches:
            if clear == "micro-batch":
                state["optimizer"].zero_grad()
            loss = F.cross_entropy(state["model"](batch["x"]), batch["y"])
            (loss * weigh(len(batch["x"]), rows_of(micro_batches), len(micro_batches))).backward()
            behind(state)
        before(state)
        state["optimizer"].step()
    return step


RIGHT = loop(lambda n, N, K: n / N)


def clip(state):
    nn.utils.clip_grad_norm_(state["model"].parameters(), 0.05)


def sharpness_aware(second):
    """SAM: `second` of the micro-batches are passed through again at the moved parameters."""
    def step(state, micro_batches):
        def passed(batches):
            state["optimizer"].zero_grad()
            for batch in batches:
                (F.cross_entropy(state["model"](batch["x"]), batch["y"], reduction="sum") / rows_of(batches)).backward()
        passed(micro_batches)
        with torch.no_grad():
            parameters = list(state["model"].parameters())
            norm = torch.stack([parameter.grad.norm() for parameter in parameters]).norm()
            moves = [0.05 * parameter.grad / norm for parameter in parameters]
            for parameter, move in zip(parameters, moves):
                parameter += move
        passed(second(micro_batches))
        with torch.no_grad():
            for parameter, move in zip(parameters, moves):
                parameter -= move
        state["optimizer"].step()
    return step


def adversarial(divide):
    """A GAN with two optimizers; `divide(n, N, K)` weighs each mean."""
    def make():
        one, other = nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
        return [one, other, torch.optim.Adam(one.parameters()), torch.optim.Adam(other.parameters())]

    def step(state, micro_batches):
        generator, critic, of_generator, of_critic = state
        K, N = len(micro_batches), rows_of(micro_batches)
        for optimizer, sign in ((of_critic, 1), (of_generator, -1)):
            of_critic.zero_grad(), of_generator.zero_grad()
            for batch in micro_batches:
                made_up = critic(generator(batch["x"][:, :4]))
                loss = F.softplus(sign * made_up).mean() + (F.softplus(-critic(batch["x"])).mean() if sign > 0 else 0)
                (loss * divide(len(batch["x"]), N, K)).backward()
            optimizer.step()
    return make, step


def varied(step, make=made, **options):
    return tally_recorder.vary(step, make=make, data=options.pop("data", data), rows=ROWS, **options)


class Right(unittest.TestCase):
    def passes(self, step, make=made, **options):
        verdict = varied(step, make, **options)
        self.assertTrue(verdict.passed, verdict.sentence)
        verdict.raise_if_failed()

    def test_under_every_optimizer(self):
        for name, optimizer in OPTIMIZERS.items():
            with self.subTest(name):
                self.passes(RIGHT, lambda optimizer=optimizer: made(optimizer))

    def test_with_a_clip_and_dead_units(self):
        self.passes(loop(lambda n, N, K: n / N, before=clip))
        self.passes(RIGHT, lambda: made(OPTIMIZERS["SGD"], nn.ReLU()))
        self.passes(RIGHT, lambda: made(OPTIMIZERS["SGD"], nn.LayerNorm(8)))

    def test_with_two_passes_and_two_optimizers(self):
        self.passes(sharpness_aware(lambda micro_batches: micro_batches))
        make, step = adversarial(lambda n, N, K: n / N)
        self.passes(step, make)

    def test_means_of_equal_micro_batches_are_not_right(self):
        """They agree where all have as many rows; unequal ones are drawn as well."""
        self.assertIn((3, 3, 2), partitions_of(8, 0))
        self.assertTrue(any(len(set(sizes)) == 1 for sizes in partitions_of(8, 0)))


class Wrong(unittest.TestCase):
    def fails(self, cause, step, make=made, said="", **options):
        verdict = varied(step, make, **options)
        self.assertFalse(verdict.passed, verdict)
        self.assertEqual(verdict.cause, cause, verdict.sentence)
        self.assertIn(said, verdict.sentence)
        self.assertRaises(AssertionError, verdict.raise_if_failed)
        return verdict

    def test_weights_are_the_cause(self):
        verdict = self.fails("1/(K n_k)", loop(lambda n, N, K: 1 / K), said="weigh each mean by its rows / 8")
        self.assertEqual(len(verdict.partition), 2)
        for weight, size in zip(verdict.weights, verdict.partition):
            self.assertAlmostEqual(weight, 1 / (2 * size), delta=2.0**-30)
        self.fails("1/n_k", loop(lambda n, N, K: 1.0))
        self.fails("1/K", loop(lambda n, N, K: n / K))
        self.fails("1/K", loop(lambda n, N, K: n / (N * K)), said="leave that out")
        self.fails("0", loop(lambda n, N, K: n / N, clear="micro-batch"), said="for k = 0 of 2: ")

    def test_what_is_no_one_formula_has_its_numbers(self):
        self.fails("weights", loop(lambda n, N, K: n / N, behind=clip), said="rows of the micro-batches weigh ")

    def test_a_second_pass_over_the_last_alone(self):
        verdict = varied(sharpness_aware(lambda micro_batches: micro_batches[-1:]))
        self.assertFalse(verdict.passed, verdict)

    def test_of_two_optimizers(self):
        make, step = adversarial(lambda n, N, K: 1 / K)
        self.assertFalse(varied(step, make).passed)

    def test_layers_that_see_the_batch(self):
        self.assertFalse(varied(RIGHT, lambda: made(OPTIMIZERS["SGD"], nn.BatchNorm1d(8)), windows=1).passed)

    def test_in_float32_alone_nothing_is_right_by_chance(self):
        """A gap far below float32's own rounding is none of it."""
        small = varied(loop(lambda n, N, K: n / N * (1 + (K > 1) * 2.0**-30)))
        self.assertFalse(small.passed, small)
        self.assertLess(small.gaps[-1].in_float64, 2.0**-24)


class Refused(unittest.TestCase):
    def refused(self, words, step, make=made, **options):
        with self.assertRaisesRegex(tally_recorder.CaptureError, words):
            varied(step, make, **options)

    def test_what_vary_cannot_repeat(self):
        outside = made()
        self.refused(f"found RuntimeError at {os.path.abspath(__file__)}:[0-9]+ .*with the whole batch in float64",
                     lambda state, micro_batches: RIGHT(outside, micro_batches))
        self.refused("no tensor of `make` that 2 windows change", lambda *_: None)
        calls = []

        def drifts(state, micro_batches):
            calls.append(0)
            loop(lambda n, N, K: n / N * (1 + len(calls)))(state, micro_batches)
        self.refused("another end of the same whole batch", drifts)
        self.refused("found 6 rows in data", RIGHT, data=lambda _: {"x": torch.randn(6, 6), "y": torch.zeros(6).long()})

    def test_numbers_that_are_none(self):
        verdict = varied(loop(lambda n, N, K: float("nan") if K > 1 else 1.0))
        self.assertFalse(verdict.passed)
        self.assertEqual(verdict.gaps[-1].kind, "not finite")
        # 2^200 is no number of float32: a gap that only one of the formats shows passes no more than any other.
        verdict = varied(loop(lambda n, N, K: n / N if K == 1 else n / N * (torch.tensor(2.0**200) * 2.0**-200).item()))
        self.assertFalse(verdict.passed, verdict)
        self.assertEqual(verdict.gaps[-1].kind, "not finite")
        self.refused("not finite behind the whole batch", loop(lambda n, N, K: float("inf")))

    def test_a_schedule_made_in_the_step(self):
        def step(state, micro_batches):
            torch.optim.lr_scheduler.StepLR(state["optimizer"], 1)
            loop(lambda n, N, K: 1 / K)(state, micro_batches)
        self.assertEqual(varied(step, windows=1).cause, "1/(K n_k)")


if __name__ == "__main__":
    unittest.main()
