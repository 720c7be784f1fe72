#!/usr/bin/env python3
"""Right loops that look like wrong ones are not accused: python3 tests/recorder/loops/ordinary_loops_test.py

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
from verdicts import FAIL, PASS, UNJUDGED, verdict_of, headline  # noqa: E402


class Clips(unittest.TestCase):
    def test_a_clip_without_a_limit_only_logs_the_norm(self):
        class Loop(loops.Loop):
            def step(self):
                nn.utils.clip_grad_norm_(self.net.parameters(), float("inf"))
                super().step()

        code, said = verdict_of(Loop().record("state"))
        self.assertEqual(code, PASS, said)
        self.assertIn("assumed: clip is none", said)


class Options(unittest.TestCase):
    def cycled(self, optimizer, **options):
        def schedule(opt):
            opt.rates = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=10, **options)
            return opt.rates

        return loops.Loop(optimizer, schedule=schedule)

    def test_options_that_change_are_followed(self):
        for optimizer, name in ((loops.sgd(momentum=0.9), "momentum"), (loops.adam(), "betas")):
            with self.subTest(name):
                code, said = verdict_of(self.cycled(optimizer).record("state"))
                self.assertEqual(code, PASS, said)
                self.assertIn(f"not judged: the optimizer's algorithm ({name} was ", said)

    def test_windows_apart_have_their_own_options(self):
        code, said = verdict_of(self.cycled(loops.sgd(momentum=0.9)).record("state", windows=1, every=1))
        self.assertEqual(code, PASS, said)

    def test_options_that_stay_are_printed(self):
        code, said = verdict_of(self.cycled(loops.adam(eps=0.5), cycle_momentum=False).record("state"))
        self.assertEqual(code, PASS, said)
        self.assertIn("assumed: optimizer is adam (eps 0.5, beta1 0.9, beta2 0.999), the options in force", said)


class Rates(unittest.TestCase):
    """A rate that is set before the step."""

    def loop(self, place):
        class Loop(loops.Loop):
            def set(self, w):
                self.opt.param_groups[0]["lr"] = 0.25 / (w + 2)

            def micro_batch(self, w, k, rows, sizes):
                self.now = w
                if k == place:
                    self.set(w)
                super().micro_batch(w, k, rows, sizes)

            def step(self):
                if place is None:
                    self.set(self.now)
                super().step()

        return Loop()

    def test_a_rate_that_is_set_after_the_last_backward_pass(self):
        code, said = verdict_of(self.loop(None).record("state"))
        self.assertEqual(code, PASS, said)
        self.assertIn("the rates in force at the steps, set after each window's last backward pass", said)
        self.assertNotIn("the rate moved", said)

    def test_a_rate_that_is_set_between_micro_batches_is_judged(self):
        for place in (1, 3):
            code, said = verdict_of(self.loop(place).record("state"))
            self.assertEqual(code, FAIL, said)
            self.assertIn("the rate moved after the window began and before its step", said)


class Experts(unittest.TestCase):
    """A parameter that the first micro-batches of a window do not reach."""

    def test_each_micro_batch_has_its_expert(self):
        class Loop(loops.Loop):
            to_none = True

            def micro_batch(self, w, k, rows, sizes):
                x, target = self.data(rows)
                (F.cross_entropy(self.net[k % 2](x), target) / 4).backward()

            def window(self, w, sizes):
                self.opt.zero_grad(set_to_none=self.to_none)
                for k, rows in enumerate(sizes):
                    self.micro_batch(w, k, rows, sizes)
                self.step()

        def experts():
            return nn.ModuleList([nn.Linear(6, 4), nn.Linear(6, 4)])

        for to_none in (True, False):
            for level in ("gradients", "state", "window"):
                with self.subTest(to_none=to_none, level=level):
                    loop = Loop(loops.sgd(momentum=0.9), model=experts)
                    loop.to_none = to_none
                    code, said = verdict_of(loop.record(level))
                    self.assertIn(code, (PASS, UNJUDGED) if level == "gradients" else (PASS,), said)
                    self.assertNotIn("was cleared", said)


class Outside(unittest.TestCase):
    """Parameters that no group of the optimizer holds."""

    def said(self, groups, added=False):
        class Loop(loops.Loop):
            def window(self, w, sizes):
                super().window(w, sizes)
                if added and w == 1:
                    self.net.zero_grad()
                    self.opt.add_param_group({"params": list(self.net[0].parameters())})

        code, said = verdict_of(Loop(groups=groups).record("state"))
        self.assertEqual(code, PASS, said)
        return said

    def test_gradients_that_no_step_uses(self):
        self.assertIn("not judged: model.0.weight (and 1 more) is in no group of the optimizer and receives gradients "
                      "that no step uses", self.said(lambda net: net[2].parameters()))

    def test_a_group_that_comes_later(self):
        self.assertIn("not judged: model.0.weight (and 1 more) was added to the optimizer after the recording began",
                      self.said(lambda net: net[2].parameters(), added=True))

    def test_all_are_held(self):
        said = self.said(lambda net: net.parameters())
        self.assertNotIn("in no group", said)


class LastLines(unittest.TestCase):
    def last(self, loop, **options):
        code, said = verdict_of(loop.record("state", **options))
        self.assertEqual(code, PASS, said)
        return headline(said)

    def test_a_pass_says_what_it_leaves_out(self):
        self.assertEqual(self.last(loops.Loop()), "pass")
        self.assertEqual(self.last(loops.Loop(), loss=False),
                         "pass, but not judged: the loss and its normalisation")
        self.assertEqual(self.last(loops.Loop(groups=lambda net: net[2].parameters())),
                         "pass, but not judged: some parameters")

    def test_batch_statistics_are_named(self):
        def model(training=True):
            net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.BatchNorm1d(8), nn.Linear(8, 4))
            return net.train(training)

        code, said = verdict_of(loops.Loop(model=model).record("state"))
        self.assertEqual(code, PASS, said)
        self.assertIn("not judged: the batch statistics of 1 (and 1 more): each micro-batch was normalised by its own "
                      "rows", said)
        self.assertEqual(headline(said), "pass, but not judged: batch statistics")
        self.assertEqual(self.last(loops.Loop(model=lambda: model(False))), "pass")

    def test_what_is_not_finite_is_named(self):
        class Loop(loops.Loop):
            def data(self, rows):
                x, target = super().data(rows)
                self.count = getattr(self, "count", -1) + 1
                return (x * float("nan") if self.count == 5 else x), target

        for level in ("state", "parameters"):
            code, said = verdict_of(Loop().record(level))
            self.assertEqual(code, FAIL, said)
            self.assertRegex(said, r"not finite: window 1, micro-batch 1, the loss \(and [0-9]+ more\)")
            self.assertTrue(headline(said).startswith("fail: the loss is NaN, first in window 1, micro-batch 1, and the step "), said)
            self.assertNotIn("looks like", said)

        class Left(Loop):
            """A step that it does not take."""
            def step(self):
                if all(bool(torch.isfinite(parameter.grad).all()) for parameter in self.net.parameters()):
                    return super().step()
                return self.opt.zero_grad()

        code, said = verdict_of(Left().record("state"))
        self.assertNotIn("fail: ", said)
        _, said = verdict_of(loops.Loop().record("state"))
        self.assertNotIn("not finite: ", said)


if __name__ == "__main__":
    unittest.main()
