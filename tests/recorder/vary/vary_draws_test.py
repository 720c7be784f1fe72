#!/usr/bin/env python3
"""What a loop draws at random is dealt by rows: python3 tests/recorder/vary/vary_draws_test.py"""
import copy
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402
from tally_recorder.varied.dispatch_modes import draws  # noqa: E402
from varied_loops import MEANS, OPTIMIZERS, RIGHT, made, rows_of, varied  # noqa: E402

import tally_recorder  # noqa: E402


def noisy(weigh, draw):
    """A step that adds to its rows what `draw(x)` draws."""
    def step(state, micro_batches):
        state["optimizer"].zero_grad()
        for batch in micro_batches:
            loss = F.cross_entropy(state["model"](batch["x"] + draw(batch["x"])), batch["y"])
            (loss * weigh(len(batch["x"]), rows_of(micro_batches), len(micro_batches))).backward()
        state["optimizer"].step()
    return step


class Attention(nn.Module):
    """Over the elements of a row, which it draws for in a second dimension."""

    def __init__(self):
        super().__init__()
        self.attention, self.width = nn.MultiheadAttention(8, 2, dropout=0.2), nn.Linear(1, 8)

    def forward(self, x):
        x = self.width(x[..., None]).transpose(0, 1)
        return F.dropout(x + self.attention(x, x, x)[0], 0.1).mean(0)


class DrawnByRows(unittest.TestCase):
    LAYERS = (nn.Dropout(0.3), nn.AlphaDropout(0.3), nn.Sequential(nn.Unflatten(1, (2, 2, 2)), nn.Dropout2d(0.5), nn.Flatten()),
              Attention())
    DRAWS = (torch.rand_like, lambda x: torch.randn(len(x), 6), lambda x: torch.empty_like(x).exponential_(), lambda x: torch.bernoulli(x * 0 + 0.3),
             lambda x: torch.normal(x, 1.0), lambda x: torch.randint(2, 5, x.shape), lambda x: F.gumbel_softmax(x),
             lambda x: torch.distributions.Categorical(torch.ones(len(x), 6)).sample()[:, None], lambda x: torch.rand(6),
             lambda x: torch.poisson(x.abs()), lambda x: torch.distributions.Gamma(x.abs() + 1, 1.0).sample(),
             lambda x: torch.distributions.Dirichlet(torch.ones(len(x), 6)).sample(),
             lambda x: torch.multinomial(torch.ones(len(x), 6), 6).to(x))

    def test_right_ones_pass(self):
        for layer in self.LAYERS:
            with self.subTest(layer):
                verdict = varied(RIGHT, lambda layer=layer: made(OPTIMIZERS["SGD"], copy.deepcopy(layer)))
                self.assertTrue(verdict.passed, verdict.sentence)
                self.assertIn("draws by bernoulli_ were dealt by rows", verdict.notes[0])
        for draw in self.DRAWS:
            verdict = varied(noisy(lambda n, N, K: n / N, draw))
            self.assertTrue(verdict.passed, verdict.sentence)

    def test_wrong_ones_have_their_cause(self):
        for layer in self.LAYERS:
            self.assertEqual(varied(MEANS, lambda layer=layer: made(OPTIMIZERS["SGD"], copy.deepcopy(layer))).cause, "1/(K n_k)")
        for draw in self.DRAWS:
            self.assertEqual(varied(noisy(lambda n, N, K: 1 / K, draw)).cause, "1/(K n_k)")

    def test_a_dropout_of_zero_draws_nothing(self):
        x, aten = torch.ones(2, 3), torch.ops.aten
        for dropout, train, drawn in ((0.0, True, False), (0.5, False, False), (0.5, True, True)):
            self.assertEqual(draws(aten.native_dropout.default, (x, dropout, train), {}), drawn)
        self.assertTrue(draws(aten.bernoulli_.float, (x, 0.0), {}))
        self.assertFalse(draws(aten.add.Tensor, (x, x), {}))

    @unittest.skipUnless(hasattr(F, "scaled_dot_product_attention"), "this PyTorch has no such function")
    def test_attention_of_rows_that_stand_in_one_sequence(self):
        def attends(x):
            packed = x.reshape(1, -1, x.shape[-1])
            return x + F.scaled_dot_product_attention(packed, packed, packed, attn_mask=torch.eye(len(x), dtype=torch.bool)).reshape(x.shape)
        self.assertTrue(varied(noisy(lambda n, N, K: n / N, attends)).passed)
        self.assertEqual(varied(noisy(lambda n, N, K: 1 / K, attends)).cause, "1/(K n_k)")

    def test_the_generator_is_as_it_was(self):
        torch.manual_seed(5)
        before = torch.get_rng_state()
        varied(RIGHT, lambda: made(OPTIMIZERS["SGD"], nn.Dropout(0.3)))
        self.assertTrue(torch.equal(before, torch.get_rng_state()))

    def test_what_cannot_be_dealt(self):
        dropped = varied(noisy(lambda n, N, K: n / N, lambda x: F.dropout(x.repeat(2, 1)[: len(x) + 1], 0.5)[: len(x)]))
        self.assertTrue(dropped.passed, dropped.sentence)
        self.assertEqual(dropped.notes[0], "dropout was off: draws by bernoulli_ cannot be dealt by rows")
        again = varied(noisy(lambda n, N, K: n / N, lambda x: checkpoint(lambda x: F.dropout(x, 0.5), x.requires_grad_(), use_reentrant=False)))
        self.assertTrue(again.passed, again.sentence)
        with self.assertRaisesRegex(tally_recorder.CaptureError, "draws by randperm cannot be dealt by rows"):
            varied(noisy(lambda n, N, K: n / N, lambda x: x[torch.randperm(len(x))]))


if __name__ == "__main__":
    unittest.main()
