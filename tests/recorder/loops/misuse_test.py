#!/usr/bin/env python3
"""What is asked of the recorder by mistake is refused in one line: python3 tests/recorder/loops/misuse_test.py

The program is named by the variable TALLY, or found on the PATH."""
import copy
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))

from recorder_path import PACKAGE  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402

import loops  # noqa: E402
from tally_recorder import CaptureError, Recorder  # noqa: E402

PASS, FAIL, ERROR = 0, 1, 2


def sgd(net):
    return torch.optim.SGD(net.parameters(), lr=0.125)


class Arguments(unittest.TestCase):
    def test_each_is_refused_before_the_loop(self):
        net = nn.Linear(2, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.125)
        spaced = nn.ModuleDict({"my layer": nn.Linear(2, 2)})
        for expected, model, optimizer, options in (
                ("parameters: found the name 'model.my layer.weight', expected letters", spaced, sgd(spaced), {}),
                ("model: found a TorchScript module", torch.jit.script(net), opt, {}),
                ("model: found SGD", opt, net, {}), ("model: found list", [net], opt, {}),
                ("optimizer: found generator", net, net.parameters(), {}),
                ("optimizer: found 2 parameters that are none of the model's and 0 that are", net, sgd(nn.Linear(2, 2)), {}),
                ("optimizer: found 2 parameters that are none of the model's and 0 that are", net, sgd(copy.deepcopy(net)), {}),
                ("micro_batches: found 0, expected a count of at least 1", net, opt, {"micro_batches": 0}),
                ("micro_batches: found 2.0", net, opt, {"micro_batches": 2.0}),
                ("micro_batches: found True", net, opt, {"micro_batches": True}),
                ("clip: found", net, opt, {"clip": {"max_norm": -1}}), ("clip: found", net, opt, {"clip": -1.0}),
                ("clip: found", net, opt, {"clip": {"kind": "global_norm"}}),
                ("clip: found the norm 3", net, opt, {"clip": {"kind": "global_norm", "max_norm": 1, "norm": 3}}),
                ("clip: found", net, opt, {"clip": {"kind": "norm", "max_norm": 1}}),
                ("scratch: found", net, opt, {"scratch": os.path.join(HERE, "no", "such", "folder")})):
            with self.subTest(expected, **options):
                with self.assertRaisesRegex(CaptureError, f"^{expected}"):
                    Recorder(model, optimizer, **{"micro_batches": 2, **options})


class Folders(unittest.TestCase):
    def setUp(self):
        self.recorder = loops.Loop().record("state")
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = kept.name

    def check(self, folder, **options):
        lines = []
        code = self.recorder.check(folder, show=lines.append, **options)
        return code, lines

    def refused(self, folder, expected, **options):
        code, lines = self.check(folder, **options)
        self.assertEqual(code, ERROR, lines)
        self.assertTrue(lines[-1].startswith("error: ") and expected in lines[-1], lines)
        self.assertNotIn("\n", lines[-1])

    def test_a_file_of_somebody_else_stays(self):
        for name in ("case.json", "case.safetensors", "trace.safetensors"):
            with self.subTest(name):
                folder = os.path.join(self.folder, name + " here")
                os.mkdir(folder)
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write("my notes")
                self.refused(folder, f"{name}: found a file that no recorder wrote")
                self.assertEqual(os.listdir(folder), [name])

    def test_a_capture_is_replaced(self):
        for _ in range(2):
            code, lines = self.check(os.path.join(self.folder, "new"))
            self.assertEqual(code, PASS, lines)

    def test_no_folder(self):
        path = os.path.join(self.folder, "file")
        with open(path, "w", encoding="utf-8") as file:
            file.write("mine")
        self.refused(path, "expected one that can be written")
        self.refused(os.path.join(path, "below"), "expected one that can be written")
        self.refused(None, "the folder: found None, expected a path")

    def test_no_program(self):
        path = os.path.join(self.folder, "program")
        with open(path, "wb") as file:
            file.write(b"\x00\x01")
        os.chmod(path, 0o755)
        self.refused(self.folder, "expected the program tally", tally=path)

    def test_a_script_does_not_begin(self):
        path = os.path.join(self.folder, "train.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("print('it began')")
        for options in (["--out", path], ["--tally", path], ["--clip", "-1"]):
            with self.subTest(options):
                done = subprocess.run([sys.executable, "-B", "-m", "tally_recorder", "--micro-batches", "2", *options,
                                       path], capture_output=True, text=True, cwd=self.folder,
                                      env={**os.environ, "PYTHONPATH": PACKAGE})
                said = done.stderr.splitlines()
                self.assertEqual((done.returncode, done.stdout, len(said)), (ERROR, "", 1), done.stderr)
                self.assertTrue(said[0].startswith("error: "), said)


if __name__ == "__main__":
    unittest.main()
