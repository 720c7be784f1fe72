#!/usr/bin/env python3
"""Wrong loops beside the ten famous ones, as users wrote them: python3 tests/recorder/loops/strange_loops_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest
import warnings

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402

import loops  # noqa: E402

FAIL = 1


class AnotherK(loops.Loop):
    def divided(self, y, target, sizes):
        return self.loss(y, target) / (len(sizes) + 1)


class CountsTwice(loops.Loop):
    def step(self):
        for state in self.opt.state.values():
            state["step"] += 1
        super().step()


class OneNotCleared(loops.Loop):
    """Clears all gradients but that of the first weight."""

    def window(self, w, sizes):
        for parameter in list(self.net.parameters())[1:]:
            parameter.grad = None
        self.wrong = "no zero_grad"
        if w == 0:
            self.opt.zero_grad()
        super().window(w, sizes)


LOOPS = {
    "divided-by-another-k": (AnotherK(), "every window is divided by 5 micro-batches, whatever it has"),
    "optimizer-count-taken-as": (CountsTwice(loops.adam()), "the optimizer's step count differs from the number of "
                                                            "steps taken"),
    "missing-zero-of-some": (OneNotCleared(), "the gradient of model.0.weight is not cleared between windows"),
}


class Strange(unittest.TestCase):
    def test_each_is_named_at_every_level_that_shows_it(self):
        warnings.simplefilter("ignore")
        for cause, (loop, sentence) in LOOPS.items():
            for level in ("parameters", "gradients", "state", "window", "all"):
                with self.subTest(cause, level=level):
                    torch.manual_seed(1)
                    code, said = loops.judged(loop, level)
                    if level == "parameters" and cause == "missing-zero-of-some":
                        self.assertEqual(code, 2, said)  # and names the level that shows it
                        self.assertIn("record at level 'gradients'", said)
                        continue
                    self.assertEqual((code, loops.cause(said)), (FAIL, cause), said)
                    self.assertIn(sentence, said)


if __name__ == "__main__":
    unittest.main()
