#!/usr/bin/env python3
"""Loops recorded by a sample of their elements: python3 tests/recorder/loops/samples_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest
import warnings

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402

import loops  # noqa: E402
from tally_recorder.capture.parameters import Samples  # noqa: E402
from verdicts import headline  # noqa: E402

PASS, FAIL, ERROR = 0, 1, 2
FEW = 10  # of 48 and 32 elements in the two weights
BY_ELEMENT = ("SGD", "SGD, momentum", "SGD, L2", "Adam, L2", "AdamW", "AdamW, groups", "RMSprop", "clip by value",
              "schedule, stated", "unequal, by items", "divided at the end", "ignored targets", "short last window",
              "GradScaler", "step with a closure")
BY_ALL = ("clip by norm", "GradScaler, clip", "GradScaler, skipped step", "divided at the end, clip")
WRONG = ("mean of means", "no zero_grad", "step per micro-batch", "not divided", "tail by the configured K",
         "schedule per micro-batch", "L2 for decoupled", "clip before unscale")


class OwnClip(loops.Loop):
    """A loop that scales its gradients by code of its own."""

    def __init__(self, own, **options):
        super().__init__(**options)
        self.own = own

    def step(self):
        self.own(self.net)
        super().step()


class Sampled(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")

    def test_right_loops_pass_and_say_that_they_were_sampled(self):
        for name in BY_ELEMENT + BY_ALL:
            for level in ("parameters", "state", "all"):
                with self.subTest(name, level=level):
                    code, said = loops.judged(loops.right_loops()[name], level, samples=FEW)
                    self.assertEqual(code, PASS, said)
                    self.assertRegex(said, r"judged by samples: \d\d of 92 elements, at most 10 of each tensor \(seed 1\)")
                    left_out = "elements outside the sample, the loss beside its factor"
                    left_out += ", some tensors" if level == "parameters" else ""  # no gradient tells what a sum is to be
                    self.assertEqual(headline(said), f"pass, but not judged: {left_out}")

    def test_wrong_loops_are_seen_and_named(self):
        for name in WRONG:
            for level in ("gradients", "state", "all"):
                with self.subTest(name, level=level):
                    code, said = loops.judged(loops.wrong_loops()[name], level, samples=FEW)
                    self.assertEqual((code, loops.cause(said)), (FAIL, loops.CAUSES[name]), said)

    def test_a_clip_per_micro_batch_fails_and_is_told_by_the_recorder(self):
        """Of a micro-batch alone no sum is taken, so that no restatement has its norm."""
        code, said = loops.judged(loops.wrong_loops()["clip per micro-batch"], "state", samples=FEW)
        self.assertEqual((code, loops.cause(said)), (FAIL, ""), said)
        self.assertIn("were changed between two micro-batches, as a clip per micro-batch does", said)

    def test_every_element_is_taken_where_there_are_no_more(self):
        code, said = loops.judged(loops.Loop(), "state", samples=48)
        self.assertEqual(code, PASS, said)
        self.assertNotIn("judged by samples", said)

    def test_a_clip_by_another_norm_is_refused(self):
        code, said = loops.judged(loops.Loop(clip=0.3), "state", samples=FEW, clip={"kind": "global_norm", "max_norm": 0.3, "norm": 1})
        self.assertEqual(code, ERROR, said)
        self.assertIn("error: clip: found the norm 1, expected 2 where elements are sampled", said)

    def test_a_clip_that_no_call_states_is_a_change(self):
        def clip(net):
            norm = torch.cat([each.grad.flatten() for each in net.parameters()]).norm()
            for each in net.parameters():
                each.grad.mul_(min(1.0, 0.05 / float(norm)))
        for windows in (loops.EQUAL[:1], loops.EQUAL):
            code, said = loops.judged(OwnClip(clip, windows=windows), "state", samples=FEW)
            self.assertEqual(code, PASS, said)
            self.assertIn("not judged: a change of the gradients: before the step of window 0: all gradients multiplied by ", said)

    def test_a_count_that_is_none_is_refused(self):
        for count in (0, -1, 1.5, True, "many"):
            with self.subTest(count):
                with self.assertRaisesRegex(loops.tally_recorder.CaptureError, "^samples: found "):
                    loops.Loop().record("state", samples=count)

    def test_places_are_the_same_at_every_stage_and_in_every_run(self):
        weight = torch.nn.Parameter(torch.arange(1000.0).reshape(10, 100))
        first, second = (Samples({"w": weight}, 50) for _ in range(2))
        self.assertTrue(torch.equal(first.of("w", weight), second.of("w", weight)))
        self.assertEqual(first.shape("w", weight), [len(first.of("w", weight))])
        self.assertEqual(first.of("w", weight).unique().numel(), first.shape("w", weight)[0])


if __name__ == "__main__":
    unittest.main()
