#!/usr/bin/env python3
"""A loop is its own oracle, its rows in other micro-batches: python3 tests/recorder/vary/vary_test.py"""
import copy
import inspect
import os
import sys
import tempfile
import unittest
import unittest.mock
from fractions import Fraction

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from varied_loops import (MEANS, OPTIMIZERS, RIGHT, ROWS, Varied, adversarial, clip, data, loop, made, rows_of,  # noqa: E402
                          sharpness_aware, varied)

import tally_recorder  # noqa: E402


class Right(Varied):
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
        dealt = [tuple(gap["sizes"]) for gap in varied(RIGHT).gaps]
        self.assertIn((3, 3, 2), dealt)
        self.assertTrue(any(len(set(sizes)) == 1 for sizes in dealt))


class Wrong(Varied):
    def test_weights_are_the_cause(self):
        verdict = self.fails("1/(K n_k)", MEANS, said="weigh each mean by its own rows / 8")
        self.assertEqual(len(verdict.partition), 2)
        for weight, size in zip(verdict.weights, verdict.partition):
            self.assertEqual(Fraction(weight).limit_denominator(2 * size), Fraction(1, 2 * size))
        self.fails("1/n_k", loop(lambda n, N, K: 1.0))
        self.fails("1/K", loop(lambda n, N, K: n / K))
        self.fails("1/K", loop(lambda n, N, K: n / (N * K)), said="leave the division by K out")
        self.fails("the last alone", loop(lambda n, N, K: n / N, clear="micro-batch"), said="the last of 2 micro-batches")

    def test_what_is_no_one_formula_has_its_numbers(self):
        self.fails("each later counts more", loop(lambda n, N, K: n / N, behind=clip), said="a row weighs ")

    def test_a_second_pass_over_the_last_alone(self):
        verdict = varied(sharpness_aware(lambda micro_batches: micro_batches[-1:]))
        self.assertFalse(verdict.passed, verdict)

    def test_of_two_optimizers(self):
        make, step = adversarial(lambda n, N, K: 1 / K)
        self.assertFalse(varied(step, make).passed)

    def test_layers_that_see_the_batch(self):
        for layer, name, cause in ((nn.BatchNorm1d(8), "BatchNorm1d", "batch_norm"),
                                   (nn.BatchNorm1d(8, track_running_stats=False), "BatchNorm1d", "batch_norm"),
                                   (nn.utils.spectral_norm(nn.Linear(8, 8)), "SpectralNorm", "spectral norm")):
            self.fails(cause, RIGHT, lambda layer=layer: made(OPTIMIZERS["SGD"], copy.deepcopy(layer)), said=f"{name} model.1")
        self.fails("1/(K n_k)", MEANS, lambda: made(OPTIMIZERS["SGD"], nn.BatchNorm1d(8).eval()))

    def test_in_float32_alone_nothing_is_right_by_chance(self):
        """A gap far below float32's own rounding is none of it."""
        small = varied(loop(lambda n, N, K: n / N * (1 + (K > 1) * 2.0**-30)))
        self.assertFalse(small.passed, small)
        self.assertLess(small.gaps[-1]["in_float64"], 2.0**-24)


class Decorated(unittest.TestCase):
    @tally_recorder.equivalence(make=made, data=data, rows=ROWS)
    def test_right(self, state, micro_batches):
        self.assertIsInstance(self, Decorated)
        RIGHT(state, micro_batches)

    def test_wrong(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)

        @tally_recorder.equivalence(make=made, data=data, rows=ROWS, out=folder.name)
        def test_step(state, micro_batches):
            """A step."""
            MEANS(state, micro_batches)
        self.assertEqual((test_step.__name__, test_step.__doc__), ("test_step", "A step."))
        self.assertEqual([kind.kind for kind in inspect.signature(test_step).parameters.values()], [inspect.Parameter.VAR_POSITIONAL])
        with self.assertRaisesRegex(AssertionError, "weigh each mean by its own rows"):
            test_step()


class Folders(unittest.TestCase):
    def test_one_is_kept_where_the_loop_fails(self):
        with tempfile.TemporaryDirectory() as near, unittest.mock.patch("tempfile.tempdir", near):
            right = tally_recorder.vary(RIGHT, make=made, data=data, rows=ROWS)
            self.assertEqual((right.page, os.listdir(near)), ("", []))
            wrong = tally_recorder.vary(MEANS, make=made, data=data, rows=ROWS)
            self.assertEqual(sorted(os.listdir(os.path.dirname(wrong.page))), ["vary.html", "vary.json"])
            self.assertEqual([os.path.dirname(wrong.page)], [os.path.join(near, name) for name in os.listdir(near)])
            with self.assertRaisesRegex(AssertionError, wrong.page):
                wrong.raise_if_failed()

    def test_one_that_cannot_be_written(self):
        with tempfile.NamedTemporaryFile() as file, self.assertRaisesRegex(
                tally_recorder.CaptureError, f"^out: found {file.name} .File exists., expected a folder"):
            tally_recorder.vary(RIGHT, make=made, data=data, rows=ROWS, out=file.name)

    def test_a_program_that_does_not_vary(self):
        with self.assertRaisesRegex(tally_recorder.CaptureError, "expected a verdict of `tally vary`; pass tally= or set TALLY"):
            varied(RIGHT, tally="/bin/echo")


class Refused(Varied):
    def test_what_vary_cannot_repeat(self):
        outside = made()
        self.refused("2 windows change no tensor of what `make` returned", lambda state, micro_batches: RIGHT(outside, micro_batches))
        self.refused("the whole batch at once in float64 ends with KeyError at .*varied_loops.py:[0-9]+",
                     lambda state, micro_batches: RIGHT({}, micro_batches))
        self.refused("2 windows change no tensor of what `make` returned", lambda *_: None)
        calls = []

        def drifts(state, micro_batches):
            calls.append(0)
            loop(lambda n, N, K: n / N * (1 + len(calls)))(state, micro_batches)
        self.refused("the whole batch ends at other values when it is run again from the same seed", drifts)
        self.refused("found 6 rows in data", RIGHT, data=lambda _: {"x": torch.randn(6, 6), "y": torch.zeros(6).long()})
        self.refused("found no model and no tensor in what `make` gives", RIGHT, lambda: None)
        self.refused("found windows=0, expected a whole number of at least 1", RIGHT, windows=0)
        self.refused("has other rows when it is run again", RIGHT, data=lambda _: [calls.append(0), dict(data(0), x=torch.randn(8, 6) + len(calls))][1])

    def test_what_ends_in_a_partition_alone(self):
        def step(state, micro_batches):
            RIGHT(state, micro_batches)
            if len(micro_batches) > 2:
                raise ValueError("too many")
        verdict = varied(step)
        self.assertFalse(verdict.passed)
        self.assertRegex(verdict.sentence, rf"ValueError at {__file__}:[0-9]+ .too many")

    def test_steps_that_differ(self):
        def step(state, micro_batches):
            for batch in micro_batches:
                RIGHT(state, [batch])
        self.assertEqual(varied(step).cause, "steps")

    def test_numbers_that_are_none(self):
        verdict = varied(loop(lambda n, N, K: float("nan") if K > 1 else 1.0))
        self.assertFalse(verdict.passed)
        self.assertEqual(verdict.gaps[-1]["kind"], "not finite")
        # 2^200 is no number of float32: a gap that only one of the formats shows passes no more than any other.
        verdict = varied(loop(lambda n, N, K: n / N if K == 1 else n / N * (torch.tensor(2.0**200) * 2.0**-200).item()))
        self.assertFalse(verdict.passed, verdict)
        self.assertEqual(verdict.gaps[-1]["kind"], "not finite")
        self.refused("leaves elements that are not finite", loop(lambda n, N, K: float("inf")))

    def test_a_schedule_made_in_the_step(self):
        def step(state, micro_batches):
            torch.optim.lr_scheduler.StepLR(state["optimizer"], 1)
            loop(lambda n, N, K: 1 / K)(state, micro_batches)
        self.assertEqual(varied(step, windows=1).cause, "1/(K n_k)")


class SecondOptimizer(unittest.TestCase):
    """The first one's step is right: its optimizer is not what is looked at."""

    @staticmethod
    def make():
        parts = {"first": nn.Linear(6, 4), "second": nn.Linear(4, 3)}
        return {**parts, "optimizers": [torch.optim.Adam(part.parameters(), lr=0.01) for part in parts.values()]}

    @staticmethod
    def step_of(weigh):
        """Trains the first, then the second behind it; `weigh(n, N, K)` is what the mean of a micro-batch counts there."""
        def step(state, micro_batches):
            first, second = state["optimizers"]
            N, K = rows_of(micro_batches), len(micro_batches)
            for batch in micro_batches:
                (state["first"](batch["x"]).square().sum() / N).backward()
            first.step()
            first.zero_grad()
            for batch in micro_batches:
                y = batch["y"] % 3
                (F.cross_entropy(state["second"](state["first"](batch["x"]).tanh()), y) * weigh(len(y), N, K)).backward()
            second.step()
            first.zero_grad()
            second.zero_grad()
        return step

    def test_its_own_weights_are_told(self):
        self.assertTrue(varied(self.step_of(lambda n, N, K: n / N), self.make).passed)
        for cause, weigh in (("1/(K n_k)", lambda n, N, K: 1 / K), ("1/n_k", lambda n, N, K: 1), ("1/K", lambda n, N, K: n / N / K)):
            verdict = varied(self.step_of(weigh), self.make)
            self.assertEqual((verdict.cause, "vary_test.py" in verdict.sentence), (cause, True), verdict.sentence)


if __name__ == "__main__":
    unittest.main()
