"""Loops that are varied, right and wrong, and what is asked of their verdicts."""
import tempfile
import unittest

import torch
import torch.nn as nn
import torch.nn.functional as F

import tally_recorder

ROWS = 8
OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01),
    "AMSGrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True), "Adagrad": lambda p: torch.optim.Adagrad(p),
    "Adadelta": lambda p: torch.optim.Adadelta(p), "NAdam": lambda p: torch.optim.NAdam(p),
    "RAdam": lambda p: torch.optim.RAdam(p), "Adamax": lambda p: torch.optim.Adamax(p),
    "Rprop": lambda p: torch.optim.Rprop(p), "RMSprop": lambda p: torch.optim.RMSprop(p, centered=True)}


def network(*layers):
    return nn.Sequential(nn.Linear(6, 8), *layers, nn.Tanh(), nn.Linear(8, 4))


def made(optimizer=OPTIMIZERS["SGD"], *layers):
    model = network(*layers)
    return {"model": model, "optimizer": optimizer(model.parameters())}


def data(_):
    return {"x": torch.randn(ROWS, 6), "y": torch.randint(0, 4, (ROWS,))}


def rows_of(micro_batches):
    return sum(len(batch["x"]) for batch in micro_batches)


def loop(weigh, behind=lambda state: None, before=lambda state: None, clear="window"):
    """A step whose micro-batches' mean losses are weighed by `weigh(n, N, K)`."""
    def step(state, micro_batches):
        state["optimizer"].zero_grad()
        for batch in micro_batches:
            if clear == "micro-batch":
                state["optimizer"].zero_grad()
            loss = F.cross_entropy(state["model"](batch["x"]), batch["y"])
            (loss * weigh(len(batch["x"]), rows_of(micro_batches), len(micro_batches))).backward()
            behind(state)
        before(state)
        state["optimizer"].step()
    return step


RIGHT, MEANS = loop(lambda n, N, K: n / N), loop(lambda n, N, K: 1 / K)


def clip(state):
    nn.utils.clip_grad_norm_(state["model"].parameters(), 0.05)


def sharpness_aware(second):
    """SAM: `second` of the micro-batches are passed through again at the moved parameters."""
    def step(state, micro_batches):
        def passed(batches):
            state["optimizer"].zero_grad()
            for batch in batches:
                (F.cross_entropy(state["model"](batch["x"]), batch["y"], reduction="sum") / rows_of(batches)).backward()
        passed(micro_batches)
        with torch.no_grad():
            parameters = list(state["model"].parameters())
            norm = torch.stack([parameter.grad.norm() for parameter in parameters]).norm()
            moves = [0.05 * parameter.grad / norm for parameter in parameters]
            for parameter, move in zip(parameters, moves):
                parameter += move
        passed(second(micro_batches))
        with torch.no_grad():
            for parameter, move in zip(parameters, moves):
                parameter -= move
        state["optimizer"].step()
    return step


def adversarial(divide):
    """A GAN with two optimizers; `divide(n, N, K)` weighs each mean."""
    def make():
        one, other = nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
        return [one, other, torch.optim.Adam(one.parameters()), torch.optim.Adam(other.parameters())]

    def step(state, micro_batches):
        generator, critic, of_generator, of_critic = state
        K, N = len(micro_batches), rows_of(micro_batches)
        for optimizer, sign in ((of_critic, 1), (of_generator, -1)):
            of_critic.zero_grad(), of_generator.zero_grad()
            for batch in micro_batches:
                made_up = critic(generator(batch["x"][:, :4]))
                loss = F.softplus(sign * made_up).mean() + (F.softplus(-critic(batch["x"])).mean() if sign > 0 else 0)
                (loss * divide(len(batch["x"]), N, K)).backward()
            optimizer.step()
    return make, step


def varied(step, make=made, **options):
    with tempfile.TemporaryDirectory() as folder:
        return tally_recorder.vary(step, make=make, **{"data": data, "rows": ROWS, "out": folder, **options})


class Varied(unittest.TestCase):
    """What is said of a loop."""

    def passes(self, step, make=made, **options):
        verdict = varied(step, make, **options)
        self.assertTrue(verdict.passed, verdict.sentence)
        verdict.raise_if_failed()

    def fails(self, cause, step, make=made, said="", **options):
        verdict = varied(step, make, **options)
        self.assertFalse(verdict.passed, verdict)
        self.assertEqual(verdict.cause, cause, verdict.sentence)
        self.assertIn(said, verdict.sentence)
        self.assertRaises(AssertionError, verdict.raise_if_failed)
        return verdict

    def refused(self, words, step, make=made, **options):
        with self.assertRaisesRegex(tally_recorder.CaptureError, words):
            varied(step, make, **options)
