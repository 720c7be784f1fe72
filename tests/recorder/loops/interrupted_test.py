#!/usr/bin/env python3
"""A loop that ends by an exception leaves its whole windows: python3 tests/recorder/loops/interrupted_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from recorder_path import PACKAGE  # noqa: E402
import torch  # noqa: E402

import loops  # noqa: E402
from tally_recorder import Recorder  # noqa: E402

PASS, FAIL, ERROR = 0, 1, 2

SCRIPT = """
import torch, torch.nn as nn
model = nn.Sequential(nn.Linear(3, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    (nn.CrossEntropyLoss()(model(torch.randn(4, 3)), torch.randint(0, 2, (4,))) / 2).backward()
    if step % 2:
        optimizer.step()
        optimizer.zero_grad()
raise KeyError("the script's own")
"""


class Loop(loops.Loop):
    """Raises `problem` at one place of the last window."""

    def __init__(self, problem, place, **options):
        super().__init__(**options)
        self.problem, self.place, self.now = problem, place, 0

    def micro_batch(self, w, k, rows, sizes):
        self.now = w
        super().micro_batch(w, k, rows, sizes)
        if (w, k) == self.place:
            raise self.problem

    def step(self):
        if self.place == (self.now, "before"):
            raise self.problem
        super().step()
        if self.place == (self.now, "after"):
            raise self.problem


def recorder_of(loop):
    """Keeps the recorder of a loop that raises; whether its exception came through."""
    entered, came = Recorder.__enter__, False

    def keep(recorder):
        loop.recorder = recorder
        return entered(recorder)

    Recorder.__enter__ = keep
    try:
        loops.Loop.record(loop, "state")
    except loop.problem:
        came = True
    finally:
        Recorder.__enter__ = entered
    return loop.recorder, came


TIED = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.fc = nn.Embedding(11, 8), nn.Linear(8, 8)

    def forward(self, tokens):
        h = self.wte(tokens)
        return h + self.fc(h)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = Body(), nn.Linear(8, 11, bias=False)
        self.head.weight = self.body.wte.weight

    def forward(self, tokens):
        return self.head(self.body(tokens))

torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(8):
    tokens = torch.randint(11, (3, 4))
    (F.cross_entropy(net(tokens).reshape(-1, 11), tokens.reshape(-1)) / 2).backward()
    if i % 2:
        optimizer.step()
        optimizer.zero_grad()
print("to its end")
"""


class Interrupted(unittest.TestCase):
    def check(self, recorder):
        lines = []
        with tempfile.TemporaryDirectory() as folder:
            return recorder.check(folder, show=lines.append), "\n".join(lines)

    def test_whole_windows_are_judged(self):
        for problem in (KeyboardInterrupt, ValueError):
            for place, windows in (((2, 1), 2), ((2, 3), 2), ((2, "before"), 2), ((2, "after"), 3), ((1, 0), 1)):
                with self.subTest(problem=problem.__name__, place=place):
                    recorder, came = recorder_of(Loop(problem, place))
                    self.assertTrue(came)
                    code, said = self.check(recorder)
                    self.assertEqual(code, PASS, said)
                    self.assertIn(f"the loop ended early, by {problem.__name__}", said)
                    self.assertEqual(len(recorder.capture.segments[0].windows), windows)

    def test_no_whole_window(self):
        code, said = self.check(recorder_of(Loop(KeyboardInterrupt, (0, 2)))[0])
        self.assertEqual(code, ERROR)
        self.assertIn("no whole window to record", said)

    def recorded(self, script, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(script)
            return subprocess.run([sys.executable, "-B", "-m", "tally_recorder", "--micro-batches", "2", *options, path],
                                  capture_output=True, text=True, cwd=folder,
                                  env={**os.environ, "PYTHONPATH": PACKAGE})

    def test_a_script_that_is_interrupted(self):
        done = self.recorded(SCRIPT.replace("KeyError(\"the script's own\")", "KeyboardInterrupt"))
        self.assertEqual(done.returncode, 130, done.stderr)
        self.assertIn("the loop ended early, by KeyboardInterrupt", done.stdout)

    def test_a_script_that_raises(self):
        done = self.recorded(SCRIPT)
        self.assertEqual(done.returncode, ERROR, done.stderr)
        self.assertIn("KeyError: \"the script's own\"", done.stderr)
        self.assertIn("the loop ended early, by KeyError", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "pass")

    def test_one_with_a_tied_head_is_recorded_whole(self):
        """A module inside of the model has all of its parameters as well. The first loss is in the model's first call."""
        names_are_heard = "with_kwargs" in torch.nn.Module.register_forward_pre_hook.__code__.co_varnames
        for call in ("net(tokens)", "net(tokens=tokens)") if names_are_heard else ("net(tokens)",):
            done = self.recorded(TIED.replace("net(tokens)", call), "--layers", "known", "--windows", "1", "--stop")
            self.assertEqual(done.returncode, PASS, done.stdout + done.stderr)
            self.assertIn("1 window", done.stdout)
            self.assertNotIn("to its end", done.stdout)

    def test_one_that_cannot_be_recorded_stops_at_once(self):
        script = TIED.replace("nn.Linear(8, 8)", "nn.Bilinear(8, 8, 8)").replace("self.fc(h)", "self.fc(h, h)")
        for options, to_its_end in ((["--windows", "1", "--stop"], False), ([], True)):
            done = self.recorded(script, "--layers", "known", *options)
            self.assertEqual((done.returncode, "to its end" in done.stdout), (ERROR, to_its_end), done.stdout + done.stderr)
            self.assertIn("error: layer body_fc: found Bilinear", done.stderr)


if __name__ == "__main__":
    unittest.main()
