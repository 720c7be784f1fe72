#!/usr/bin/env python3
"""Clips are seen by whichever name a loop calls them: python3 tests/recorder/steps/clips_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest
import unittest.mock

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
from torch.nn.utils import clip_grad_norm_, clip_grad_value_  # noqa: E402

import loops  # noqa: E402
from verdicts import ERROR, FAIL, PASS, verdict_of, headline  # noqa: E402


def clipping(clip, after=False, **options):
    """A right loop but for what it does before its step, or after it."""
    class Loop(loops.Loop):
        def step(self):
            if not after:
                clip(self.net)
            super().step()
            if after:
                clip(self.net)

    return Loop(**options)


class ImportedByName(unittest.TestCase):
    def test_a_clip_after_the_step_does_not_pass(self):
        for after, expected in ((False, PASS), (True, FAIL)):
            loop = clipping(lambda net: clip_grad_norm_(net.parameters(), 0.01), after)
            code, said = verdict_of(loop.record("state"))
            self.assertEqual(code, expected, said)
            self.assertEqual("assumed: clip is global_norm (max_norm 0.01, norm 2), as the loop calls it" in said, not after, said)

    def test_other_norms_and_values(self):
        for clip in (lambda net: clip_grad_norm_(net.parameters(), 0.1, norm_type=1),
                     lambda net: clip_grad_norm_(parameters=net.parameters(), max_norm=0.03, norm_type=float("inf")),
                     lambda net: clip_grad_value_(net.parameters(), 0.02)):
            code, said = verdict_of(clipping(clip).record("state"))
            self.assertEqual(code, PASS, said)

    def test_where_gradients_are_divided_once_a_window(self):
        said_divide = {"windows": loops.UNEQUAL, "divide": "at the end", "said_divide": "window"}

        class Loop(loops.Loop):
            def step(self):
                for parameter in self.net.parameters():
                    parameter.grad.div_(self.items)
                clip_grad_norm_(self.net.parameters(), 0.05)
                self.opt.step()

        code, said = verdict_of(Loop(**said_divide).record("state"))
        self.assertEqual(code, PASS, said)
        code, said = verdict_of(loops.Loop(**said_divide).record("state"))
        self.assertEqual(code, PASS, said)
        self.assertIn("assumed: clip is none, as no call of PyTorch's clips was seen; another clip would not be", said)

    def test_the_names_are_given_back(self):
        before = clip_grad_norm_, nn.utils.clip_grad_norm_
        space = {}

        class Loop(loops.Loop):
            def step(self):
                module = type(sys)("imported_while_recording")
                sys.modules[module.__name__] = module
                exec("from torch.nn.utils import clip_grad_norm_", vars(module))
                space["inside"] = module.clip_grad_norm_
                super().step()

        Loop().record("state")
        module = sys.modules.pop("imported_while_recording")
        self.assertIsNot(space["inside"], before[0])
        self.assertEqual((clip_grad_norm_, nn.utils.clip_grad_norm_, module.clip_grad_norm_), (*before, before[0]))


class NotStated(unittest.TestCase):
    """Calls that no case can state are named, and the rest is judged."""

    def named(self, clip, expected):
        code, said = verdict_of(clipping(clip).record("state"))
        self.assertEqual(code, PASS, said)
        self.assertIn(f"not judged: a clip ({expected}", said)
        self.assertIn("a clip", headline(said))
        return said

    def test_a_clip_of_each_layer(self):
        def each(net):
            for layer in (net[0], net[2]):
                clip_grad_norm_(layer.parameters(), 0.1)

        said = self.named(each, "clip_grad_norm_(0.1, norm_type=2): it was called over at most 2 of 4 parameters)")
        self.assertIn("not judged: a change of the gradients: before the step of window 0, at ", said)

    def test_a_clip_of_some(self):
        for clip in (lambda net: clip_grad_norm_(net[0].parameters(), 0.1),
                     lambda net: clip_grad_norm_(net[0].weight, 100.0),
                     lambda net: clip_grad_value_(net[2].parameters(), 0.02)):
            self.named(clip, "clip_grad_")

    def test_a_clip_over_others_as_well(self):
        def groups(net):
            return net[2].parameters()

        for freeze in (False, True):
            class Loop(loops.Loop):
                def step(self):
                    if freeze:
                        self.net[0].zero_grad(set_to_none=False)
                    clip_grad_norm_(self.net.parameters(), 0.1)
                    super().step()

            code, said = verdict_of(Loop(groups=groups).record("state"))
            self.assertEqual(code, PASS, said)
            self.assertEqual("not judged: a clip (clip_grad_norm_(0.1, norm_type=2): its norm included gradients that are not "
                             "recorded)" in said, not freeze, said)

    def test_two_in_a_row(self):
        def both(net):
            clip_grad_value_(net.parameters(), 0.05)
            clip_grad_norm_(net.parameters(), 0.1)

        self.named(both, "clip_grad_value_(0.05) and clip_grad_norm_(0.1, norm_type=2): a case states one clip)")

    def test_another_norm(self):
        for norm in (3, 2.5):
            self.named(lambda net: clip_grad_norm_(net.parameters(), 0.1, norm),
                       f"clip_grad_norm_(0.1, norm_type={norm}): a case states the norms 1, 2 and inf)")

    def test_clamps_of_each_layer_by_one_limit_are_one(self):
        def each(net):
            for layer in (net[0], net[2]):
                clip_grad_value_(layer.parameters(), 0.02)

        code, said = verdict_of(clipping(each).record("state"))
        self.assertEqual(code, PASS, said)

    def test_calls_that_are_not_this_window_s(self):
        other = nn.Linear(2, 2)
        code, said = verdict_of(clipping(lambda net: clip_grad_norm_(other.parameters(), 0.1)).record("state"))
        self.assertEqual(code, PASS, said)
        self.assertIn("assumed: clip is none", said)

        class Loop(loops.Loop):
            def window(self, w, sizes):
                self.limit = 0.02 if w < 2 else 0.01
                super().window(w, sizes)

            def step(self):
                clip_grad_norm_(self.net.parameters(), self.limit)
                super().step()

        code, said = verdict_of(Loop().record("state", start=2))
        self.assertEqual(code, PASS, said)
        self.assertIn("assumed: clip is global_norm (max_norm 0.01, norm 2), as the loop calls it", said)


class Norms(unittest.TestCase):
    def test_the_norm_of_a_clip_over_all_is_judged(self):
        for level in ("parameters", "state", "all"):
            code, said = verdict_of(loops.Loop(clip=0.02).record(level))
            self.assertEqual(code, PASS, said)
            self.assertRegex(said, r"\n(unscale\.\.)?norm +3 +0 ")

    def test_another_norm_than_that_of_the_gradients_fails(self):
        def twice(parameters, limit):
            return 2 * clip_grad_norm_(parameters, limit / 2)
        with unittest.mock.patch("torch.nn.utils.clip_grad.clip_grad_norm_", twice):
            code, said = verdict_of(clipping(lambda net: torch.nn.utils.clip_grad.clip_grad_norm_(net.parameters(), 0.02))
                                    .record("state"))
        self.assertEqual(code, FAIL, said)
        self.assertIn("w0/norm/norm", said)


class Divisions(unittest.TestCase):
    """Gradients that are divided once a window are no clip."""

    @staticmethod
    def dividing(divide, **options):
        def change(net):
            for parameter in net.parameters():
                divide(parameter.grad)
        loop = clipping(change, **options)
        loop.wrong = "not divided"
        return loop

    def test_they_are_named(self):
        for how, divide, windows in (("divided by 4", lambda grad: grad.div_(4), loops.EQUAL),
                                     ("divided by 3", lambda grad: grad.div_(3), loops.EQUAL),
                                     ("divided by 4", lambda grad: grad.div_(4), [[4] * 4]),
                                     ("multiplied by 0.3", lambda grad: grad.mul_(0.3), loops.EQUAL)):
            with self.subTest(how):
                code, said = verdict_of(self.dividing(divide, windows=windows).record("state"))
                self.assertEqual(code, ERROR, said)
                self.assertEqual(said.count("error: "), 1, said)
                self.assertIn(f"error: the gradients before the step: found all of a window {how}", said)
                self.assertNotIn("the clip: found", said)

    def test_what_they_are_told_to_pass_passes(self):
        loop = self.dividing(lambda grad: grad.div_(4), said_divide="window", normalisation="mean_of_means")
        code, said = verdict_of(loop.record("state"))
        self.assertEqual(code, PASS, said)

    def test_a_clip_of_ones_own_is_still_one(self):
        def own(net):
            norm = torch.sqrt(sum(parameter.grad.square().sum() for parameter in net.parameters()))
            for parameter in net.parameters():
                parameter.grad.mul_(0.05 / (norm + 1e-6))

        code, said = verdict_of(clipping(own).record("state"))
        self.assertEqual(code, PASS, said)
        self.assertIn("assumed: clip is global_norm (max_norm 0.05), as all gradients were multiplied by one", said)


if __name__ == "__main__":
    unittest.main()
