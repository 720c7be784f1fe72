#!/usr/bin/env python3
"""A long run is judged while it goes on: python3 tests/recorder/loops/watched_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from recorder_path import PACKAGE  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import tally_recorder  # noqa: E402
from tally_recorder import verdict  # noqa: E402
from tally_recorder.recipe import Meaning  # noqa: E402
from verdicts import ERROR, FAIL, PASS  # noqa: E402

K = 4
SHORT = (4, 4, 4, 2)  # whose means weigh rows unequally
SLOW = """#!/bin/sh
# The program, which judges nothing before the loop has come to its end.
if [ "$1" = check ]; then
  nice > "{ended}.priority"
  tries=0
  while [ ! -e "{ended}" ]; do
    tries=$((tries + 1))
    [ $tries -lt 500 ] || exit 9
    sleep 0.02
  done
fi
exec "{tally}" "$@"
"""


def network(*layers):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4), *layers)


class Watched(unittest.TestCase):
    def setUp(self):
        near = tempfile.TemporaryDirectory()
        self.addCleanup(near.cleanup)
        self.out, self.lines, self.figures = near.name, [], []

    def recorder(self, model, optimizer, micro_batches=K, **options):
        return tally_recorder.Recorder(model, optimizer, micro_batches, out=os.path.join(self.out, "watched"), show=self.lines.append,
                                       report=lambda step, figures: self.figures.append((step, figures)), **options)

    def train(self, count, bad=(), behind=lambda recorder, window: recorder.wait(), sizes_of=lambda _: (4,) * K, **options):
        """Trains, and waits behind each window for what is being judged; windows of `bad` end with a short micro-batch."""
        model = network()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        with self.recorder(model, optimizer, **options) as recorder:
            for window in range(count):
                sizes = SHORT if window in bad else sizes_of(window)
                for rows in sizes:
                    (F.cross_entropy(model(torch.randn(rows, 6)), torch.randint(0, 4, (rows,))) / len(sizes)).backward()
                optimizer.step()
                optimizer.zero_grad()
                behind(recorder, window)
        self.model, self.optimizer = model, optimizer
        return recorder

    def verdicts(self):
        return {step: figures["tally/verdict"] for step, figures in self.figures}

    def test_one_window_in_so_many_is_judged_and_said(self):
        recorder = self.train(12, bad=(8,), watch=4)
        self.assertEqual(recorder.check(), FAIL, self.lines)
        self.assertEqual(self.verdicts(), {0: PASS, 4: PASS, 8: FAIL})
        r = {step: figures["tally/r"] for step, figures in self.figures}
        self.assertTrue(0 < r[0] <= 1 and 0 < r[4] <= 1 < r[8], r)
        self.assertEqual([line.partition(":")[0].partition(",")[0] for line in self.lines if line.startswith("window ")],
                         ["window 0", "window 4", "window 8"])
        self.assertTrue(any("window 8, r " in line and "fail: every micro-batch is divided by its own items" in line for line in self.lines), self.lines)
        self.assertEqual(sum(line.startswith("assumed: clip") for line in self.lines), 1, self.lines)
        self.assertIn("1 did not pass; fail at window 8", self.lines[-1])
        self.assertEqual(sorted(os.listdir(os.path.join(self.out, "watched"))), ["000000", "000004", "000008"])
        self.assertIn("report.html", os.listdir(os.path.join(self.out, "watched", "000008")))

    def test_the_drift_is_known_from_level_window_on(self):
        for level, known in (("state", False), ("window", True)):
            self.figures.clear()
            self.assertEqual(self.train(5, watch=3, level=level).check(), PASS, self.lines)
            self.assertEqual(["tally/drift" in figures for _, figures in self.figures], [known] * 2)
            self.assertTrue(all(0 < figures.get("tally/drift", 1) for _, figures in self.figures), self.figures)

    def test_a_fault_between_two_stretches_is_not_seen_and_one_at_their_end_is(self):
        self.assertEqual(self.train(8, bad=(2, 3), watch=4).check(), PASS, self.lines)
        self.assertEqual(self.train(5, bad=(4,), watch=4).check(), FAIL, self.lines)

    def test_a_stretch_begins_in_the_midst_of_counts_that_repeat(self):
        counts = [4, 2, 3]
        recorder = self.train(10, micro_batches=counts, watch=4, sizes_of=lambda window: (4,) * counts[window % 3])
        self.assertEqual(recorder.check(), PASS, self.lines)
        self.assertEqual(self.verdicts(), {0: PASS, 4: PASS, 8: PASS})
        meaning = Meaning(counts, "state", None, None, None, None, True)
        self.assertTrue(all(meaning.place(meaning.first_of(window))[:2] == (window, 0) for window in range(9)))

    def test_the_loop_is_not_held_up(self):
        """The program waits for the end of a loop that, were it held up, would not come there."""
        ended, slow = os.path.join(self.out, "ended"), os.path.join(self.out, "slow")
        with open(slow, "w", encoding="utf-8") as file:
            file.write(SLOW.format(ended=ended, tally=verdict.command(None)))
        os.chmod(slow, 0o755)

        def behind(_, window):
            if window == 9:
                self.assertEqual(self.figures, [])
                open(ended, "w").close()
        recorder = self.train(10, watch=4, behind=behind, tally=slow)
        self.assertEqual(recorder.check(), PASS, self.lines)
        self.assertEqual(self.verdicts(), {0: PASS})
        self.assertIn("window 4: not watched, as window 0 is still being judged", self.lines)
        self.assertRegex(self.lines[-1], "^watched 1 stretch in .*: it passes; 2 more were due while one was being judged, and not watched$")
        with open(f"{ended}.priority", encoding="utf-8") as file:
            self.assertEqual(file.read(), f"{min(19, os.nice(0) + 19)}\n")

    def test_nothing_is_hooked_between_two_stretches_nor_behind_the_last(self):
        seen = []

        def behind(recorder, window):
            recorder.wait()
            parameters = list(recorder.model.parameters())
            seen.append(any(parameter._backward_hooks for parameter in parameters))
        self.train(9, watch=8, behind=behind)
        self.assertEqual(seen, [True] + [False] * 6 + [True, True])  # behind window 1 the stretch is known to be over
        self.assertFalse("step" in self.optimizer.__dict__)
        self.assertFalse(any(parameter._backward_hooks for parameter in self.model.parameters()))

    def test_a_loop_that_ends_early_keeps_what_was_judged(self):
        def behind(recorder, window):
            recorder.wait()
            if window == 6:
                raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            self.train(9, watch=4, behind=behind, windows=2)
        self.assertEqual(self.verdicts(), {0: PASS, 4: PASS})

    def test_what_was_judged_before_is_not_taken_for_this_run(self):
        """No program, no figures: those of an earlier run stand in the folder."""
        self.train(3, watch=3)
        self.figures.clear()
        with unittest.mock.patch("tally_recorder.recorder.verdict.check", return_value=(4, "not judged")):
            self.train(3, watch=3)
        self.assertEqual(self.figures, [(0, {"tally/verdict": 4})])

    def test_a_report_that_raises_ends_nothing(self):
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        calls = []

        def report(step, figures):
            calls.append(step)
            raise OSError("disk full")
        with tally_recorder.Recorder(model, optimizer, 1, watch=2, out=self.out, show=self.lines.append, report=report) as recorder:
            for _ in range(6):
                F.mse_loss(model(torch.randn(4, 6)), torch.zeros(4, 4)).backward()
                optimizer.step()
                optimizer.zero_grad()
                recorder.wait()
        self.assertEqual(recorder.check(), PASS, self.lines)
        self.assertEqual(calls, [0])
        self.assertIn("error: report: found OSError (disk full)", "\n".join(self.lines))

    def test_what_the_recorder_does_wrong_narrows_what_is_watched(self):
        with unittest.mock.patch("tally_recorder.watched.Watched.stretch_ends", side_effect=RuntimeError("no more")):
            recorder = self.train(9, watch=4)
        self.assertEqual(recorder.check(), ERROR, self.lines)
        self.assertIn("error: nothing was watched from window ", "\n".join(self.lines))

    def test_parameters_that_change_are_the_stretchs_error_and_the_next_goes_on(self):
        def behind(recorder, window):
            recorder.wait()
            if window in (2, 4):
                recorder.model[0].weight.data = recorder.model[0].weight.data.to(torch.float64 if window == 2 else torch.float32)

        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        with self.recorder(model, optimizer, 1, watch=3) as recorder:
            for window in range(8):
                x = torch.randn(4, 6)
                loss = model[2](torch.tanh(F.linear(x, model[0].weight.float(), model[0].bias))).square().mean()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                behind(recorder, window)
        self.assertEqual(recorder.check(), ERROR, self.lines)
        self.assertEqual(self.verdicts(), {0: PASS, 3: ERROR, 6: PASS}, self.lines)

    def test_what_cannot_be_watched_is_refused_before_the_loop(self):
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        for options in ({"watch": 1}, {"watch": 2.5}, {"watch": 3, "windows": 3}, {"watch": 4, "tally": "/nowhere/tally"}):
            with self.subTest(options), self.assertRaises(tally_recorder.CaptureError):
                self.recorder(model, optimizer, **options)
        with self.recorder(model, optimizer, watch=4) as recorder:
            pass
        self.assertEqual(recorder.check(), ERROR)


class Script(unittest.TestCase):
    TRAIN = ("import threading, torch\n"
             "from torch.nn.utils import clip_grad_norm_\n"
             "torch.manual_seed(1)\n"
             "model = torch.nn.Linear(6, 4)\n"
             "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
             "for window in range(9):\n"
             "    for rows in (4, 4, 4, 2 if window == 6 else 4):\n"
             "        loss = torch.nn.functional.cross_entropy(model(torch.randn(rows, 6)), torch.randint(0, 4, (rows,)))\n"
             "        (loss / 4).backward()\n"
             "    clip_grad_norm_(model.parameters(), 0.5)\n"
             "    optimizer.step()\n"
             "    optimizer.zero_grad()\n"
             "    for thread in threading.enumerate():\n"
             "        if thread is not threading.main_thread():\n"
             "            thread.join()\n")

    def run_script(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "train.py"), "w", encoding="utf-8") as file:
                file.write(self.TRAIN)
            done = subprocess.run([sys.executable, "-B", "-m", "tally_recorder", "--micro-batches", "4", *options, "train.py"],
                                  cwd=folder, env={**os.environ, "PYTHONPATH": PACKAGE}, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def test_a_script_is_watched_as_it_is(self):
        code, said = self.run_script("--watch", "6")
        self.assertEqual(code, FAIL, said)
        self.assertIn("assumed: clip is global_norm (max_norm 0.5", said)
        self.assertRegex(said, r"(?m)^window 0, r 0\.\d+: pass$")
        self.assertRegex(said, r"(?m)^window 6, r .*: fail: every micro-batch is divided by its own items, and the window by K$")

    def test_words_that_contradict_it_are_refused(self):
        for options in (("--watch", "1"), ("--watch", "6", "--stop"), ("--watch", "6", "--windows", "1", "--every", "8")):
            code, said = self.run_script(*options)
            self.assertEqual(code, ERROR, said)
            self.assertIn("watch: found ", said)


if __name__ == "__main__":
    unittest.main()
