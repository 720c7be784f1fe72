#!/usr/bin/env python3
"""Each of several optimizers is judged by itself, and a script runs to its end: python3 tests/recorder/steps/several_optimizers_test.py

The program is named by the variable TALLY, or found on the PATH."""
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

from cpu_scaler import scaler as cpu_scaler  # noqa: E402
from tally_recorder import CaptureError, Recorder  # noqa: E402
from verdicts import ERROR, FAIL, PASS, verdict_of, headline  # noqa: E402

SCRIPT = """
import torch, torch.nn as nn
G, D = nn.Sequential(nn.Linear(3, 6)), nn.Sequential(nn.Linear(6, 1))
og, od, unused = (torch.optim.Adam(net.parameters(), lr=1e-3) for net in (G, D, D))
for i in range(4):
    for _ in range(2):
        ((D(torch.randn(4, 6)).mean() - D(G(torch.randn(4, 3)).detach()).mean()) / 2).backward()
    od.step()
    od.zero_grad()
    for _ in range(2):
        (D(G(torch.randn(4, 3))).mean() / 2).backward()
    og.step()
    og.zero_grad()
    od.zero_grad()
print("it ended")
"""
NO_MODEL = """
import torch, torch.nn.functional as F
weight = torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([weight], lr=0.1)
for i in range(4):
    F.mse_loss(weight * 2, torch.zeros(3)).backward()
    optimizer.step()
    optimizer.zero_grad()
print("it ended")
"""


class Adversaries:
    """A GAN that does not freeze its discriminator while the generator trains."""

    def __init__(self, kind=torch.optim.Adam, clears=True, scaler=None):
        torch.manual_seed(0)
        self.nets = nn.Sequential(nn.Linear(3, 6)), nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
        self.optimizers = [kind(net.parameters(), lr=1e-3) for net in self.nets]
        self.clears, self.scaler = clears, scaler

    def judged_as(self, real, fake):
        return F.binary_cross_entropy_with_logits(real, torch.ones(4, 1)) + F.binary_cross_entropy_with_logits(fake, torch.zeros(4, 1))

    def back(self, loss):
        (self.scaler.scale(loss) if self.scaler else loss).backward()

    def step(self, optimizer):
        if self.scaler:
            self.scaler.step(optimizer)
        else:
            optimizer.step()
        optimizer.zero_grad()

    def train(self):
        generator, discriminator = self.nets
        for _ in range(3):
            for _ in range(2):
                fake = generator(torch.randn(4, 3)).detach()
                self.back(self.judged_as(discriminator(torch.randn(4, 6)), discriminator(fake)) / 2)
            self.step(self.optimizers[1])
            for _ in range(2):
                self.back(F.softplus(-discriminator(generator(torch.randn(4, 3)))).mean() / 2)
            self.step(self.optimizers[0])
            if self.clears:
                self.optimizers[1].zero_grad()
            if self.scaler:
                self.scaler.update()

    def recorded(self):
        with Recorder(list(self.nets), self.optimizers, micro_batches=2) as recorder:
            self.train()
        return recorder


class Each(unittest.TestCase):
    def test_a_gan(self):
        for kind, scaler in ((torch.optim.Adam, None), (torch.optim.NAdam, None), (torch.optim.Adam, cpu_scaler(init_scale=1024.0))):
            code, said = verdict_of(Adversaries(kind, scaler=scaler).recorded())
            self.assertEqual(code, PASS, said)
            self.assertIn(f"optimizer 0-{kind.__name__}:\n", said)
            self.assertIn(f"assumed: backward passes before a step of 0-{kind.__name__} are for that step", said)

    def test_what_the_generator_leaves_in_the_discriminators_window(self):
        code, said = verdict_of(Adversaries(clears=False).recorded())
        self.assertEqual(code, FAIL, said)
        self.assertIn("window 1, gradient of model.0.weight: was not cleared before the first micro-batch, and holds what backward passes "
                      "for the step of 0-Adam left there", said)

    def test_two_optimizers_of_one_model(self):
        for right in (True, False):
            torch.manual_seed(0)
            model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
            optimizers = [torch.optim.AdamW(model[0].parameters(), lr=1e-3), torch.optim.SGD(model[2].parameters(), lr=0.125)]
            with Recorder(model, optimizers, micro_batches=4) as recorder:
                for i in range(12):
                    (F.cross_entropy(model(torch.randn(4, 6)), torch.randint(0, 4, (4,))) / 4).backward()
                    for optimizer in optimizers[:2 if i % 4 == 3 else 0 if right else 1]:
                        optimizer.step()
                        optimizer.zero_grad()
            code, said = verdict_of(recorder)
            self.assertEqual(code, PASS if right else FAIL, said)
            self.assertTrue(headline(said).endswith("pass"), said)  # of the second
            self.assertNotIn("in no group", said)

    def test_one_takes_no_step(self):
        model = nn.Sequential(nn.Linear(6, 4))
        optimizers = [torch.optim.SGD(model.parameters(), lr=0.125) for _ in range(2)]
        with Recorder(model, optimizers, micro_batches=1) as recorder:
            F.cross_entropy(model(torch.randn(4, 6)), torch.randint(0, 4, (4,))).backward()
            optimizers[1].step()
        code, said = verdict_of(recorder)
        self.assertEqual(code, PASS, said)
        self.assertIn("not judged: optimizer 0-SGD, as it took no step", said)

    def test_mistakes(self):
        model = nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.125)
        for expected, models, optimizers in (("optimizer: found Linear in a list", model, [optimizer, model]),
                                             ("optimizer: found none in a list", model, []),
                                             ("model: found SGD in a list", [optimizer], [optimizer])):
            with self.assertRaisesRegex(CaptureError, f"^{expected}"):
                Recorder(models, optimizers, 2)


class Scripts(unittest.TestCase):
    def run_script(self, text):
        """The exit code, what the script printed, and all that was said."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([sys.executable, "-B", "-m", "tally_recorder", "--micro-batches", "2", "--out", os.path.join(folder, "out"),
                                   path], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PACKAGE})
        return done.returncode, done.stdout, done.stderr

    def test_several_optimizers(self):
        code, said, problems = self.run_script(SCRIPT)
        self.assertEqual((code, problems), (PASS, ""), said)
        self.assertTrue(said.startswith("it ended\noptimizer 0-Adam:\n"), said)
        self.assertIn("not judged: optimizer 2-Adam, as it took no step", said)

    def test_one_that_cannot_be_recorded_runs_to_its_end(self):
        code, said, problems = self.run_script(NO_MODEL)
        self.assertEqual((code, said), (ERROR, "it ended\n"), problems)
        self.assertEqual(len(problems.splitlines()), 1, problems)
        self.assertTrue(problems.startswith("error: the script: found no torch.nn.Module with all parameters"), problems)


if __name__ == "__main__":
    unittest.main()
