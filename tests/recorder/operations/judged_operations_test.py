#!/usr/bin/env python3
"""Recordings judged by the program that TALLY names: python3 tests/recorder/operations/judged_operations_test.py"""
import contextlib
import io
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from recorder_path import PACKAGE  # noqa: E402,F401

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from recordings import Recorded, Recording  # noqa: E402
from tally_recorder.operations import Operations, profiles  # noqa: E402
from tally_recorder.operations.probe import probe  # noqa: E402


class Tokens(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.table, self.rows, self.out = nn.Embedding(19, 8), getattr(nn, kind)(8, 8, batch_first=True), nn.Linear(8, 19)

    def forward(self, x):
        return self.out(self.rows(self.table(x))[0])


def classified(model, x, classes):
    return F.cross_entropy(model(x).reshape(-1, classes), torch.randint(0, classes, (x.shape[0] * (x.shape[1] if x.dim() == 2 else 1),)))


MODELS = {
    "perceptron": (lambda: nn.Sequential(nn.Linear(9, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 5), nn.Tanh()),
                   lambda model: F.mse_loss(model(torch.randn(7, 9)), torch.randn(7, 5))),
    "convolutions": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, stride=2), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                                           nn.Conv2d(8, 8, 3, groups=4), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)),
                     lambda model: classified(model, torch.randn(6, 3, 15, 15), 5)),
    "encoder": (lambda: nn.Sequential(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True), nn.Linear(16, 5)),
                lambda model: F.cross_entropy(model(torch.randn(3, 7, 16)).flatten(0, 1), torch.randint(0, 5, (21,)))),
    "gated recurrence": (lambda: Tokens("GRU"), lambda model: classified(model, torch.randint(0, 19, (4, 6)), 19)),
    "recurrence": (lambda: Tokens("RNN"), lambda model: classified(model, torch.randint(0, 19, (4, 6)), 19)),
}


def record(folder, name, dtype=torch.float32):
    torch.manual_seed(5)
    make, loss = MODELS[name]
    model = make()
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    with Operations(folder, model):
        for _ in range(2):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16) if dtype == torch.bfloat16 else contextlib.nullcontext():
                value = loss(model)
            value.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()


def judged(folder, *options):
    done = subprocess.run([os.environ["TALLY"], "check-operations", folder, "--json", *options], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


@unittest.skipUnless(os.environ.get("TALLY"), "TALLY names no program")
class JudgedOperations(Recorded):
    def test_every_operation_of_right_models_is_legal(self):
        for name in MODELS:
            for dtype in (torch.float32, torch.bfloat16):
                if name == "perceptron" and dtype == torch.bfloat16 and not hasattr(F, "scaled_dot_product_attention"):
                    continue  # PyTorch 1.13's layer_norm takes no parameters of fp32 beside bfloat16
                with self.subTest(model=name, dtype=str(dtype)):
                    folder = os.path.join(self.folder, f"{name}-{dtype}")
                    record(folder, name, dtype)
                    code, document = judged(folder)
                    self.assertEqual((code, document["failures"], document["not_judged"]), (0, [], []))
                    self.assertGreater(document["all"]["judged"], 50)

    def test_a_changed_element_fails_at_its_operation(self):
        folder = os.path.join(self.folder, "run")
        record(folder, "perceptron")
        recording = Recording(folder)
        found = set()
        for line in recording.operations:
            for value in line["out"] + list(line.get("wrote", {}).values()):
                if not isinstance(value, dict) or value.get("d") != "float32" or line["op"].split(".")[1] in ("t", "view", "detach", "empty",
                                                                                                              "randn", "empty_like"):
                    continue
                block = recording.blocks[value["b"]]
                at = block["at"] + 4 * value["o"]
                if not value["s"] or 0 in value["s"] or self.is_read_before(recording, line, value["b"]) or line["op"] in found:
                    continue
                self.change(folder, at)
                _, document = judged(folder)
                self.change(folder, at)
                first = document["failures"][0]["at"]
                self.assertEqual((first["number"], first["operation"]), (line["i"], line["op"]))
                self.assertEqual(first["where"], line["where"])
                found.add(line["op"])
        self.assertGreaterEqual(len(found), 20)

    @staticmethod
    def is_read_before(recording, line, block):
        """Whether an earlier operation, or this one, read the contents: it fails first then."""
        earlier = [each for each in recording.operations if each["i"] <= line["i"]]
        return any(block in Recording.named(each["args"]) for each in earlier)

    @staticmethod
    def change(folder, at):
        with open(os.path.join(folder, "bits.bin"), "r+b") as file:
            file.seek(at)
            bits = bytearray(file.read(4))
            bits[2] ^= 0x40  # a quarter of the number, or so
            file.seek(at)
            file.write(bits)

    def test_a_kernel_that_adds_in_fewer_bits_is_found_without_a_reference(self):
        def product(a, b):
            total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.bfloat16)
            for k in range(a.shape[1]):
                total = (total.float() + a[:, k:k + 1] * b[k:k + 1]).bfloat16()
            return total.float()
        library = torch.library.Library("aten", "IMPL")
        library.impl("mm", product, "CPU")
        with Operations(os.path.join(self.folder, "run")):
            torch.mm(torch.randn(16, 100), torch.randn(100, 16))
        del library
        code, document = judged(os.path.join(self.folder, "run"))
        self.assertEqual((code, document["by_operation"]["mm"]["failed"]), (1, 1))

    def test_the_first_operation_that_overflows_is_named(self):
        folder = os.path.join(self.folder, "run")
        with Operations(folder):
            torch.ones(3).mul(200.0).exp().sum()
        code, document = judged(folder)
        self.assertEqual((code, document["first_non_finite"]["operation"]), (0, "aten.exp.default"))

    def test_a_probe_finds_what_the_profile_says(self):
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(probe(["--only", "gelu", "--points", "20000"]), 0)
        profile = json.loads(said.getvalue())
        claim = profile["claims"].get("gelu/float32/erf_absolute")
        self.assertIsNotNone(claim)
        self.assertLess(claim["value"], 2.0**-16)

    def test_a_profile_that_is_not_kept_is_said(self):
        self.assertIsNone(profiles.claims_of("pytorch-cuda-0.1"))

    def test_a_profile_with_a_wrong_claim_is_refused(self):
        folder, file = os.path.join(self.folder, "run"), os.path.join(self.folder, "profile.json")
        with Operations(folder):
            torch.ones(3).exp()
        for claims, words in (({"exp/float32": 1}, "operation/format/claim"), ({"exp/float32/ulps": -1}, "at least 0")):
            with open(file, "w", encoding="utf-8") as out:
                json.dump({"claims": claims}, out)
            code, said = judged(folder, "--profile", file)
            self.assertEqual(code, 2)
            self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
