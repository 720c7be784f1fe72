#!/usr/bin/env python3
"""Networks that are no chain are judged layer by layer: python3 tests/recorder/model/residual_networks_test.py"""
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


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.fc, self.act = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU()
        self.out = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.out(self.act(self.fc(self.norm(x))))


class Network(nn.Module):
    """A stem, two residual blocks, a function of torch's, and a head."""

    def __init__(self, width=8):
        super().__init__()
        self.stem, self.blocks, self.head = nn.Linear(5, width), nn.Sequential(Block(width), Block(width)), nn.Linear(width, 3)

    def forward(self, x):
        return self.head(torch.relu(self.blocks(self.stem(x))))


class ChangedInPlace(Network):
    def forward(self, x):
        stem = self.stem(x)
        active = F.relu(stem, inplace=True)
        return self.head(active + stem)


class TwoInputs(Network):
    def forward(self, x, y):
        return self.head(self.stem(x) + self.stem(y))


def recorded(net, level, sizes=(3, 2, 4), wrong=False):
    """Three windows of micro-batches of these sizes; `wrong` divides each by its own rows and K."""
    torch.manual_seed(3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    with tally_recorder.Recorder(net, optimizer, len(sizes), level=level, layers="known",
                                 normalisation="window_items") as recorder:
        for _ in range(3):
            optimizer.zero_grad()
            for rows in sizes:
                x, target = torch.randn(rows, 5), torch.randint(3, (rows,))
                loss = F.cross_entropy(net(x), target, reduction="mean" if wrong else "sum")
                (loss / (len(sizes) if wrong else sum(sizes))).backward()
            optimizer.step()
    return recorder


class ResidualNetworks(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        torch.manual_seed(1)

    def test_who_reads_whom(self):
        layers = {layer["name"]: layer for layer in KnownLayers(Network()).layers}
        self.assertEqual(layers["blocks_0_norm"]["inputs"], ["stem"])
        sums = [layer["inputs"] for layer in layers.values() if layer["kind"] == "add"]
        self.assertEqual(sums[0], ["stem", "blocks_0_out"])
        self.assertEqual(sums[1][1], "blocks_1_out")

    def test_right_loops_pass(self):
        for level in ("gradients", "state", "window", "all"):
            with self.subTest(level=level):
                code, said = verdict_of(recorded(Network(), level))
                self.assertEqual(code, PASS, said)
                self.assertNotIn("the model is opaque", said)

    def test_wrong_loops_fail_by_name(self):
        for level in ("state", "all"):
            with self.subTest(level=level):
                code, said = verdict_of(recorded(Network(), level, wrong=True))
                self.assertEqual(code, FAIL, said)
                self.assertIn("mean-of-means", said)

    def test_networks_that_cannot_be_stated_are_refused(self):
        for net, found in ((ChangedInPlace(), "changed in place and read again"), (TwoInputs(), "a second input")):
            with self.subTest(found):
                with self.assertRaisesRegex(tally_recorder.CaptureError, found):
                    recorded(net, "state")


if __name__ == "__main__":
    unittest.main()
