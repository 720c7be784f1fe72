#!/usr/bin/env python3
"""Right loops that look like wrong ones are not accused: python3 tests/ordinary_loops_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import needs_torch  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import loops  # noqa: E402

PASS, FAIL, ERROR = 0, 1, 2


def verdict_of(recorder):
    """The exit code, and all lines."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        code = recorder.check(folder, show=lines.append)
    return code, "\n".join(lines)


class Clips(unittest.TestCase):
    def test_a_clip_without_a_limit_only_logs_the_norm(self):
        class Loop(loops.Loop):
            def step(self):
                nn.utils.clip_grad_norm_(self.net.parameters(), float("inf"))
                super().step()

        code, said = verdict_of(Loop().record("state"))
        self.assertEqual(code, PASS, said)
        self.assertIn("assumed: clip is none", said)


if __name__ == "__main__":
    unittest.main()
