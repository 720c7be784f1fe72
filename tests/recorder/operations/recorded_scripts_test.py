#!/usr/bin/env python3
"""python -m tally_recorder operations, with a program in place of tally that says how it was called:
python3 tests/recorder/operations/recorded_scripts_test.py"""
import os
import subprocess
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from recorder_path import PACKAGE  # noqa: E402

from recordings import Recorded, Recording  # noqa: E402

SCRIPT = """
import sys
import torch
from torch import nn

def main():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=float(sys.argv[1]))
    for step in range(4):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(torch.ones(2, 3)), torch.ones(2, 1)).backward()
        optimizer.step()
        print("step", step, flush=True)
    {end}

if __name__ == "__main__":
    main()
"""


class Scripts(Recorded):
    def setUp(self):
        super().setUp()
        self.out, self.tally = os.path.join(self.folder, "out"), os.path.join(self.folder, "tally")
        with open(self.tally, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho judged \"$@\"\necho beside >&2\nexit 4\n")
        os.chmod(self.tally, 0o755)

    def run_script(self, *options, end="", script="train.py", **variables):
        with open(os.path.join(self.folder, "train.py"), "w", encoding="utf-8") as file:
            file.write(SCRIPT.replace("{end}", end or "pass"))
        done = subprocess.run([sys.executable, "-B", "-m", "tally_recorder", "operations", "--out", self.out, *options, script, "0.1"],
                              cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": PACKAGE, "TALLY": self.tally, **variables})
        return done.returncode, done.stdout, done.stderr

    def test_a_script_is_recorded_and_judged(self):
        code, said, beside = self.run_script()
        self.assertEqual((code, said.splitlines()[-1]), (4, f"judged check-operations {self.out}"), beside)
        self.assertIn("step 3\n", said)
        self.assertIn("beside\n", beside)
        found = Recording(self.out)
        self.assertIsNotNone(found.end)
        self.assertEqual(len(found.called("addmm.default")), 8)
        self.assertEqual([line["module"] for line in found.called("addmm.default")[:2]], ["0", "2"])
        self.assertEqual(found.called("mse_loss.default")[3]["step"], 3)
        self.assertRegex(found.called("addmm.default")[0]["where"], r"^train.py:11 in main$")

    def test_it_ends_behind_its_steps(self):
        code, said, _ = self.run_script("--stop-after", "2", "--no-check")
        self.assertEqual((code, said), (0, "step 0\nstep 1\n"))
        self.assertEqual(len(Recording(self.out).called("mse_loss.default")), 2)

    def test_a_script_that_raises_is_judged_up_to_there(self):
        code, said, beside = self.run_script(end="raise ValueError('mine')")
        self.assertEqual((code, said.splitlines()[-1]), (2, f"judged check-operations {self.out}"))
        self.assertIn("ValueError: mine", beside)
        self.assertEqual(len(Recording(self.out).called("mse_loss.default")), 4)

    def test_a_script_with_an_exit_status(self):
        code, said, beside = self.run_script(end="sys.exit(3)")
        self.assertEqual((code, "judged" in said), (2, True))
        self.assertIn("error: train.py: found the exit status 3, expected 0", beside)
        self.assertEqual(self.run_script("--no-check", "--out", self.out + "2", end="sys.exit(0)")[0], 0)

    def test_a_share(self):
        self.run_script("--no-check", "--share", "0")
        end = Recording(self.out).end
        self.assertLess(end["recorded"], end["seen"])

    def test_a_module_and_ranks(self):
        code, said, _ = self.run_script("-m", script="train", WORLD_SIZE="2", RANK="1")
        self.assertEqual((code, said.splitlines()[-1]), (4, f"judged check-operations {os.path.join(self.out, 'rank-1')}"))
        self.assertEqual(Recording(os.path.join(self.out, "rank-1")).header["rank"], 1)

    def test_what_is_refused(self):
        self.assertRegex(self.run_script(script="none.py")[2], "error: none.py: found no such file, expected a script")
        self.assertRegex(self.run_script(TALLY="/none")[2], "error: tally: found /none, expected one that runs")
        self.assertFalse(os.path.exists(self.out))
        self.run_script("--no-check")
        code, said, beside = self.run_script("--no-check")
        self.assertEqual((code, said), (2, ""))
        self.assertRegex(beside, "^error: .*found a recording of operations, expected none")

    def test_help_names_it(self):
        for words in (["--help"], ["vary", "--help"]):
            said = subprocess.run([sys.executable, "-B", "-m", "tally_recorder", *words], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": PACKAGE}).stdout
            self.assertIn("tally_recorder operations --help", " ".join(said.split()))


if __name__ == "__main__":
    unittest.main()
