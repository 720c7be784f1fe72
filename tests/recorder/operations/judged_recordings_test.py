#!/usr/bin/env python3
"""What `tally check-operations` says of a recording, right or with a bit of one step turned, and the script that repeats an
operation of it: python3 tests/recorder/operations/judged_recordings_test.py"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401

import torch  # noqa: E402
from torch import nn  # noqa: E402

from recordings import Recorded, Recording  # noqa: E402
from tally_recorder.operations import Operations  # noqa: E402

TALLY = os.environ.get("TALLY", "tally")
REPEATED = re.compile(r"found (\S+), recorded (\S+), expected (\S+) ± (\S+)\n(.*)\n")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 3)

    def forward(self, x):
        x = self.norm(self.first(x).relu())
        return self.last(x)


LINE = Net.forward.__code__.co_firstlineno + 2  # of the last linear layer


def train():
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.randn(5, 6)), torch.tensor([0, 1, 2, 0, 1])).backward()
        optimizer.step()


def of_every_kind():
    """Calls with every kind of argument that a script has to write."""
    with torch.no_grad():
        x = torch.linspace(-2, 3, 24).reshape(4, 6)
        half = x.to(torch.bfloat16)
        torch.addmm(torch.ones(4), x[:, ::2], x[:3, :4], beta=0.5, alpha=2)  # strides, numbers
        half.float(memory_format=torch.contiguous_format)  # a format
        torch.mm(half, half.t())  # bfloat16, transposed
        x.clone()[1:].add_(x[:3], alpha=3)  # writes to self, with an offset
        torch.cat([x, x[:, :0], x.t().reshape(4, 6)], 1)  # a list, an empty tensor
        x.sum(None, dtype=torch.float32)  # None, a dtype, a result of no dimensions
        torch.softmax(x, -1)
        nn.functional.layer_norm(x, [6], torch.ones(6))  # several results
        torch.add(x, torch.tensor(2), out=torch.empty(4, 6))
        torch._foreach_mul_([x.clone(), x[0].clone()], 1.5)
        torch.clamp(x, max=float("inf"), min=-1)
        x[torch.tensor([1, 1, 0])]


class Judged(Recorded):
    def recorded(self, run, name="run"):
        folder = os.path.join(self.folder, name)
        with Operations(folder):
            run()
        return folder

    def tally(self, folder, *options):
        done = subprocess.run([TALLY, "check-operations", folder, "--threads", "1", *options], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def lines(self, folder):
        with open(os.path.join(folder, "operations.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def turn(self, folder, line, element):
        """Turns a high bit of the mantissa of one element of an operation's result."""
        out, = line["out"]
        at, = (each["at"] for each in self.lines(folder) if each.get("block") == out["b"])
        with open(os.path.join(folder, "bits.bin"), "r+b") as file:
            file.seek(at + 4 * (out["o"] + element) + 2)
            byte = file.read(1)[0] ^ 0x20
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte]))

    def repeated(self, script):
        done = subprocess.run([sys.executable, "-B", script], capture_output=True, text=True, cwd="/")
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_a_right_recording_passes_with_a_page_and_no_script(self):
        folder = self.recorded(train)
        code, said, beside = self.tally(folder)
        self.assertEqual((code, said.split(":")[0]), (0, "PASS"), said + beside)
        self.assertEqual(sorted(os.listdir(folder)), ["bits.bin", "operations.html", "operations.json", "operations.jsonl"])
        with open(os.path.join(folder, "operations.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.tally(folder, "--json")[1])
        with open(os.path.join(folder, "operations.html"), encoding="utf-8") as file:
            self.assertIn("</html>", file.read())
        self.assertEqual(self.tally(folder)[0], 0, "replaces its own")

    def test_one_wrong_element_is_found_where_it_is(self):
        folder = self.recorded(train)
        line = [each for each in self.lines(folder) if each.get("op") == "aten.addmm.default"][3]  # of the second step
        self.assertIn(f":{LINE} in forward", line["where"])
        self.turn(folder, line, 7)
        code, said, beside = self.tally(folder)
        self.assertEqual(code, 1, said + beside)
        first, number = said.split("\n")[1], line["i"]
        self.assertTrue(first.startswith(f"  first: operation {number}, aten.addmm.default, forward at "), said)
        self.assertIn(f"{os.path.basename(__file__)}:{LINE} in forward", first)
        self.assertIn("step 1", first)
        self.assertIn("element [2, 1]: found ", said)
        self.assertIn("; 1 of 15 elements is wrong", said)
        with open(os.path.join(folder, "operations.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn(f"{os.path.basename(__file__)}:{LINE} in forward", page)

        failure = json.loads(self.tally(folder, "--json")[1])["failures"][0]
        worst = failure["results"][0]["elements_worst"][0]
        self.assertEqual((failure["at"]["number"], worst["place"]), (number, [2, 1]))
        found, recorded, expected, allowed, verdict = REPEATED.match(
            self.repeated(os.path.join(folder, f"repeat_operation_{number}.py"))).groups()
        self.assertEqual(recorded, f"{worst['found']:.9g}")
        self.assertGreater(abs(float(recorded) - float(expected)), 100 * float(allowed))
        self.assertLessEqual(abs(float(found) - worst["expected"]), worst["allowed"])
        self.assertTrue(verdict.startswith("right here"))

    def test_a_wrong_kernel_is_wrong_again(self):
        def run():
            x = torch.linspace(-1, 1, 400, dtype=torch.float32)
            with torch.no_grad():
                nn.functional.gelu(x)
        folder = self.recorded(run)
        code, said, _ = self.tally(folder)
        if code == 0:
            self.skipTest("this PyTorch's gelu is as precise as float32")
        number = re.search(r"operation (\d+), aten.gelu", said)[1]
        found, recorded, *_, verdict = REPEATED.match(self.repeated(os.path.join(folder, f"repeat_operation_{number}.py"))).groups()
        self.assertEqual((found, verdict), (recorded, "wrong again"))

    def test_sums_of_shortened_factors_are_less_precise(self):
        def run():
            torch.manual_seed(0)
            with torch.no_grad():
                torch.mm(torch.randn(32, 256), torch.randn(256, 32))
        for low, fault in ((7, "computes less precisely than float32 does"), (15, "and leaves values outside of their bounds")):
            folder = self.recorded(run, f"low {low}")
            line, = (each for each in self.lines(folder) if each.get("op") == "aten.mm.default")
            found = Recording(folder)
            a, b = (found.tensor(line["args"][name]).view(torch.int32) >> low << low for name in ("self", "mat2"))
            with open(os.path.join(folder, "bits.bin"), "r+b") as file:
                file.seek(found.blocks[line["out"][0]["b"]]["at"])
                file.write(torch.mm(a.view(torch.float32), b.view(torch.float32)).numpy().tobytes())
            code, said, _ = self.tally(folder)
            self.assertEqual((code, said.split("\n")[0].endswith(fault)), (1, True), said)
            self.assertEqual("errors are" in said, low == 7)
            said = self.repeated(os.path.join(folder, f"repeat_operation_{line['i']}.py"))
            self.assertIn("inside of its bound" if low == 7 else "right here", said)

    def test_one_operation_alone(self):
        folder = self.recorded(train)
        line = next(each for each in self.lines(folder) if each.get("op") == "aten.native_layer_norm.default")
        self.turn(folder, {"out": line["out"][1:2]}, 3)
        code, said, _ = self.tally(folder, "--operation", str(line["i"]))
        self.assertEqual(code, 1)
        self.assertTrue(said.startswith("FAIL: native_layer_norm leaves "), said)
        for part in ("[5, 8] float32: 0 of 40 elements wrong", "[5, 1] float32: 1 of 5 elements wrong", "[3, 0]"):
            self.assertIn(part, said)
        self.assertEqual(os.path.exists(os.path.join(folder, "operations.html")), False)
        with open(os.path.join(folder, f"repeat_operation_{line['i']}.py"), encoding="utf-8") as file:
            self.assertIn("result[1][3, 0]", file.read())
        self.assertEqual(json.loads(self.tally(folder, "--operation", str(line["i"]), "--json")[1])["results"][1]["wrong"], 1)
        code, _, beside = self.tally(folder, "--operation", "99999")
        self.assertEqual((code, "found none of that number" in beside), (2, True))

    def test_every_kind_of_argument_is_written(self):
        folder = self.recorded(of_every_kind)
        repeated = set()
        for line in self.lines(folder):
            if line.get("op") is None or not line["out"] and not line.get("wrote"):
                continue
            self.damage(folder, line)
            code, said, beside = self.tally(folder, "--operation", str(line["i"]))
            self.assertIn(code, (0, 1, 4), beside)
            shutil.copy(os.path.join(self.folder, "whole"), os.path.join(folder, "bits.bin"))
            if code != 1:
                continue
            script = os.path.join(folder, f"repeat_operation_{line['i']}.py")
            self.assertTrue(os.path.exists(script), said)
            self.assertIn("right here", self.repeated(script), line)
            repeated.add(line["op"].split(".")[1])
        expected = {"addmm", "_to_copy", "mm", "add_", "cat", "sum", "_softmax", "native_layer_norm", "add", "_foreach_mul_", "clamp", "index"}
        self.assertEqual(expected - repeated, set())

    def damage(self, folder, line):
        """Turns bits of what the operation left, all of it, unless it reads that."""
        whole = os.path.join(self.folder, "whole")
        if not os.path.exists(whole):
            shutil.copy(os.path.join(folder, "bits.bin"), whole)
        blocks = {each["block"]: each for each in self.lines(folder) if "block" in each}
        left = set(re.findall(r'"b": (\d+)', json.dumps([line["out"], line.get("wrote", {})])))
        read = set(re.findall(r'"b": (\d+)', json.dumps(line["args"])))
        with open(os.path.join(folder, "bits.bin"), "r+b") as file:
            for number in left - read:
                block = blocks[int(number)]
                file.seek(block["at"])
                data = bytearray(file.read(block["bytes"]))
                data[1::4] = bytes(byte ^ 0x10 for byte in data[1::4])
                data[3::4] = bytes(byte ^ 0x01 for byte in data[3::4])
                file.seek(block["at"])
                file.write(data)

    def test_files_of_others_are_left_alone(self):
        folder = self.recorded(train)
        for name in ("operations.html", "operations.json"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("mine")
            code, said, beside = self.tally(folder)
            self.assertEqual((code, said), (2, ""))
            self.assertIn("found a file that Tally did not write", beside)
            os.remove(os.path.join(folder, name))
        out = os.path.join(self.folder, "other", "place")
        line = next(each for each in self.lines(folder) if each.get("op") == "aten.addmm.default")
        self.turn(folder, line, 0)
        self.assertEqual(self.tally(folder, "--out", out)[0], 1)
        self.assertEqual(sorted(os.listdir(out)), ["operations.html", "operations.json", f"repeat_operation_{line['i']}.py"])
        self.assertIn("right here", self.repeated(os.path.join(out, f"repeat_operation_{line['i']}.py")))


if __name__ == "__main__":
    unittest.main()
