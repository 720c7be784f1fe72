#!/usr/bin/env python3
"""Every activation is recorded by each of its names and judged: python3 tests/recorder/model/activations_test.py"""
import os
import subprocess
import sys
import unittest
import warnings

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import tally_recorder  # noqa: E402
from tally_recorder.capture.activations import ACTIVATIONS  # noqa: E402
from tally_recorder.capture.models import KnownLayers  # noqa: E402
from verdicts import PASS, verdict_of  # noqa: E402


class Calls(nn.Module):
    """Two linear layers, and what is called between them."""

    def __init__(self, call):
        super().__init__()
        self.fc1, self.fc2, self.call = nn.Linear(5, 8), nn.Linear(8, 3), call

    def forward(self, x):
        return self.fc2(self.call(self.fc1(x)))


def with_module(module):
    return nn.Sequential(nn.Linear(5, 8), module, nn.Linear(8, 3))


def recorded(net, sizes=(3, 2)):
    """A window of micro-batches of these sizes, of rows from small to large."""
    torch.manual_seed(3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with tally_recorder.Recorder(net, optimizer, len(sizes), level="all", layers="known",
                                 normalisation="window_items") as recorder:
        for rows in sizes:
            x = torch.randn(rows, 5) * torch.logspace(-2, 2, rows)[:, None]
            F.cross_entropy(net(x), torch.randint(3, (rows,)), reduction="sum").div(sum(sizes)).backward()
        optimizer.step()
    return recorder


class Activations(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        torch.manual_seed(1)

    def passes(self, net, kind):
        self.assertEqual([layer["kind"] for layer in KnownLayers(net).layers], ["linear", kind, "linear"])
        code, said = verdict_of(recorded(net))
        self.assertEqual(code, PASS, said)

    def test_are_those_of_the_program(self):
        listed = subprocess.run([os.environ["TALLY"], "list", "activations"], check=True, capture_output=True, text=True).stdout
        self.assertEqual({each.kind for each in ACTIVATIONS}, {line.split()[0] for line in listed.splitlines()})

    def test_by_every_name_pass(self):
        for each in ACTIVATIONS:
            calls = [*each.functions, *(lambda x, name=name: getattr(x, name)() for name in each.methods)]
            for net in (*(with_module(module()) for module in each.modules), *map(Calls, calls)):
                with self.subTest(each.kind, net=net):
                    self.passes(net, each.kind)

    def test_arguments_that_no_case_states_are_refused(self):
        for each in ACTIVATIONS:
            for name, value in each.fixed.items():
                other = {name: value + 1}
                for net in (*(with_module(module(**other)) for module in each.modules),
                            *(Calls(lambda x, call=call: call(x, **other)) for call in each.functions)):
                    with self.subTest(each.kind, net=net):
                        with self.assertRaisesRegex(tally_recorder.CaptureError, f"{name} {value + 1}, expected {value}"):
                            recorded(net)


if __name__ == "__main__":
    unittest.main()
