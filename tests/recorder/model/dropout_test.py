#!/usr/bin/env python3
"""Networks of known layers that drop: python3 tests/recorder/model/dropout_test.py"""
import os
import sys
import tempfile
import unittest
import warnings

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import tally_recorder  # noqa: E402
from tally_recorder.script import Watch  # noqa: E402
from verdicts import ERROR, FAIL, PASS, verdict_of  # noqa: E402


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.drop, self.inner, self.head = nn.Linear(5, 8), nn.Dropout(0.25), nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        return self.head(x + self.drop(self.inner(x)))


def chain(p=0.2):
    """What is dropped is 0 in half of its places already."""
    return nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Dropout(p), nn.Linear(8, 3))


def in_place():
    return nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.2, inplace=True), nn.ReLU(), nn.Linear(8, 3))


def train(net, around, sizes=(3, 2, 4), before_backward=lambda net: None):
    """Three windows of micro-batches of these sizes."""
    torch.manual_seed(3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with around(net, optimizer, len(sizes)) as recorder:
        for _ in range(3):
            optimizer.zero_grad()
            for rows in sizes:
                loss = F.cross_entropy(net(torch.randn(rows, 5)), torch.randint(3, (rows,)), reduction="sum")
                before_backward(net)
                (loss / sum(sizes)).backward()
            optimizer.step()
    return recorder


SCRIPT = """import torch
net = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    torch.nn.functional.cross_entropy(net(torch.randn(4, 5)), torch.randint(3, (4,))).backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def known(level="all"):
    return lambda *given: tally_recorder.Recorder(*given, level=level, layers="known", normalisation="window_items")


class Dropout(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        torch.manual_seed(1)

    def test_right_loops_pass(self):
        for level in ("gradients", "all"):
            for net in (chain(), chain(0.15), chain(0), in_place(), chain().eval(), Residual()):
                with self.subTest(str(net), level=level):
                    code, said = verdict_of(train(net, known(level)))
                    self.assertEqual(code, PASS, said)
                    self.assertNotIn("the model is opaque", said)

    def test_an_evaluation_between_leaves_the_masks(self):
        def evaluate(net):
            with torch.no_grad():
                net(torch.randn(7, 5))
        code, said = verdict_of(train(chain(), known(), before_backward=evaluate))
        self.assertEqual(code, PASS, said)
        self.assertNotIn("drops other elements", said)

    def test_a_mask_is_whole_where_its_input_is_0(self):
        recorder = train(chain(), known(), sizes=(1000,))
        segment = recorder.capture.segments[0]
        kept = torch.cat([recorder.capture.scratch.tensor(part) for part in segment.tensors["2.mask"]]).double().mean()
        deviations = abs(float(kept) - 0.8) / (0.2 * 0.8 / 24000) ** 0.5
        self.assertLess(deviations, 6)

    def test_bugs_are_named(self):
        net = chain()
        net[2].forward = lambda x: F.dropout(x, 0.2) * 0.8
        code, said = verdict_of(train(net, known()))
        self.assertEqual(code, FAIL, said)
        self.assertIn("first wrong: w0/m0/forward/2.y", said)
        net = Residual()
        net.drop.eval()
        code, said = verdict_of(train(net, known()))
        self.assertEqual(code, FAIL, said)
        self.assertIn("first wrong: w0/m0/forward/drop.y", said)

    def test_a_rate_of_1_is_refused(self):
        with self.assertRaisesRegex(tally_recorder.CaptureError, "layer 2: found dropout with p = 1"):
            train(chain(1), known())

    def test_a_pass_whose_masks_were_not_seen_is_refused(self):
        """Of a script that is run as it is the first pass is over when its model is found."""
        for start, code, sentence in ((0, ERROR, "w0/m0, 2: found no call of its dropout"), (1, PASS, "pass")):
            watch = Watch(micro_batches=1, start=start, level="all", layers="known", normalisation="window_items")
            with tempfile.TemporaryDirectory() as folder:
                script = os.path.join(folder, "train.py")
                with open(script, "w", encoding="utf-8") as file:
                    file.write(SCRIPT)
                watch.run([script])
            found, said = verdict_of(watch.recorder)
            self.assertEqual(found, code, said)
            self.assertIn(sentence, said)


if __name__ == "__main__":
    unittest.main()
