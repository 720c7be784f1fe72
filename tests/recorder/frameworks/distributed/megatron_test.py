#!/usr/bin/env python3
"""Megatron-core's own step on a CPU, varied.

run.py makes an environment that has it and runs this with it."""
import os
import sys
import tempfile
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402

import tally_recorder  # noqa: E402
from one_of_one import imported  # noqa: E402

loops = imported("megatron_loops", "Megatron-core")


class Varied(unittest.TestCase):
    def varied(self, per_token):
        with loops.OnCpu():
            return tally_recorder.vary(loops.step, make=loops.made_by(per_token), data=lambda _: loops.rows_of(8))

    def test_the_mean_of_all_tokens_comes_to_the_whole_batch(self):
        """calculate_per_token_loss=True."""
        found = self.varied(True)
        self.assertTrue(found.passed, found.sentence)

    def test_the_mean_of_means_that_is_the_default_does_not(self):
        found = self.varied(False)
        self.assertFalse(found.passed, found.sentence)
        self.assertGreater(len(set(found.partition)), 1, found.sentence)

    @unittest.skipIf(torch.cuda.is_available(), "a GPU is here")
    def test_it_still_names_a_gpu(self):
        """Why OnCpu stands here: once this fails, it can go."""
        state = loops.made_by(True)()
        with self.assertRaisesRegex((RuntimeError, AssertionError), "(?i)nvidia driver|not compiled with CUDA|CUDA"):
            loops.step(state, [loops.rows_of(4)])


class Recorded(unittest.TestCase):
    def test_gradients_that_it_keeps_in_buffers_of_its_own_are_refused(self):
        with loops.OnCpu():
            state = loops.made_by(True)()
            loops.step(state, [loops.rows_of(4)])
            optimizer, lines = state["held"].optimizer.chained_optimizers[0].optimizer, []
            for group in optimizer.param_groups:  # what Megatron-core notes there
                for key in ("wd_mult", "lr_mult", "is_expert_parallel", "is_decoupled_lr", "default_config"):
                    group.pop(key, None)
            with tally_recorder.Recorder(state["model"], optimizer, micro_batches=2) as recorder:
                loops.step(state, [loops.rows_of(4), loops.rows_of(4)])
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(recorder.check(folder, show=lines.append), 2)
        self.assertIn("removed as it arrived", lines[-1])
        self.assertIn("tally_recorder.vary", lines[-1])


if __name__ == "__main__":
    unittest.main()
