#!/usr/bin/env python3
"""What no case states of gradients narrows what is judged, and ends nothing: python3 tests/recorder/steps/gradient_changes_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402

import loops  # noqa: E402
from verdicts import FAIL, PASS, verdict_of, headline  # noqa: E402

CHANGED = "pass, but not judged: the loss beside its factor, a change of the gradients"
LEVELS = ("parameters", "gradients", "state", "window", "all")


class Changing(loops.Loop):
    """Does something to its gradients before the step."""

    def __init__(self, change, **options):
        super().__init__(**options)
        self.change = change

    def step(self):
        if self.scaler:
            self.scaler.unscale_(self.opt)
        self.change(self.net)
        super().step()


def rows_zeroed(net):
    net[0].weight.grad[:3] = 0


def each_by_its_weight(net):
    """Adaptive gradient clipping."""
    for parameter in net.parameters():
        most = 0.01 * parameter.detach().norm()
        norm = parameter.grad.norm()
        if norm > most:
            parameter.grad.mul_(most / norm)


def made_unit(net):
    norm = torch.sqrt(sum(parameter.grad.square().sum() for parameter in net.parameters()))
    for parameter in net.parameters():
        parameter.grad.div_(norm * 0.01)


def noise(net):
    for parameter in net.parameters():
        parameter.grad = parameter.grad + 0.01 * torch.randn_like(parameter)


def each_layer(net):
    for layer in (net[0], net[2]):
        nn.utils.clip_grad_norm_(layer.parameters(), 0.02)


CHANGES = {rows_zeroed: "a change", each_by_its_weight: "a change", made_unit: "a change", noise: "a change", each_layer: "a clip"}


def lines_with(said, start):
    return [line for line in said.splitlines() if line.startswith(start)]


class BeforeTheStep(unittest.TestCase):
    def test_the_rest_is_judged(self):
        for change in CHANGES:
            for level in LEVELS:
                with self.subTest(change.__name__, level=level):
                    code, said = verdict_of(Changing(change, optimizer=loops.sgd(momentum=0.9)).record(level))
                    self.assertEqual(code, PASS, said)
                    self.assertTrue(headline(said).startswith(CHANGED), said)

    def test_its_place_and_its_size_are_said(self):
        _, said = verdict_of(Changing(rows_zeroed).record("state"))
        line = lines_with(said, "not judged: a change of the gradients: ")[0]
        self.assertRegex(line, rf"before the step of window 0, at \S*gradient_changes_test.py:{rows_zeroed.__code__.co_firstlineno + 1}: "
                               r"model.0.weight by 0\.\d+ of their norm \(and 2 more\)")
        _, said = verdict_of(Changing(each_layer).record("state"))
        self.assertIn("not judged: a clip (clip_grad_norm_(0.02, norm_type=2): it was called over at most 2 of 4 parameters)", said)

    def test_a_wrong_divisor_is_still_named(self):
        for change in CHANGES:
            with self.subTest(change.__name__):
                code, said = verdict_of(Changing(change, windows=loops.UNEQUAL).record("state"))
                self.assertEqual(code, FAIL, said)
                self.assertIn("looks like mean-of-means", said.splitlines()[-1])

    def test_a_wrong_step_still_fails(self):
        for change in CHANGES:
            with self.subTest(change.__name__):
                loop = Changing(change, optimizer=loops.adam(weight_decay=0.1), weight_decay={"kind": "decoupled", "lambda": 0.1})
                self.assertEqual(verdict_of(loop.record("state"))[0], FAIL)

    def test_buffers_that_are_not_cleared_still_fail(self):
        code, said = verdict_of(Changing(rows_zeroed, wrong="no zero_grad").record("state"))
        self.assertEqual(code, FAIL, said)

    def test_behind_a_scaler(self):
        for change in (rows_zeroed, each_by_its_weight, noise):
            for level in LEVELS:
                with self.subTest(change.__name__, level=level):
                    code, said = verdict_of(Changing(change, scale=1024.0).record(level))
                    self.assertEqual(code, PASS, said)
                    self.assertTrue(headline(said).startswith(CHANGED), said)

    def test_before_a_scaler_and_before_a_clip(self):
        class Before(loops.Loop):
            def step(self):
                rows_zeroed(self.net)
                super().step()

        for options in ({"scale": 1024.0}, {"clip": 0.1}, {"scale": 1024.0, "clip": 0.1}):
            with self.subTest(**options):
                code, said = verdict_of(Before(**options).record("state"))
                self.assertEqual(code, PASS, said)
                self.assertEqual(headline(said), CHANGED)
                if "clip" in options:
                    self.assertIn("assumed: clip is global_norm (max_norm 0.1, norm 2), as the loop calls it", said)
                    self.assertRegex(said, r"\n(unscale\.\.)?norm +3 +0 ")

    def test_behind_a_clip(self):
        def both(net):
            nn.utils.clip_grad_norm_(net.parameters(), 0.02)
            noise(net)

        code, said = verdict_of(Changing(both).record("state"))
        self.assertEqual(code, PASS, said)
        self.assertIn("a change of the gradients", headline(said))
        code, said = verdict_of(Changing(both, windows=loops.UNEQUAL).record("state"))
        self.assertEqual(code, FAIL, said)

    def test_a_check_that_is_made_twice(self):
        recorder = Changing(made_unit).record("state")
        self.assertEqual([verdict_of(recorder)[0] for _ in range(2)], [PASS, PASS])


class BetweenMicroBatches(unittest.TestCase):
    def test_a_change_there(self):
        class Between(loops.Loop):
            def micro_batch(self, w, k, rows, sizes):
                if k == 2:
                    rows_zeroed(self.net)
                super().micro_batch(w, k, rows, sizes)

        for level in LEVELS:
            with self.subTest(level):
                code, said = verdict_of(Between(optimizer=loops.sgd(momentum=0.9)).record(level))
                self.assertEqual(code, PASS, said)
                self.assertTrue(headline(said).startswith(CHANGED), said)
                self.assertRegex(said, r"a change of the gradients: window 0, before micro-batch 2, at \S+: model.0.weight by 0")

    def test_a_buffer_that_the_next_backward_overwrites(self):
        class Static(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight, held):
                ctx.save_for_backward(x, weight)
                ctx.held = held
                return x @ weight.t()

            @staticmethod
            def backward(ctx, gradient):
                x, weight = ctx.saved_tensors
                ctx.held[0].copy_(gradient.t() @ x)
                return gradient @ weight, ctx.held[0].detach() if ctx.held[1] else ctx.held[0].clone(), None

        class Graphed(nn.Module):
            def __init__(self, shares):
                super().__init__()
                self.weight = nn.Parameter(torch.randn(4, 6) / 3)
                self.held = torch.empty(4, 6), shares

            def forward(self, x):
                return Static.apply(x, self.weight, self.held)

        code, said = verdict_of(loops.Loop(model=lambda: Graphed(False)).record("state"))
        self.assertEqual((code, headline(said)), (PASS, "pass"), said)
        code, said = verdict_of(loops.Loop(model=lambda: Graphed(True)).record("state"))
        self.assertEqual(code, FAIL, said)
        self.assertIn("fail: window 0, micro-batch 1, gradient of model.weight: .grad shares its memory with a tensor that this "
                      "backward pass returns", headline(said))


if __name__ == "__main__":
    unittest.main()
