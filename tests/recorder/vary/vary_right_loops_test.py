#!/usr/bin/env python3
"""Loops that are right, drawn: none of them is accused. TALLY_LOOPS=500 draws as many: python3 tests/recorder/vary/vary_right_loops_test.py"""
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import tally_recorder  # noqa: E402

ROWS, TOKENS, WORDS = 8, 5, 7
LOOPS = int(os.environ.get("TALLY_LOOPS", "40"))


class Own(torch.optim.Optimizer):
    """One of a user's own: `change(parameter, gradient, state)` is what it adds, times the rate."""

    def __init__(self, params, lr, change):
        super().__init__(params, {"lr": lr})
        self.change = change

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter += group["lr"] * self.change(parameter, parameter.grad, self.state[parameter])


def lion(_, gradient, state):
    held = state.setdefault("held", torch.zeros_like(gradient))
    change = -(0.9 * held + 0.1 * gradient).sign()
    held.mul_(0.99).add_(gradient, alpha=0.01)
    return change


def layerwise(parameter, gradient, _):
    """LARS, of two norms."""
    return -gradient * (parameter.norm() + 1) / (gradient.norm() + 1)


def orthogonal(_, gradient, state):
    """Muon, of a matrix."""
    held = state.setdefault("held", torch.zeros_like(gradient)).mul_(0.9).add_(gradient)
    if held.dim() != 2:
        return -held
    x = held / (held.norm() + 1e-7)
    for _ in range(5):
        a = x @ x.t()
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return -x


def second_moments(_, gradient, state):
    """LAMB's and Adam's, without a momentum."""
    held = state.setdefault("held", torch.zeros_like(gradient)).mul_(0.9).addcmul_(gradient, gradient, value=0.1)
    return -gradient / (held.sqrt() + 1e-6)


O = torch.optim
OPTIMIZERS = {
    "SGD": lambda g: O.SGD(g, lr=0.1), "momentum": lambda g: O.SGD(g, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Nesterov": lambda g: O.SGD(g, lr=0.1, momentum=0.9, nesterov=True), "Adam": lambda g: O.Adam(g, lr=0.01, weight_decay=0.1),
    "AdamW": lambda g: O.AdamW(g, lr=0.01), "AMSGrad": lambda g: O.AdamW(g, lr=0.01, amsgrad=True),
    "maximize": lambda g: O.Adam(g, lr=0.01, maximize=True), "Adagrad": lambda g: O.Adagrad(g, lr=0.1), "Adadelta": O.Adadelta,
    "NAdam": lambda g: O.NAdam(g, lr=0.01), "RAdam": lambda g: O.RAdam(g, lr=0.01), "Adamax": lambda g: O.Adamax(g, lr=0.01),
    "Rprop": lambda g: O.Rprop(g, lr=0.01), "RMSprop": lambda g: O.RMSprop(g, lr=0.01),
    "centered": lambda g: O.RMSprop(g, lr=0.01, centered=True, momentum=0.5), "ASGD": lambda g: O.ASGD(g, lr=0.1),
    "Lion": lambda g: Own(g, 0.01, lion), "layer-wise": lambda g: Own(g, 0.05, layerwise), "Muon": lambda g: Own(g, 0.05, orthogonal),
    "second moments": lambda g: Own(g, 0.01, second_moments)}

# The sum of a loss over the rows, and what it is divided by: both of logits of 4 and a batch.
by_rows = lambda batch: len(batch["y"])  # noqa: E731
LOSSES = {
    "cross entropy": (lambda z, b: F.cross_entropy(z, b["y"], reduction="sum"), by_rows),
    "label smoothing": (lambda z, b: F.cross_entropy(z, b["y"], reduction="sum", label_smoothing=0.1), by_rows),
    "class weights": (lambda z, b: F.cross_entropy(z, b["y"], weight=torch.arange(1, 5).to(z), reduction="sum"), lambda b: (b["y"] + 1).sum()),
    "mse": (lambda z, b: F.mse_loss(z, b["x"][:, :4], reduction="sum"), lambda b: 4 * len(b["y"])),
    "binary": (lambda z, b: F.binary_cross_entropy_with_logits(z, F.one_hot(b["y"], 4).to(z), reduction="sum"), by_rows),
    "smooth L1": (lambda z, b: F.smooth_l1_loss(z, b["x"][:, :4], reduction="sum"), by_rows),
    "KL": (lambda z, b: F.kl_div(z.log_softmax(-1), b["x"][:, :4].softmax(-1), reduction="sum"), by_rows),
    "margin": (lambda z, b: F.multi_margin_loss(z, b["y"], reduction="sum"), by_rows),
    "focal": (lambda z, b: ((1 - torch.exp(-F.cross_entropy(z, b["y"], reduction="none"))) ** 2
                            * F.cross_entropy(z, b["y"], reduction="none")).sum(), by_rows),
    "policy": (lambda z, b: (-b["x"][:, 0] * z.log_softmax(-1).gather(1, b["y"][:, None])[:, 0] * b["mask"][:, 0]
                             + 0.1 * (z.softmax(-1) * z.log_softmax(-1)).sum(-1) * b["mask"][:, 0]).sum(), lambda b: b["mask"].sum())}


class Tokens(nn.Module):
    """Embedding, attention, and a pool over the tokens."""

    def __init__(self):
        super().__init__()
        self.embedding, self.attention = nn.Embedding(WORDS, 8), nn.MultiheadAttention(8, 2, dropout=0.1, batch_first=True)
        self.norm, self.out = nn.LayerNorm(8), nn.Linear(8, 4)

    def forward(self, batch):
        x = self.embedding(batch["tokens"])
        return self.out(self.norm(x + self.attention(x, x, x)[0]).mean(1))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.cell, self.out = nn.Embedding(WORDS, 6), nn.GRU(6, 8, batch_first=True), nn.Linear(8, 4)

    def forward(self, batch):
        return self.out(self.cell(self.embedding(batch["tokens"]))[0][:, -1])


class Dense(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), *layers, nn.Linear(8, 4))

    def forward(self, batch):
        return self.layers(batch["x"])


class Convolved(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(1, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.ReLU(), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(12, 4))

    def forward(self, batch):
        return self.layers(batch["x"][:, None])


MODELS = {"tanh": lambda: Dense(nn.Tanh()), "ReLU": lambda: Dense(nn.ReLU()), "dropout": lambda: Dense(nn.GELU(), nn.Dropout(0.2)),
          "norm": lambda: Dense(nn.LayerNorm(8), nn.SiLU()), "attention": Tokens, "recurrent": Recurrent, "convolution": Convolved}


def by_norm(model, count):  # pylint: disable=unused-argument
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)


def adaptive(model, count):  # pylint: disable=unused-argument
    for parameter in model.parameters():
        norm, most = parameter.grad.norm(), 0.1 * parameter.detach().norm().clamp(min=1e-3)
        parameter.grad.mul_(torch.where(norm > most, most / norm, torch.ones_like(norm)))


def divided(model, count):
    for parameter in model.parameters():
        parameter.grad /= count


CLIPS = {"no clip": lambda model, count: None, "by norm": by_norm, "adaptive": adaptive,
         "by value": lambda model, count: nn.utils.clip_grad_value_(model.parameters(), 0.05)}
GROUPS = {"one": lambda model: [{"params": list(model.parameters())}],
          "biases apart": lambda model: [{"params": [p for p in model.parameters() if p.dim() > 1]},
                                         {"params": [p for p in model.parameters() if p.dim() < 2], "lr": 0.003}]}
WAYS = ("divided before", "divided behind", "means weighed")


def drawn(number):
    """Words of one loop; optimizers and losses take turns, so that few loops have all of them."""
    draw = random.Random(number)
    return (list(OPTIMIZERS)[number % len(OPTIMIZERS)], list(LOSSES)[(number + number // len(OPTIMIZERS)) % len(LOSSES)],
            *(draw.choice(list(kinds)) for kinds in (MODELS, CLIPS, GROUPS, WAYS)))


def data(_):
    lengths = torch.randint(1, TOKENS + 1, (ROWS, 1))
    return {"x": torch.randn(ROWS, 6), "y": torch.randint(0, 4, (ROWS,)), "tokens": torch.randint(0, WORDS, (ROWS, TOKENS)),
            "mask": torch.arange(TOKENS)[None] < lengths}


def loop_of(optimizer, loss, model, clip, groups, way):
    def make():
        network = MODELS[model]()
        return {"model": network, "optimizer": OPTIMIZERS[optimizer](GROUPS[groups](network))}

    def step(state, micro_batches):
        total, count = LOSSES[loss]
        network, N = state["model"], sum(count(batch) for batch in micro_batches)
        state["optimizer"].zero_grad()
        for batch in micro_batches:
            value = total(network(batch), batch)
            if way == "means weighed":
                value = value / count(batch) * (count(batch) / N)
            (value / N if way == "divided before" else value).backward()
        if way == "divided behind":
            divided(network, N)
        CLIPS[clip](network, N)
        state["optimizer"].step()
    return make, step


class RightLoops(unittest.TestCase):
    def test_none_is_accused(self):
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        self.addCleanup(torch.set_num_threads, threads)
        for number in range(LOOPS):
            words = drawn(number)
            make, step = loop_of(*words)
            with self.subTest(words):
                with tempfile.TemporaryDirectory() as folder:
                    verdict = tally_recorder.vary(step, make=make, data=data, rows=ROWS, seed=number, out=folder)
                self.assertTrue(verdict.passed, f"{words}: {verdict.sentence}")


if __name__ == "__main__":
    unittest.main()
