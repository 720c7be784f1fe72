#!/usr/bin/env python3
"""A capture says where in the loop its calls stand, and a verdict repeats it: python3 tests/recorder/steps/places_test.py

The program is named by the variable TALLY, or found on the PATH."""
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import tally_recorder  # noqa: E402
from cpu_scaler import scaler as cpu_scaler  # noqa: E402
from verdicts import FAIL, verdict_of  # noqa: E402

K = 2


def trained(rows):
    """The recorder of a loop that averages the means of its micro-batches; each call has its name behind it."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 4))
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.125), cpu_scaler(init_scale=8.0)
    with tally_recorder.Recorder(model, optimizer, micro_batches=K) as recorder:
        for i, count in enumerate(rows):
            x, target = torch.randn(count, 6), torch.randint(0, 4, (count,))
            loss = F.cross_entropy(model(x), target) / K  # loss
            scaler.scale(loss).backward()  # backward
            if i % K == K - 1:
                scaler.unscale_(optimizer)  # unscale
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)  # clip
                scaler.step(optimizer)  # step
                scaler.update()
                optimizer.zero_grad()
    return recorder


def line_of(kind):
    with open(__file__, encoding="utf-8") as file:
        return next((number, line.strip()) for number, line in enumerate(file, 1) if line.endswith(f"  # {kind}\n"))


def places_in(trace):
    with open(trace, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return json.loads(header["__metadata__"]["places"])


class Places(unittest.TestCase):
    def test_a_capture_names_the_calls_of_the_loop(self):
        with tempfile.TemporaryDirectory() as folder:
            trained([4] * 4).check(folder, show=lambda line: None)
            places = places_in(os.path.join(folder, "trace.safetensors"))
        self.assertEqual(sorted(places), ["backward", "clip", "loss", "step", "unscale"])
        for kind, place in places.items():
            self.assertEqual((place["line"], place["text"]), line_of(kind), kind)
            self.assertEqual(os.path.abspath(place["file"]), os.path.abspath(__file__))

    def test_a_verdict_says_what_to_change_and_where(self):
        code, said = verdict_of(trained([4, 3] * 2))
        self.assertEqual(code, FAIL, said)
        number, text = line_of("loss")
        verdict = said.partition("\nfail: ")[2].splitlines()
        self.assertEqual(verdict[:2], ["every micro-batch is divided by its own items, and the window by K",
                                       "  change: divide by the window's 7 items, not by 2 times the micro-batch's own 4: "
                                       "`loss.sum() / window_items`"])
        self.assertRegex(verdict[2], rf"^  at (.*/)?places_test.py:{number}: ")
        self.assertTrue(verdict[2].endswith(text), verdict[2])

    def test_where_nothing_can_be_named_the_capture_goes_on(self):
        place, gone = os.getcwd(), tempfile.mkdtemp()
        os.chdir(gone)
        os.rmdir(gone)
        try:
            recorder = trained([4] * 4)
        finally:
            os.chdir(place)
        self.assertIsNone(recorder.capture.guard.problem)
        self.assertEqual(recorder.capture.places.found["loss"]["line"], line_of("loss")[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
