#!/usr/bin/env python3
"""Scripts that know nothing of Tally, on the same rows in other micro-batches: python3 tests/vary_scripts_test.py"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "scripts")
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import needs_torch  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from tally_recorder.varied.script import presets  # noqa: E402
from tally_recorder.varied.script.casts import Casts, set_default_dtype  # noqa: E402
from tally_recorder.varied.script.runs import Script  # noqa: E402
from tally_recorder.varied.script.seen import rows_of  # noqa: E402

PASS, FAIL, ERROR, INTERRUPTED = 0, 1, 2, 130
PLAIN = ["--set", "--batch-size {rows} --accum {k}", os.path.join(SCRIPTS, "plain.py")]
NANO = os.path.join(SCRIPTS, "nano", "train.py")


def started(folder, *words):
    return subprocess.Popen([sys.executable, "-B", "-m", "tally_recorder", "vary", "--rows", "4", "--out", folder, *words],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
                            env={**os.environ, "PYTHONPATH": os.path.dirname(HERE)},
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


class Varied(unittest.TestCase):
    def setUp(self):
        near = tempfile.TemporaryDirectory()
        self.addCleanup(near.cleanup)
        self.folder = near.name

    def script(self, text):
        path = os.path.join(self.folder, "train.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def vary(self, code, *words, said=()):
        """What was printed."""
        process = started(self.folder, *words)
        out, err = process.communicate()
        self.assertEqual(process.returncode, code, out + err)
        for each in said:
            self.assertIn(each, out + err)
        return out + err

    def document(self):
        with open(os.path.join(self.folder, "vary.json"), encoding="utf-8") as file:
            return json.load(file)

    def sizes(self):
        return {tuple(run["sizes"]) for run in self.document()["runs"] if run["sizes"]}


class PlainLoop(Varied):
    def test_a_right_loop_passes(self):
        self.vary(PASS, *PLAIN, said=["dropout was off in all runs"])
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
        self.vary(FAIL, *PLAIN, "--loss", "mean-of-means", said=["1/(K n_k)"])
        weights = self.document()["weights"][-1]
        for found, size in zip(weights["found"], weights["sizes"]):
            self.assertAlmostEqual(found, 1 / (len(weights["sizes"]) * size), delta=torch.finfo(torch.float32).eps)
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
        self.assertNotIn("end ", said)


class OtherScripts(Varied):
    def test_one_like_nanogpt(self):
        self.vary(PASS, NANO, said=["preset nanogpt: ", "only equal micro-batches"])
        self.vary(FAIL, NANO, "--divide=False", said=["weighs 1/n_k"])

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
                 "one after 2, 2"),
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
                                  env={**os.environ, "PYTHONPATH": os.path.dirname(HERE)})
            self.assertEqual(done.returncode, PASS)
            self.assertIn(said, done.stdout)


class Parts(unittest.TestCase):
    def test_where_float64_cannot_be_had(self):
        with tempfile.TemporaryDirectory() as folder, Script(PLAIN[-1], ["--only-float32"], PLAIN[1].split(), rows=4,
                                                             folder=folder) as script:
            script.prepare()
            self.assertEqual(script.head()["precisions"], ["float32"])
            self.assertRegex(script.notes[0], "float64 cannot be had: TypeError at .*plain.py:")

    def test_a_row_is_the_same_whatever_pads_it(self):
        short, long = torch.tensor([[5, 6, 0]]), torch.tensor([[7, 8, 9, 9, 9], [5, 6, 0, 0, 0]])
        self.assertEqual(rows_of([short]), rows_of([long])[1:])
        padded, mask = torch.tensor([[9, 5, 6]]), torch.tensor([[0, 1, 1]])
        self.assertEqual(rows_of([padded, mask], mask), rows_of([torch.tensor([[5, 6]]), torch.ones(1, 2).long()], torch.ones(1, 2)))
        self.assertNotEqual(rows_of([short]), rows_of([long])[:1])

    def test_frameworks_are_detected_by_what_is_imported(self):
        for text, preset in (("from transformers import Trainer", "trainer"), ("import transformers\ntransformers.Trainer()", "trainer"),
                             ("from transformers import LlamaForCausalLM\nfrom accelerate import Accelerator", "accelerate"),
                             ("import lightning as L\nL.Trainer()", "lightning"), ("import deepspeed", "deepspeed"),
                             ("exec(open('configurator.py').read())", "nanogpt"), ("import torch", None), ("(", None)):
            self.assertEqual(presets.detected(text), preset, text)


class InOneFormat(unittest.TestCase):
    def cast(self, dtype):
        self.addCleanup(set_default_dtype, torch.float32)
        self.addCleanup(setattr, torch, "set_default_dtype", set_default_dtype)
        return Casts(dtype)

    def test_all_that_is_asked_for_is_of_it(self):
        for dtype in (torch.float64, torch.float32):
            casts = self.cast(dtype)
            with casts:
                before = torch.ones(2)
                self.assertEqual(before.dtype, torch.float32)
                casts.begin()
                here = torch.ones(2, 2)
                for found in (here, here.float(), here.to(torch.bfloat16), here.half(), torch.zeros(2, dtype=torch.float32),
                              F.softmax(here, -1, dtype=torch.float32), torch.arange(3).float(), torch.randn(3), torch.rand_like(here),
                              here @ before, F.linear(before, here), torch.cat([here[0], before]), F.gumbel_softmax(before)):
                    self.assertEqual(found.dtype, dtype)
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    self.assertEqual(F.linear(here, here).dtype, dtype)
            set_default_dtype(torch.float32)

    def test_all_formats_draw_alike(self):
        drawn = {}
        for dtype in (torch.float64, torch.float32):
            casts = self.cast(dtype)
            with casts:
                casts.begin()
                torch.manual_seed(0)
                layer = torch.nn.Linear(3, 5)
                drawn[dtype] = [torch.randn(7), torch.rand(7), torch.empty(3).normal_(), torch.bernoulli(torch.full((9,), 0.5)),
                                torch.multinomial(torch.ones(4) / 4, 2), torch.normal(torch.zeros(3), torch.ones(3)), torch.randperm(5), layer.weight.detach(), layer.bias.detach()]
                self.assertEqual(layer.weight.dtype, dtype)
            set_default_dtype(torch.float32)
        for one, other in zip(*drawn.values()):
            self.assertTrue(torch.equal(one, other.to(one.dtype)))

    def test_rows_are_moved_alike_in_whatever_batch(self):
        casts = Casts(torch.float64, stream=1)
        self.addCleanup(setattr, torch, "set_default_dtype", set_default_dtype)
        rows = torch.randn(6, 3)
        moved = casts.rows(rows)
        self.assertTrue(torch.equal(moved[2:], casts.rows(rows[2:])))
        far = (moved / rows.double() - 1).abs()
        self.assertGreater(float(far.min()), 0)
        self.assertLessEqual(float(far.max()), 2.0**-24)


if __name__ == "__main__":
    unittest.main()
