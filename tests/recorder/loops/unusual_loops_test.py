#!/usr/bin/env python3
"""Loops that do ordinary things in other ways leave the same taps: python3 tests/recorder/loops/unusual_loops_test.py"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from recorder_path import PACKAGE  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch.autograd import backward  # noqa: E402

import loops  # noqa: E402

SCRIPT = """
import torch, torch.nn as nn
from torch.nn.utils import clip_grad_norm_
model = nn.Sequential(nn.Linear(3, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(1000000):
    (nn.CrossEntropyLoss()(model(torch.randn(4, 3)), torch.randint(0, 2, (4,))) / 2).backward()
    if step % 2:
        clip_grad_norm_(model.parameters(), 0.01)
        optimizer.step()
        optimizer.zero_grad()
"""


class Loop(loops.Loop):
    """A loop whose micro-batch is written down by each test."""

    def __init__(self, body, model=loops.perceptron, **options):
        super().__init__(model=model, **options)
        self.body = body

    def micro_batch(self, w, k, rows, sizes):
        self.body(self.net, *self.data(rows))


def usual(net, x, target):
    (F.cross_entropy(net(x), target) / 4).backward()


def taps_of(body, level="window", **options):
    """What one loop leaves: the bytes of each tap by name, and what was said."""
    recorder = Loop(body, **options).record(level)
    segment = recorder.capture.segments[0]
    scratch = recorder.scratch
    return ({name: [scratch.tensor(part).tolist() for part in parts] for name, parts in segment.taps.items()},
            segment, recorder.capture.report)


class SameTaps(unittest.TestCase):
    def same(self, body, **options):
        taps, segment, report = taps_of(body, **options)
        expected, _, _ = taps_of(usual)
        self.assertEqual(report.problems(), [])
        self.assertEqual(sorted(taps), sorted(expected))
        self.assertEqual(taps, expected)
        self.assertEqual(segment.windows, loops.EQUAL)

    def test_backward_under_another_name(self):
        self.same(lambda net, x, t: backward(F.cross_entropy(net(x), t) / 4))

    def test_modules_in_place_of_functions(self):
        self.same(lambda net, x, t: (nn.CrossEntropyLoss()(net(x), t) / 4).backward())

    def test_an_evaluation_between_micro_batches(self):
        def body(net, x, t):
            F.cross_entropy(net(x), t)
            with torch.no_grad():
                F.cross_entropy(net(x), t)
            usual(net, x, t)
        self.same(body)

    def test_gradients_of_zeros_in_place_of_none(self):
        class Zeros(Loop):
            def window(self, w, sizes):
                super().window(w, sizes)
                for parameter in self.net.parameters():
                    parameter.grad.zero_()

        recorder = Zeros(usual).record("window")
        self.assertEqual(recorder.capture.report.problems() + recorder.capture.report.notes(), [])


class OtherModels(unittest.TestCase):
    def test_two_losses_are_not_stated(self):
        def body(net, x, t):
            y = net(x)
            ((F.cross_entropy(y, t) + F.mse_loss(y, torch.zeros_like(y))) / 4).backward()
        _, segment, report = taps_of(body)
        self.assertEqual(report.problems(), [])
        self.assertEqual(segment.losses, ["2 were seen"] * 12)
        self.assertEqual(segment.windows, loops.EQUAL)

    def test_a_backward_pass_twice_is_two_micro_batches(self):
        def body(net, x, t):
            loss = F.cross_entropy(net(x), t) / 8
            loss.backward(retain_graph=True)
            loss.backward()

        for options in ({}, {"samples": 10}):
            recorder = Loop(body).record("all", micro_batches=8, **options)
            segment = recorder.capture.segments[0]
            self.assertEqual((recorder.capture.report.problems(), segment.windows), ([], [[4] * 8] * 3))
            self.assertEqual(segment.losses[1::2], ["a backward pass went through it a second time"] * 12)

    def test_a_loss_of_ones_own_is_not_stated(self):
        _, segment, report = taps_of(lambda net, x, t: (net(x).square().sum() / 16).backward())
        self.assertEqual((report.problems(), segment.losses[0], segment.windows),
                         ([], "none was seen", loops.EQUAL))

    def test_a_parameter_that_nothing_uses(self):
        class Unused(nn.Module):
            def __init__(self):
                super().__init__()
                self.used, self.unused = loops.perceptron(), nn.Linear(2, 2)

            def forward(self, x):
                return self.used(x)

        _, segment, report = taps_of(usual, model=Unused)
        self.assertEqual(report.problems(), [])
        self.assertEqual(len(segment.touched), 4)


class Scripts(unittest.TestCase):
    def test_a_script_is_watched(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(SCRIPT)
            code = ("from tally_recorder.script import Watch; watch = Watch(True, micro_batches=2, windows=2, start=1); "
                    f"watch.run([{path!r}]); capture = watch.recorder.capture; "
                    "print(watch.clips.called, capture.segments[0].windows, capture.count)")
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": PACKAGE})
        self.assertEqual(done.stdout.strip(),
                         "[{'kind': 'global_norm', 'max_norm': 0.01, 'norm': 2}] [[4, 4], [4, 4]] 6", done.stderr)


if __name__ == "__main__":
    unittest.main()
