#!/usr/bin/env python3
"""Scripts that know nothing of Tally, on the same rows in other micro-batches: python3 tests/recorder/vary/vary_scripts_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import signal
import subprocess
import sys
import time
import unittest
from fractions import Fraction

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from recorder_path import PACKAGE  # noqa: E402
import torch  # noqa: E402
from varied_scripts import ERROR, FAIL, INTERRUPTED, NANO, PASS, PLAIN, Varied, started  # noqa: E402


class PlainLoop(Varied):
    def test_numbers_that_are_drawn_for_each_micro_batch_accuse_nobody(self):
        """Two draws a micro-batch, which another one takes in another order; a loader's own draws are none of them."""
        script = self.script("""
import sys, torch
size, accum, drawn = map(int, sys.argv[1:])
torch.manual_seed(0)
loader = torch.utils.data.DataLoader(torch.randn(16, 3), batch_size=size, shuffle=True, generator=torch.Generator().manual_seed(0))
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(loader):
    y = model(x)
    for _ in range(drawn):
        y = y * torch.randn_like(y)
    (y.square().sum() / 4).backward()
    if (i + 1) % accum == 0:
        optimizer.step()
        optimizer.zero_grad()
""")
        said = self.vary(PASS, "--set", "{rows} {k} 0", script)
        self.assertNotIn("draws numbers", said)
        self.vary(ERROR, "--set", "{rows} {k} 2", script, said=(
            "found numbers that are drawn for each micro-batch (randn_like at ", "train.py:11)", "vary the step as a function"))

    def test_a_right_loop_passes(self):
        said = self.vary(PASS, *PLAIN, said=["dropout was off in all runs"])
        page = os.path.join(self.folder, "vary.html")
        self.assertEqual(said.splitlines()[-1], f"page: {page}")
        self.assertTrue(os.path.exists(page))
        document = self.document()
        self.assertTrue(any(len(set(sizes)) > 1 for sizes in self.sizes()), self.sizes())
        self.assertEqual(document["precisions"], ["float64", "float32"])
        for run in document["runs"]:
            self.assertEqual(run["items"], [run["sizes"] or [4]] * 2)
            far = max(tensor["max"] / tensor["scale"] for tensor in run["tensors"])
            if run["precision"] == "float64" and not run["moved"]:
                self.assertLess(far, torch.finfo(torch.float32).eps ** 1.5, run["sizes"])  # float64 throughout
            elif run["precision"] == "float32":
                self.assertGreater(far, torch.finfo(torch.float64).eps, run["sizes"])

    def test_a_mean_of_means_fails(self):
        said = self.vary(FAIL, *PLAIN, "--loss", "mean-of-means", said=["divided by its own", "and by K = 2"])
        self.assertEqual(said.splitlines()[-1], f"page: {os.path.join(self.folder, 'vary.html')}")
        weights = self.document()["weights"][-1]
        for found, size in zip(weights["found"], weights["sizes"]):
            parts = len(weights["sizes"]) * size
            self.assertEqual(Fraction(found).limit_denominator(parts), Fraction(1, parts))
        self.assertRegex(weights["place"]["text"], "backward")

    def test_unequal_batches_are_dealt_only_where_the_loader_deals_some(self):
        self.vary(PASS, *PLAIN, "--loss", "mean-of-means", "--drop-last", said=["only equal micro-batches were dealt"])
        self.assertTrue(self.document()["equal_only"])
        self.assertEqual(self.sizes(), {(2, 2), (1, 1, 1, 1)})

    def test_unequal_numbers_of_items_in_equal_batches_fail(self):
        self.vary(FAIL, *PLAIN, "--loss", "mean-of-means", "--drop-last", "--ignored")
        whole = self.document()["runs"][0]["items"][0]
        self.assertLess(sum(whole), 4)

    def test_other_rows_are_the_first_finding(self):
        said = self.vary(ERROR, *PLAIN, "--order", "by-size", said=["other rows", "with micro-batches of 2, 2 rows the script trains on "])
        self.assertNotIn("fail", said)


class OtherScripts(Varied):
    def test_one_like_nanogpt(self):
        self.vary(PASS, NANO, said=["preset nanogpt: ", "only equal micro-batches"])
        self.vary(FAIL, NANO, "--divide=False", said=["divided by its own", "all are added up"])

    def test_without_a_data_loader_by_its_own_words(self):
        path = self.script("""
import sys
import torch
sizes = [int(size) for size in sys.argv[1].split(",")]
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 2)
torch.manual_seed(1)
one, other = torch.nn.Linear(3, 3), torch.nn.Linear(3, 2)
optimizers = [torch.optim.SGD(part.parameters(), lr=0.1) for part in (one, other)]
scale = torch.tensor([0.5, 2.0])
first = 0
while True:
    for size in sizes:
        rows = slice(first % 16, first % 16 + size)
        first += size
        noise = torch.randn(3)
        error = other(one(x[rows].float()) + noise * 0) * scale.to(torch.float32) - y[rows]
        (error ** 2).sum().div(4).backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
    try:
        pass
    except:
        pass
""")
        self.vary(PASS, "--set", "{sizes}", path)
        self.assertTrue(any(len(set(sizes)) > 1 for sizes in self.sizes()), self.sizes())
        self.assertEqual({tuple(run["steps"]) for run in self.document()["runs"]}, {(2, 2)})

    def test_with_a_second_pass_through_the_rows(self):
        """Sharpness-aware minimisation: an optimizer around another, and micro-batches that are passed through twice."""
        path = self.script("""
import sys
import torch


class Sharp(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})
        self.inner = torch.optim.SGD(self.param_groups, lr=0.1)

    @torch.no_grad()
    def move(self, sign):
        for parameter in self.param_groups[0]["params"]:
            self.state[parameter].setdefault("by", 0.1 * parameter.grad.clone())
            parameter += sign * self.state[parameter]["by"]
            if sign < 0:
                del self.state[parameter]["by"]
        if sign < 0:
            self.inner.step()
        self.zero_grad()


torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
optimizer = Sharp(model.parameters())
x = torch.randn(16, 3)
for own in x.split(4):
    parts = own.split(int(sys.argv[-1]))
    for sign in (1, -1):
        for part in parts[-1:] if sign < 0 and "last" in sys.argv else parts:
            ((model(part) ** 2).sum() / (len(part) if sign < 0 and "last" in sys.argv else 4)).backward()
        optimizer.move(sign)
""")
        self.vary(PASS, "--set", "{rows}", path)
        self.vary(FAIL, "--set", "{rows}", path, "last", said=["2, 2 rows"])

    def test_one_that_does_not_let_itself_be_ended(self):
        path = self.script("""
import sys
import torch
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
while True:
    try:
        for x in torch.ones(4, 3).split(int(sys.argv[1])):
            model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    except BaseException:
        pass
""")
        self.vary(PASS, "--set", "{rows}", path)

    def test_layers_that_see_the_batch_are_named(self):
        path = self.script("""
import sys
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 3)
for own in x.split(4):
    for part in own.split(int(sys.argv[1])):
        (model(part) ** 2).sum().div(4).backward()
    optimizer.step()
    optimizer.zero_grad()
""")
        self.vary(FAIL, "--set", "{rows}", "--windows", "1", path, said=["BatchNorm1d 1"])


class BadInput(Varied):
    def test_what_cannot_be_run(self):
        plain = PLAIN[-1]
        for words, said in (
                ([plain], f"error: {plain}: found no framework whose words for rows and micro-batches are known"),
                (["--set", "--batch-size 3", plain], "error: --set: found --batch-size 3, expected {rows} in it"),
                (["--set", "{rows}", "nothing.py"], "error: nothing.py: found no such file"),
                (["--rows", "1", *PLAIN], "error: vary: found --rows 1"),
                (["--set", "--batch-size {rows}", plain], "found a step after micro-batches of 2 rows where --batch-size 2 was said, expected "
                 "one after 2, 2; {k} is missing in --set"),
                (["--rows", "500", *PLAIN], "has 24 rows and a window of --rows 500 needs as many"),
                (["--preset", "nanogpt", plain], "its arguments are not those of preset nanogpt (--batch_size={rows} --grad"),
                (["--rows", "8", "--set", "--accum {k} --batch-size 4 # {rows}", plain], "found SystemExit"),
                (["--set", "{rows}", self.script("import torch")], "found no step of a PyTorch optimizer"),
                ([*PLAIN, "--raise-at", "4"], f"found ValueError at {plain}:")):
            with self.subTest(said):
                err = self.vary(ERROR, *words, said=[said])
                self.assertNotIn("Traceback", err)

    def test_a_partition_that_raises_has_its_place(self):
        self.vary(FAIL, *PLAIN, "--drop-last", "--raise-at", "2", said=["2, 2 rows", f"ValueError at {PLAIN[-1]}:", "2 rows are none"])

    def test_other_windows_than_were_asked_for(self):
        self.vary(PASS, "--windows", "40", "--seed", "3", *PLAIN, "--drop-last", said=["the script ends after 12 of 40 windows"])

    def test_an_interrupt_ends_all(self):
        process = started(self.folder, *PLAIN, "--endless")
        run = os.path.join(self.folder, "run-1", "said.log")
        while not os.path.exists(run):
            time.sleep(0.1)
        own = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout.split()
        self.assertTrue(own)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        self.assertEqual(process.returncode, INTERRUPTED, err)
        self.assertNotIn("Traceback", err)
        for pid in own:
            self.assertFalse(os.path.exists(f"/proc/{pid}"), pid)

    def test_both_uses_are_in_the_help(self):
        for words, said in ((["--help"], "vary --help"), (["vary", "--help"], "{rows}")):
            done = subprocess.run([sys.executable, "-B", "-m", "tally_recorder", *words], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": PACKAGE})
            self.assertEqual(done.returncode, PASS)
            self.assertIn(said, done.stdout)


if __name__ == "__main__":
    unittest.main()
