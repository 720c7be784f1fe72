#!/usr/bin/env python3
"""Windows that no count of backward passes cuts narrow what is judged: python3 tests/recorder/steps/backward_passes_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import loops  # noqa: E402
from verdicts import FAIL, PASS, verdict_of, headline  # noqa: E402

LEVELS = ("parameters", "gradients", "state", "window", "all")


class Taken(unittest.TestCase):
    """Gradients by torch.autograd.grad."""

    def test_a_weight_of_a_term(self):
        class Adaptive(loops.Loop):
            def divided(self, y, target, sizes):
                one, other = F.cross_entropy(y, target), y.square().mean()
                last = self.net[2].weight
                norms = [torch.autograd.grad(each, last, retain_graph=True)[0].norm() for each in (one, other)]
                return (one + (norms[0] / norms[1]).detach() * other) / len(sizes)

        for options, expected in (({}, PASS), ({"windows": loops.UNEQUAL}, FAIL)):
            code, said = verdict_of(Adaptive(**options).record("state"))
            self.assertEqual(code, expected, said)
        self.assertIn("looks like mean-of-means", said.splitlines()[-1])

    def test_an_inner_step(self):
        class Inner(loops.Loop):
            def divided(self, y, target, sizes):
                inner = F.cross_entropy(y, target)
                slopes = torch.autograd.grad(inner, list(self.net.parameters()), create_graph=True)
                return F.cross_entropy(y, target) / len(sizes) + 0.1 * sum(slope.square().sum() for slope in slopes) / len(sizes)

        code, said = verdict_of(Inner().record("state"))
        self.assertEqual(code, PASS, said)

    def test_they_are_put_into_grad(self):
        class ByHand(loops.Loop):
            def window(self, w, sizes):
                held = list(self.net.parameters())
                total = [torch.zeros_like(parameter) for parameter in held]
                for rows in sizes:
                    x, target = self.data(rows)
                    for value, one in zip(total, torch.autograd.grad(self.divided(self.net(x), target, sizes), held)):
                        value += one
                for parameter, value in zip(held, total):
                    parameter.grad = value
                self.step()

        for level in LEVELS:
            with self.subTest(level):
                code, said = verdict_of(ByHand(optimizer=loops.adam()).record(level))
                self.assertEqual(code, PASS, said)
                self.assertTrue(headline(said).startswith("pass, but not judged: the loss and its normalisation, a change of the "
                                                                 "gradients"), said)
        code, said = verdict_of(ByHand(optimizer=loops.adam(weight_decay=0.1), weight_decay={"kind": "decoupled", "lambda": 0.1})
                                .record("state"))
        self.assertEqual(code, FAIL, said)

    def test_the_names_are_given_back(self):
        before = torch.autograd.grad
        loops.Loop().record("state")
        self.assertIs(torch.autograd.grad, before)


class Windows(unittest.TestCase):
    """Windows that no count of backward passes cuts."""

    def test_a_window_without_a_step(self):
        for left_out in (0, 1, 2):
            class Loop(loops.Loop):
                def window(self, w, sizes):
                    self.now = w
                    super().window(w, sizes)

                def step(self):
                    if self.now != left_out:
                        super().step()

            for level in LEVELS:
                with self.subTest(left_out, level=level):
                    code, said = verdict_of(Loop(optimizer=loops.sgd(momentum=0.9)).record(level))
                    self.assertEqual(code, PASS, said)
                    self.assertTrue(headline(said).startswith("pass, but not judged: windows without a step"), said)
                    self.assertIn(f"not judged: a window without a step: window {left_out}, as the loop cleared its gradients", said)
            code, said = verdict_of(Loop(windows=loops.UNEQUAL).record("state"))
            self.assertEqual((code, loops.cause(said)), (FAIL, "mean-of-means"), said)

    def two(self, own, counted=4):
        """Two losses, each with a backward pass of its own."""
        class Loop(loops.Loop):
            def micro_batch(self, w, k, rows, sizes):
                over = len(sizes) * rows if own else sum(sizes)
                x, target = self.data(rows)
                (F.cross_entropy(self.net(x), target, reduction="sum") / over).backward()
                x, target = self.data(rows)
                (0.5 * F.cross_entropy(self.net(x), target, reduction="sum") / over).backward()

        return verdict_of(Loop(windows=loops.UNEQUAL).record("state", micro_batches=counted))

    def test_two_backward_passes_a_micro_batch(self):
        code, said = self.two(False)
        self.assertEqual((code, headline(said)), (
            PASS, "pass, but look at the backward passes; not judged: the loss beside its factor"), said)
        self.assertIn("look at the backward passes: a window calls backward at ", said)
        self.assertRegex(said, r"assumed: cross_entropy at \S+ has the coefficient 0.5")
        code, said = self.two(True)
        self.assertEqual(code, FAIL, said)
        self.assertIn("looks like mean-of-means", said.splitlines()[-1])

    def test_two_that_were_counted_as_micro_batches(self):
        code, said = self.two(False, counted=8)
        self.assertEqual((code, headline(said)), (
            PASS, "pass, but look at the backward passes; not judged: the loss beside its factor"), said)
        self.assertIn("4 times each", said)
        code, said = self.two(True, counted=8)
        self.assertEqual(code, FAIL, said)
        self.assertIn("looks like mean-of-means", said.splitlines()[-1])

    def test_a_second_pass_at_other_weights(self):
        """SAM: gradients at weights that the first pass has moved."""
        for over, expected in ((4, PASS), (1, FAIL)):
            class Loop(loops.Loop):
                def window(self, w, sizes):
                    state, rows = torch.get_rng_state(), list(sizes)
                    super().window(w, sizes)
                    kept = [parameter.detach().clone() for parameter in self.net.parameters()]
                    with torch.no_grad():
                        for parameter in self.net.parameters():
                            parameter.add_(parameter.grad)
                    self.opt.zero_grad()
                    torch.set_rng_state(state)
                    for k in range(over):
                        self.micro_batch(w, k, rows[k], sizes)
                    with torch.no_grad():
                        for parameter, value in zip(self.net.parameters(), kept):
                            parameter.copy_(value)
                    self.opt.step()

                def step(self):
                    pass

            code, said = verdict_of(Loop(optimizer=loops.sgd(momentum=0.9)).record("state"))
            self.assertEqual(code, expected, said)
            self.assertIn("a window without a step: window 0", said)
            last = "pass, but not judged: the optimizer's algorithm, what is changed after a step, windows without a step" if over == 4 else (
                "fail: window 1: the gradients of its step were taken at other weights than the step before it left, as in the second "
                "pass of SAM, from 1 of 4 micro-batches; run that pass over all 4 (and 2 more like this)")
            self.assertTrue(headline(said).startswith(last), said)

    def test_a_loop_that_steps_too_seldom_is_no_such_loop(self):
        class Loop(loops.Loop):
            def window(self, w, sizes):
                if w % 2 == 0:
                    self.opt.zero_grad()
                for k, rows in enumerate(sizes):
                    self.micro_batch(w, k, rows, sizes)
                if w % 2:
                    self.step()

        code, said = verdict_of(Loop(windows=[[4] * 4] * 4).record("state"))
        self.assertEqual(code, 2, said)
        self.assertIn("error: window 0: found no step in 4 micro-batches, and one after 8", said)

    def test_one_backward_pass_for_all(self):
        class Loop(loops.Loop):
            def window(self, w, sizes):
                self.opt.zero_grad()
                loss = 0
                for rows in sizes:
                    x, target = self.data(rows)
                    loss = loss + self.divided(self.net(x), target, sizes)
                loss.backward()
                self.step()

        code, said = verdict_of(Loop().record("state"))
        self.assertEqual((code, headline(said)), (PASS, "pass, but not judged: the loss beside its factor"), said)
        self.assertIn("assumed: one backward pass goes through all 4 micro-batches of a window", said)
        self.assertNotIn("has the coefficient", said)
        code, said = verdict_of(Loop(windows=loops.UNEQUAL).record("state"))
        self.assertEqual(code, FAIL, said)
        self.assertIn("looks like mean-of-means", said.splitlines()[-1])

    def test_a_micro_batch_that_is_not_finite_is_left_out(self):
        class Loop(loops.Loop):
            def micro_batch(self, w, k, rows, sizes):
                x, target = self.data(rows)
                loss = self.divided(self.net(x * float("nan") if (w, k) == (1, 2) else x), target, sizes)
                if torch.isfinite(loss):
                    loss.backward()

        code, said = verdict_of(Loop().record("state"))
        self.assertEqual((code, loops.cause(said)), (FAIL, "last-window-wrong-divisor"), said)
        self.assertIn("window 1: 1 of 4 micro-batches left out (a forward pass without a backward pass)", said)
        code, said = verdict_of(Loop(normalisation="mean_of_means_configured").record("state"))
        self.assertEqual((code, headline(said)), (PASS, "pass"), said)


if __name__ == "__main__":
    unittest.main()
