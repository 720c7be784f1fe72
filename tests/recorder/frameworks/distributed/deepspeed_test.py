#!/usr/bin/env python3
"""DeepSpeed's own engine on a CPU, plain and under ZeRO, recorded and varied.

run.py makes an environment that has it and runs this with it. The program is named by the variable TALLY."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import recorder_path  # noqa: E402, F401
import tally_recorder  # noqa: E402
from judged import cause, recorded_by, verdict  # noqa: E402
from one_of_one import imported  # noqa: E402

loops = imported("deepspeed_loops", "DeepSpeed")

PASS, FAIL = 0, 1
EQUAL, SHORT = (4, 4, 4, 4), (4, 4, 4, 2)


class Recorded(unittest.TestCase):
    def judged(self, *loop):
        return verdict(loops.recorded(recorded_by("state"), *loop))

    def test_equal_micro_batches_pass(self):
        code, said = self.judged(EQUAL)
        self.assertEqual(code, PASS, said)
        self.assertIn("assumed: clip is global_norm (max_norm 1.0)", said)  # which no configuration asked for

    def test_a_short_last_micro_batch_is_named(self):
        code, said = self.judged(SHORT)
        self.assertEqual((code, cause(said)), (FAIL, "mean-of-means"), said)
        self.assertEqual(self.judged(SHORT, loops.of_rows)[0], PASS)

    def test_zero_is_refused_with_advice(self):
        for name in ("ZeRO-1", "ZeRO-3"):
            model = loops.net()
            optimizer = loops.adam(model)
            loops.engine_of(model, optimizer, loops.STAGES[name], 4)
            with self.subTest(name), self.assertRaisesRegex(tally_recorder.CaptureError, r"flat copies \(ZeRO\) is varied"):
                tally_recorder.Recorder(model, optimizer, micro_batches=4)


class Varied(unittest.TestCase):
    def varied(self, name, weigh):
        return tally_recorder.vary(loops.step_of(loops.STAGES[name], weigh), make=loops.make, data=lambda _: loops.rows_of(8))

    def test_rows_that_count_alike_come_to_the_whole_batch(self):
        for name in loops.STAGES:
            with self.subTest(name), loops.ReducesFloat64():
                found = self.varied(name, loops.of_rows)
                self.assertTrue(found.passed, found.sentence)

    def test_means_of_unequal_micro_batches_do_not(self):
        for name in loops.STAGES:
            with self.subTest(name), loops.ReducesFloat64():
                found = self.varied(name, loops.of_means)
                self.assertFalse(found.passed, found.sentence)
                self.assertGreater(len(set(found.partition)), 1, found.sentence)

    def test_a_plain_engine_still_refuses_float64_on_a_cpu(self):
        """Why ReducesFloat64 stands here: once this fails, it can go."""
        found = self.varied("plain", loops.of_rows)
        self.assertTrue(any("float64 cannot be had" in note and "unsupported grad type: torch.float64" in note for note in found.notes),
                        found.notes)


if __name__ == "__main__":
    unittest.main()
