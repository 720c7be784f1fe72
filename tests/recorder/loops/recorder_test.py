#!/usr/bin/env python3
"""The recorder's parts, without the program that judges: python3 tests/recorder/loops/recorder_test.py"""
import os
import sys
import tempfile
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402

import loops  # noqa: E402
import tally_recorder  # noqa: E402
from tally_recorder import recipe, verdict  # noqa: E402
from tally_recorder.capture.accumulation import Change  # noqa: E402
from tally_recorder.recipe import Meaning  # noqa: E402
from tally_recorder.capture.windows import Plan  # noqa: E402
from tally_recorder.capture.segment import Scratch  # noqa: E402
from verdicts import headline  # noqa: E402


def change_of(before, after):
    change = Change()
    for i, (a, b) in enumerate(zip(before, after)):
        change.offer(f"p{i}", a, b)
    return change


class Changes(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.before = [torch.randn(5, 3), torch.randn(7), torch.zeros(2)]

    def test_nothing_changed(self):
        self.assertEqual(change_of(self.before, self.before).kind, "none")

    def test_a_common_factor(self):
        factor = torch.tensor(0.37)
        change = change_of(self.before, [g * factor for g in self.before])
        self.assertEqual((change.kind, change.factor), ("factor", float(factor)))

    def test_factors_that_differ_are_no_clip(self):
        self.assertEqual(change_of(self.before, [g * (0.5 + i) for i, g in enumerate(self.before)]).kind, "unexplained")

    def test_a_clamp(self):
        change = change_of(self.before, [g.clamp(-0.25, 0.25) for g in self.before])
        self.assertEqual((change.kind, change.limit), ("clamp", 0.25))

    def test_one_other_bit_is_unexplained(self):
        after = [g.clone() for g in self.before]
        after[0].view(torch.int32)[2, 1] += 1
        change = change_of(self.before, after)
        self.assertEqual((change.kind, change.place), ("unexplained", "p0"))

    def test_the_limit_of_a_clip_is_recognised(self):
        for limit in (1.0, 0.3, 0.05, 1.25):
            parameters = [torch.nn.Parameter(g) for g in self.before]
            for parameter, g in zip(parameters, self.before):
                parameter.grad = 8 * g
            torch.nn.utils.clip_grad_norm_(parameters, limit)
            change = change_of([8 * g for g in self.before], [p.grad for p in parameters])
            self.assertEqual(recipe.limits_of([change]), [limit])


class Files(unittest.TestCase):
    def test_tensors_come_back(self):
        scratch = Scratch()
        given = [torch.randn(3, 2), torch.tensor(7), torch.randn(4).to(torch.bfloat16), torch.empty(0, 3)]
        kept = [scratch.put(value) for value in given]
        for value, place in zip(given, kept):
            self.assertTrue(torch.equal(value, scratch.tensor(place)))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.safetensors")
            verdict.write_tensors(path, {"both": [kept[0], kept[0]], "one": [kept[1]]}, scratch, {"k": "v"})
            with open(path, "rb") as file:
                size = int.from_bytes(file.read(8), "little")
                header, data = file.read(size), file.read()
            self.assertEqual(size % 8, 0)
            self.assertIn(b'"shape": [6, 2]', header)
            self.assertEqual(len(data), 8 + 2 * 24)


class Windows(unittest.TestCase):
    def test_places_repeat(self):
        meaning = Meaning([2, 1], "state", None, None, None, None, True)
        self.assertEqual([meaning.place(i) for i in range(5)],
                         [(0, 0, 2), (0, 1, 2), (1, 0, 1), (2, 0, 2), (2, 1, 2)])

    def test_two_in_ten(self):
        plan = Plan(2, 1, 10)
        self.assertEqual([w for w in range(23) if plan.segment_of(w)[1]], [1, 2, 11, 12, 21, 22])
        self.assertEqual(plan.segment_of(12), (11, True))

    def test_stretches_are_kept_apart(self):
        loop = loops.Loop(loops.adam(), windows=[[2] * 4] * 7)
        recorder = loop.record("state", windows=1, start=1, every=3)
        self.assertEqual([(s.first, len(s.windows), s.step) for s in recorder.capture.segments], [(1, 1, 1), (4, 1, 4)])


class Errors(unittest.TestCase):
    def test_no_window_with_a_step(self):
        class Loop(loops.Loop):
            def step(self):
                pass

        with self.assertRaisesRegex(tally_recorder.CaptureError, "found no step in any of 3 windows, .* if another optimizer took the "
                                    "step, record both"):
            Loop().record("state").whole()

    def test_a_term_beside_the_loss_is_noted_where_the_decay_is_said(self):
        said = {"weight_decay": {"kind": "l2", "lambda": 0.5}}
        code, text = loops.judged(loops.Loop(loops.sgd(weight_decay=0.5), wrong="decay in the loss", **said), "state")
        self.assertEqual(code, 0, text)
        self.assertIn("window 0, micro-batch 0, gradient of model.0.bias: a term beside the loss reaches it", text)
        self.assertTrue(headline(text).endswith("pass, but not judged: the loss beside its factor"), text)

    def test_a_wrapped_optimizer(self):
        class Wrapped(torch.optim.Optimizer):
            def __init__(self, parameters):
                self.optimizer = loops.sgd()(parameters)
                super().__init__(self.optimizer.param_groups, {})

        with self.assertRaisesRegex(tally_recorder.CaptureError, "optimizer: found Wrapped, .*; pass its .optimizer"):
            loops.Loop(Wrapped).record("state")

    def test_no_count(self):
        with self.assertRaisesRegex(tally_recorder.CaptureError, "micro_batches: found 0, expected a count"):
            loops.Loop().record("state", micro_batches=0)

    def test_everything_is_taken_off_again(self):
        before = torch.autograd.backward, torch.nn.utils.clip_grad_norm_, torch.cuda.amp.GradScaler.unscale_
        loop = loops.Loop()
        loop.record("state")
        self.assertEqual(before, (torch.autograd.backward, torch.nn.utils.clip_grad_norm_,
                                  torch.cuda.amp.GradScaler.unscale_))
        self.assertNotIn("step", vars(loop.opt))


if __name__ == "__main__":
    unittest.main()
