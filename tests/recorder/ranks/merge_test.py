#!/usr/bin/env python3
"""Parts of ranks: merged later, and refused in one sentence each: python3 tests/recorder/ranks/merge_test.py

The program is named by the variable TALLY, or found on the PATH."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))

from recorder_path import PACKAGE  # noqa: E402
from tally_recorder import merge  # noqa: E402

PASS, ERROR = 0, 2


def recorded(script, *words):
    """The exit code of each of two ranks of a script, started as torchrun starts them, and what each said."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tally_recorder", "--micro-batches", "2", "--windows", "2", *words,
               os.path.join(HERE, script)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={
        **os.environ, "PYTHONPATH": PACKAGE, "GLOO_SOCKET_IFNAME": "lo", "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port), "RANK": str(rank), "WORLD_SIZE": "2"}) for rank in range(2)]
    said = [each.communicate()[0] for each in started]
    return [each.returncode for each in started], said


class Parts(unittest.TestCase):
    """What ranks leave of a script that knows nothing of the recorder."""

    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory()
        cls.whole = os.path.join(cls.held.name, "whole")
        cls.codes, cls.said = recorded("train_ranks.py", "--out", cls.whole)

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def setUp(self):
        self.folder = os.path.join(self.held.name, "copy")
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.whole, self.folder)

    def merged(self):
        said = []
        code = merge.merged(self.folder, None, show=said.append)
        return code, "\n".join(said)

    def change(self, rank, change):
        path = os.path.join(self.folder, f"rank-{rank}", "part.json")
        with open(path, encoding="utf-8") as file:
            said = json.load(file)
        change(said)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(said, file)

    def test_a_script_of_several_ranks_is_recorded_and_judged(self):
        self.assertEqual(self.codes, [PASS, PASS], self.said)
        self.assertIn("assumed: 2 ranks add up once per window", self.said[0])
        self.assertEqual(self.said[1], "")

    def test_a_script_that_adds_up_itself_is_judged_where_its_division_is_told(self):
        for words, code, sentence in ((["--ranks", '{"reduce": {"divide": "after"}}'], PASS, "pass"),
                                      ([], ERROR, "expected to be told how gradients are divided"),
                                      (["--ranks", "after"], ERROR, "argument --ranks: found after, expected JSON")):
            with self.subTest(words):
                codes, said = recorded("train_own_sum.py", "--out", os.path.join(self.folder, "own"), *words)
                self.assertEqual(codes, [code, code], said)
                self.assertIn(sentence, said[0])

    def test_a_merge_makes_the_same_capture(self):
        before = {}
        for name in ("case.json", "case.safetensors", "trace.safetensors"):
            with open(os.path.join(self.folder, name), "rb") as file:
                before[name] = file.read()
            os.remove(os.path.join(self.folder, name))
        code, said = self.merged()
        self.assertEqual(code, PASS, said)
        for name, bits in before.items():
            with open(os.path.join(self.folder, name), "rb") as file:
                self.assertEqual(file.read(), bits, name)

    def test_parts_that_disagree_are_one_sentence_each(self):
        def other_rate(said):
            said["case"]["recipe"]["learning_rate"]["base"] = 0.5

        def fewer(said):
            said["case"]["windows"].pop()

        for change, expected in (
                (other_rate, r"rank 1, recipe.learning_rate.base: found 0.5, expected 0.125 as of rank 0; a case states"),
                (fewer, "rank 1: found 1 windows, expected 2 as of rank 0; record as many on every rank"),
                (lambda said: said.update(run="another"), "rank 1: found a part of another run than rank 0's"),
                (lambda said: said.update(ranks=3), "rank 0: found a part of 2 ranks, expected one of 3"),
                (lambda said: said["case"]["model"]["layers"][0]["tensors"].update({"bias": [5]}),
                 "rank 1, model.layers: found .*, expected .* as of rank 0"),
                (lambda said: said["claims"].update(subject="PyTorch 9 on cpu"), "rank 1: found PyTorch 9 on cpu with"),
                (lambda said: said.update(problems=["window 0: no step"]), "rank 1: window 0: no step")):
            with self.subTest(expected):
                self.setUp()
                self.refused(change, expected)

    def refused(self, change, expected):
        self.change(1, change)
        code, said = self.merged()
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        self.assertEqual(code, ERROR, said)
        self.assertEqual(len(errors), 1, said)
        self.assertRegex(errors[0], f"^error: {expected}")

    def test_a_missing_part_is_named(self):
        shutil.rmtree(os.path.join(self.folder, "rank-1"))
        code, said = self.merged()
        self.assertEqual(code, ERROR, said)
        self.assertRegex(said, "^error: rank 1: found no part of it in .*, expected those of ranks 0 to 1; call check on")

    def test_a_part_that_is_none_is_named(self):
        with open(os.path.join(self.folder, "rank-1", "part.json"), "w", encoding="utf-8") as file:
            file.write("{")
        code, said = self.merged()
        self.assertEqual(code, ERROR, said)
        self.assertRegex(said, "^error: .*rank-1: found .*, expected what rank 1 recorded; record all ranks again")

    def test_a_folder_without_parts_is_named(self):
        code = subprocess.run([sys.executable, "-m", "tally_recorder.merge", os.path.join(self.held.name, "nowhere")],
                              env={**os.environ, "PYTHONPATH": PACKAGE}, stdout=subprocess.PIPE, text=True)
        self.assertEqual(code.returncode, ERROR)
        self.assertRegex(code.stdout, "^error: .*nowhere: found No such file or directory, expected the parts")


if __name__ == "__main__":
    unittest.main()
