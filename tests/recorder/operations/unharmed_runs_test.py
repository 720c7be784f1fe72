#!/usr/bin/env python3
"""A run is the same with a recording, and a recording is whole up to where it ends: python3 tests/recorder/operations/unharmed_runs_test.py"""
import os
import random
import signal
import subprocess
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from recorder_path import PACKAGE  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402

from recordings import Recorded, Recording, bits  # noqa: E402
from tally_recorder import CaptureError  # noqa: E402
from tally_recorder.operations import Operations  # noqa: E402

LOOP = """
import os, signal, sys
sys.path.insert(1, sys.argv[1])
import torch
from tally_recorder.operations import Operations
x = torch.ones(1000)
with Operations(sys.argv[2]):
    for _ in range(50):
        x.add_(1)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def trained():
    """All that a loop leaves: parameters, buffers, the optimizer's state, losses, and generators."""
    torch.manual_seed(5)
    random.seed(5)
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.GELU(), nn.Dropout(0.3), nn.Linear(8, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(torch.randn(4, 6)), torch.randint(0, 3, (4,)))
        loss.backward()
        optimizer.step()
        losses.append(bits(loss))
        with torch.no_grad():
            model[0].weight.clamp_(-1, 1)
        losses.append(torch.is_grad_enabled())
    state = [bits(value) if isinstance(value, torch.Tensor) else value for each in optimizer.state.values() for value in each.values()]
    return [bits(value) for value in model.state_dict().values()], state, losses, bits(torch.get_rng_state()), random.getstate()


class Unharmed(Recorded):
    def test_a_run_has_the_same_bits(self):
        for share in (1.0, 0.1):
            with Operations(os.path.join(self.folder, str(share)), share=share):
                found = trained()
            self.assertEqual(found, trained())

    def test_nothing_is_left_behind(self):
        kinds = torch.autograd.profiler.record_function, torch._C.ScriptMethod, torch._C.ScriptFunction, torch.cuda.CUDAGraph
        before = [dict(kind.__dict__) for kind in kinds]
        with Operations(self.folder):
            self.assertNotEqual([dict(kind.__dict__) for kind in kinds], before)
        self.assertEqual([dict(kind.__dict__) for kind in kinds], before)
        self.assertIsNone(getattr(torch.utils._python_dispatch, "_get_current_dispatch_mode")())

    def test_an_exception_of_the_loop_is_its_own(self):
        with self.assertRaisesRegex(ValueError, "^mine$"), Operations(self.folder):
            torch.ones(2).neg()
            raise ValueError("mine")
        self.assertEqual(Recording(self.folder).end["recorded"], 2)

    def test_a_failure_of_the_recording_does_not_end_the_loop(self):
        for number, begins in enumerate((torch.neg, torch.ones)):  # before an operation, and behind one
            folder, reached, x = os.path.join(self.folder, str(number)), [], torch.ones(2)
            with self.assertRaisesRegex(CaptureError, "the recorder itself failed in .*made to fail"):
                with Operations(folder) as recording:
                    x.neg()
                    recording.storages.block = lambda *_: (_ for _ in ()).throw(OSError("made to fail"))
                    reached.append(begins(x if begins is torch.neg else 2))
                    reached.append(x.neg())
            self.assertEqual(len(reached), 2)
            found = Recording(folder)
            self.assertEqual((len(found.operations), found.end), (1, None))
            self.assertRegex(found.unseen[0]["unseen"], "made to fail")

    def test_a_process_that_is_forked_records_nothing(self):
        with Operations(self.folder):
            torch.ones(2).neg()
            child = os.fork()
            if not child:
                torch.ones(2).neg()
                os._exit(0)
            os.waitpid(child, 0)
            torch.ones(2).exp()
        self.assertEqual([line["op"] for line in Recording(self.folder).operations],
                         ["aten.ones.default", "aten.neg.default", "aten.ones.default", "aten.exp.default"])


class Sampled(Recorded):
    def steps(self, **options):
        layer = nn.Linear(4, 4)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

        def run():
            for _ in range(3):
                for _ in range(30):
                    layer(torch.ones(2, 4)).sum().backward()
                optimizer.step()
        return self.record(run, layer, **options)

    def test_a_share_and_the_first_of_every_name_in_a_step(self):
        whole, found = self.steps(), self.steps(share=0.1)
        self.assertEqual(found.end["seen"], whole.end["seen"])
        self.assertEqual({(line["op"], line["step"]) for line in found.operations}, {(line["op"], line["step"]) for line in whole.operations})
        first = {}
        for line in whole.operations:
            first.setdefault((line["op"], line["step"]), line["i"])
        drawn = {line["i"] for line in found.operations}
        self.assertLessEqual(set(first.values()), drawn)
        rest = len(drawn - set(first.values())) / (whole.end["seen"] - len(first))
        self.assertTrue(0.05 < rest < 0.15, rest)
        self.assertLess(len(found.bits), len(whole.bits) / 2)
        self.assertEqual(found.unseen, [])

    def test_the_draw_is_the_seed_s(self):
        drawn = [[line["i"] for line in self.steps(share=0.1, seed=seed).operations] for seed in (0, 0, 1)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])
        self.assertLess(len(self.steps(share=0).operations), 60)


class Folders(Recorded):
    def test_a_run_that_is_killed_leaves_whole_lines(self):
        folder = os.path.join(self.folder, "killed")
        done = subprocess.run([sys.executable, "-B", "-c", LOOP, PACKAGE, folder])
        self.assertEqual(done.returncode, -signal.SIGKILL)
        found = Recording(folder)
        self.assertIsNone(found.end)
        self.assertEqual(len(found.called("add_.Tensor")), 50)
        self.assertEqual(found.tensor(found.called("add_.Tensor")[-1]["out"][0]).tolist(), [51.0] * 1000)

    def test_one_recording_a_folder(self):
        recording = Operations(self.folder)
        with recording:
            torch.ones(2)
        before = Recording(self.folder).bits
        for again in (recording, Operations(self.folder)):
            with self.assertRaisesRegex(CaptureError, "operations.jsonl: found a recording of operations, expected none; pass another folder"):
                with again:
                    self.fail("entered")
        self.assertEqual(Recording(self.folder).bits, before)
        self.assertIsNotNone(Recording(self.folder).end)

    def test_wrong_arguments_are_refused(self):
        for options, words in (({"share": 2}, "share: found 2, expected a number from 0 to 1"), ({"share": "all"}, "share: found 'all'"),
                               ({"model": print}, "model: found builtin_function_or_method, expected a torch.nn.Module")):
            with self.assertRaisesRegex(CaptureError, words):
                Operations(self.folder, **options)

    def test_the_header(self):
        with Operations(self.folder, share=0.5, seed=3):
            pass
        found = Recording(self.folder)
        self.assertEqual({key: found.header[key] for key in ("tally", "version", "torch", "share", "seed", "rank", "threads")},
                         {"tally": "operations", "version": 1, "torch": torch.__version__, "share": 0.5, "seed": 3, "rank": 0,
                          "threads": torch.get_num_threads()})
        self.assertRegex(found.header["profile"], r"^pytorch-(cpu|cuda)-\d+\.\d+$")


class Unseen(Recorded):
    def sentences(self, run):
        return [line["unseen"] for line in self.record(run).unseen]

    def test_torchscript(self):
        function, module = torch.jit.script(nn.Linear(2, 2)), torch.jit.trace(lambda x: x.sin() + 1, torch.ones(2))

        def run():
            for _ in range(3):
                function(torch.ones(1, 2))
            module(torch.ones(2))
        found = self.record(run)
        self.assertEqual([line["unseen"].split(" may ")[0] for line in found.unseen], ["a function of TorchScript"] * 2)
        self.assertRegex(found.unseen[0]["where"], r"unharmed_runs_test.py:\d+ in run$")

    @unittest.skipUnless(hasattr(torch, "compile"), "this PyTorch compiles nothing")
    def test_compiled_functions(self):
        compiled = torch.compile(lambda x: x.sin() + 1, backend="eager")
        self.assertRegex("".join(self.sentences(lambda: compiled(torch.ones(2)))), "^a function of torch.compile runs operation by operation")
        self.assertEqual(self.sentences(lambda: torch._dynamo.disable(torch.sin)(torch.ones(2))), [])

    def test_replays_of_a_cuda_graph(self):
        replay = torch.cuda.CUDAGraph.replay
        self.addCleanup(setattr, torch.cuda.CUDAGraph, "replay", replay)
        torch.cuda.CUDAGraph.replay = lambda graph: None
        self.assertRegex("".join(self.sentences(lambda: torch.cuda.CUDAGraph.replay(None))), "^a CUDA graph is replayed")


if __name__ == "__main__":
    unittest.main()
