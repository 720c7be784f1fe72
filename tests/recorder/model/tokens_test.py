#!/usr/bin/env python3
"""Models over tokens are judged layer by layer, and the ways to count their labels: python3 tests/recorder/model/tokens_test.py"""
import os
import sys
import unittest
import warnings

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import tally_recorder  # noqa: E402
from tally_recorder.capture.models import KnownLayers  # noqa: E402
from verdicts import FAIL, PASS, verdict_of  # noqa: E402

VOCABULARY, IGNORED = 11, -100


class Bag(nn.Module):
    """Tokens that do not see each other: a table, a residual block, a head that may be tied to the table."""

    def __init__(self, tied=True, head_first=False, width=8):
        super().__init__()
        head = nn.Linear(width, VOCABULARY, bias=False)
        if head_first:
            self.head = head
        self.wte, self.fc, self.act = nn.Embedding(VOCABULARY, width), nn.Linear(width, 2 * width), nn.GELU()
        self.out = nn.Linear(2 * width, width)
        self.head = head
        if tied:
            self.head.weight = self.wte.weight

    def forward(self, tokens):
        h = self.wte(tokens)
        return self.head(h + self.out(self.act(self.fc(h))))


def batch(rows, length):
    """Tokens, and the label that each is scored by: the next token's of its row, but for a prompt's."""
    tokens = torch.randint(VOCABULARY, (rows, length))
    own = tokens.clone()
    own[: rows // 2, : length // 2] = IGNORED
    return tokens, own, F.pad(own, (0, 1), value=IGNORED)[:, 1:]


def counted(labels):
    return int((labels != IGNORED).sum())


def recorded(net, level, way="right", shapes=((3, 5), (2, 7), (4, 2)), narrow=False, autocast=False):
    """Two windows of micro-batches of these shapes. `way` is how labels are counted."""
    torch.manual_seed(3)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    with tally_recorder.Recorder(net, optimizer, len(shapes), level=level, layers="known",
                                 normalisation="window_items") as recorder:
        for _ in range(2):
            optimizer.zero_grad()
            batches = [batch(*shape) for shape in shapes]
            items = sum(counted(own if way == "before the shift" else labels) for _, own, labels in batches)
            for tokens, _, labels in batches:
                with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                    logits = net(tokens.int() if narrow else tokens)
                    if way == "logits cut":
                        logits, labels = logits[:, :-1], labels[:, :-1]
                    if way == "logits of a few":
                        logits, labels = logits[:1], labels[:1]
                    loss = F.cross_entropy(logits.reshape(-1, VOCABULARY), labels.reshape(-1), ignore_index=IGNORED,
                                           reduction="mean" if way == "mean of means" else "sum")
                (loss / (len(shapes) if way == "mean of means" else items)).backward()
            optimizer.step()
    return recorder


class Opaque(nn.Module):
    """A model that shifts labels itself, as those of Transformers do."""

    def __init__(self):
        super().__init__()
        self.net = Bag()

    def forward(self, tokens, labels=None, items=None):
        logits = self.net(tokens)
        if labels is None:
            return logits
        shifted = F.pad(labels, (0, 1), value=IGNORED)[:, 1:]
        return F.cross_entropy(logits.reshape(-1, VOCABULARY), shifted.reshape(-1), ignore_index=IGNORED, reduction="sum") / items


def opaque(before_the_shift, own_loss, **options):
    """(code, lines) of two windows of a model whose layers nobody knows, with a prompt of which no label counts."""
    torch.manual_seed(1)
    net = Opaque()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    with tally_recorder.Recorder(net, optimizer, 3, **options) as recorder:
        for _ in range(2):
            optimizer.zero_grad()
            batches = [torch.randint(VOCABULARY, shape) for shape in ((3, 5), (2, 7), (4, 3))]
            every = [tokens.clone() for tokens in batches]
            every[0][0, :3] = IGNORED if not own_loss else every[0][0, :3]
            items = sum(counted(labels if before_the_shift else labels[:, 1:]) for labels in every)
            for tokens, labels in zip(batches, every):
                if own_loss:
                    loss = F.cross_entropy(net(tokens)[:, :-1].reshape(-1, VOCABULARY), labels[:, 1:].reshape(-1), reduction="sum") / items
                else:
                    loss = net(tokens, labels=labels, items=items)
                loss.backward()
            optimizer.step()
    return verdict_of(recorder)


class OfAnOpaqueModel(unittest.TestCase):
    NAMES_ARE_HEARD = "with_kwargs" in torch.nn.Module.register_forward_pre_hook.__code__.co_varnames

    def test_labels_counted_before_the_shift_are_named(self):
        for own_loss in (True, False) if self.NAMES_ARE_HEARD else (True,):
            for options in ({}, {"samples": 64}):
                with self.subTest(own_loss=own_loss, **options):
                    code, said = opaque(True, own_loss, **options)
                    self.assertEqual(code, FAIL, said)
                    last = [line for line in said.splitlines() if line.startswith("fail: ")][-1]
                    self.assertIn("labels are counted before the shift", last)
                    self.assertIn("looks like tokens-counted-before-shift", last)
                    self.assertIn("\n  first wrong: w0/m0/loss/in.factor", said)
                    code, said = opaque(False, own_loss, **options)
                    self.assertEqual(code, PASS, said)


class Tokens(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        torch.manual_seed(1)

    def test_a_tied_head_says_so(self):
        for head_first in (False, True):
            known = KnownLayers(Bag(head_first=head_first))
            self.assertEqual(known.layers[-1], {"kind": "linear", "name": "head", "bias": False, "tied": "wte",
                                                "inputs": [known.layers[-2]["name"]]})
            self.assertEqual(known.name_of("head.weight"), "wte.weight")

    def test_right_loops_pass(self):
        for tied in (True, False):
            for level in ("gradients", "state", "window", "all"):
                with self.subTest(level=level, tied=tied):
                    code, said = verdict_of(recorded(Bag(tied), level))
                    self.assertEqual(code, PASS, said)
                    self.assertNotIn("the model is opaque", said)

    def test_a_tied_head_that_comes_first_passes(self):
        code, said = verdict_of(recorded(Bag(head_first=True), "state"))
        self.assertEqual(code, PASS, said)

    def test_the_mean_of_means_is_named(self):
        for level in ("state", "all"):
            with self.subTest(level=level):
                code, said = verdict_of(recorded(Bag(), level, "mean of means"))
                self.assertEqual(code, FAIL, said)
                self.assertIn("mean-of-means", said)

    def test_labels_counted_before_the_shift_fail_at_the_loss(self):
        for level in ("state", "all"):
            with self.subTest(level=level):
                code, said = verdict_of(recorded(Bag(), level, "before the shift"))
                self.assertEqual(code, FAIL, said)
                self.assertIn("loss/in.factor", said)

    def test_logits_without_each_lines_last_pass(self):
        for level in ("state", "all"):
            code, said = verdict_of(recorded(Bag(), level, "logits cut"))
            self.assertEqual(code, PASS, said)

    def test_logits_of_other_rows_than_tokens_are_refused(self):
        code, said = verdict_of(recorded(Bag(), "state", "logits of a few"))
        self.assertEqual(code, 2, said)
        self.assertIn("rows of logits", said)

    def test_tokens_of_32_bits_pass(self):
        code, said = verdict_of(recorded(Bag(), "state", narrow=True))
        self.assertEqual(code, PASS, said)

    def test_what_known_layers_do_not_state_is_said(self):
        net = Bag()
        net.fc.bias.requires_grad_(False)
        with self.assertRaisesRegex(tally_recorder.CaptureError, "fc.bias, which the optimizer does not train"):
            recorded(net, "state")
        code, said = verdict_of(recorded(Bag(), "state", autocast=True))
        self.assertEqual(code, 2, said)
        self.assertIn("autocast around known layers", said)

    def test_frozen_layers_pass(self):
        for level in ("gradients", "state", "all"):
            for freeze in ("wte", "fc"):
                net = Bag(tied=False)
                getattr(net, freeze).requires_grad_(False)
                with self.subTest(level=level, frozen=freeze):
                    code, said = verdict_of(recorded(net, level))
                    self.assertEqual(code, PASS, said)

    def test_the_local_lens_alone_needs_no_more(self):
        for tied in (True, False):
            code, said = verdict_of(recorded(Bag(tied), "all"), ("--lens", "local"))
            self.assertEqual(code, PASS, said)

    def test_a_frozen_layer_that_moves_is_an_error(self):
        net = Bag(tied=False)
        net.fc.requires_grad_(False)
        net.act.register_forward_hook(lambda *_: net.fc.bias.data.mul_(2))
        net.fc.bias.data.fill_(1)
        code, said = verdict_of(recorded(net, "state"))
        self.assertEqual(code, 2, said)
        self.assertIn("fc.bias: found other values than when the recording began", said)

    def test_a_layer_that_leaves_something_else_fails_there(self):
        net = Bag(tied=False)
        net.act.register_forward_hook(lambda _, __, y: y * 1.0001)
        code, said = verdict_of(recorded(net, "all"))
        self.assertEqual(code, FAIL, said)
        self.assertIn("first wrong: w0/m0/forward/act.y", said)

    def test_a_gradient_that_arrives_otherwise_fails_there(self):
        net = Bag(tied=False)
        net.act.register_full_backward_hook(lambda _, given, __: (given[0] * 1.0001,))
        code, said = verdict_of(recorded(net, "all"))
        self.assertEqual(code, FAIL, said)
        self.assertIn("first wrong: w0/m0/backward/d.", said)

    def test_tables_that_cannot_be_stated_are_refused(self):
        net = Bag(tied=False)
        net.wte = nn.Embedding(VOCABULARY, 8, max_norm=1)
        with self.assertRaisesRegex(tally_recorder.CaptureError, "max_norm"):
            recorded(net, "state")


if __name__ == "__main__":
    unittest.main()
