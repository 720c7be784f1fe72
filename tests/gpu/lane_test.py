#!/usr/bin/env python3
"""The GPU's lane with stand-ins: what is not run or fails is said, and never passes."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lane  # noqa: E402


def printing(text, code=0):
    return ["sh", "-c", f"cat <<'END'\n{text}\nEND\nexit {code}"]


class Lane(unittest.TestCase):
    def run_with(self, results, there=True):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(lane.device, "device_is_there", return_value=there), \
                mock.patch.object(lane, "steps", return_value=iter(results)), \
                mock.patch.object(lane, "gpu", return_value=("NVIDIA H200", "580.1")), \
                mock.patch.object(sys, "argv", ["lane.py", "--out", folder]), \
                contextlib.redirect_stdout(io.StringIO()) as printed:
            code = lane.main()
            files = {str(path.relative_to(folder)): path.read_text() for path in pathlib.Path(folder).rglob("*.md")}
        return code, printed.getvalue(), files

    def test_without_a_device_nothing_is_run_or_written(self):
        code, printed, files = self.run_with([], there=False)
        self.assertEqual((code, files), (77, {}))
        self.assertIn("not run: no CUDA device", printed)

    def test_what_every_step_printed_is_kept(self):
        code, _, files = self.run_with([("tests", 0, "63 passed"), ("probes", 0, "h100")])
        self.assertEqual(code, 0)
        self.assertIn("| tests | passed |", files["nvidia_h200/lane.md"])
        self.assertIn("63 passed", files["nvidia_h200/lane.md"])

    def test_a_step_that_did_not_run_or_failed_is_no_pass(self):
        self.assertEqual(self.run_with([("tests", 0, ""), ("probes", 77, "")])[0], 77)
        code, _, files = self.run_with([("tests", 8, "1 failed"), ("probes", 77, "")])
        self.assertEqual(code, 1)
        self.assertIn("| tests | FAILED, exit 8 |", files["nvidia_h200/lane.md"])
        self.assertEqual(self.run_with([])[0], 77)


class CapturedCases(unittest.TestCase):
    def held(self, benchmarks, code=0):
        context = {f"fact {i}": i for i in range(2 * lane.LAST_LINES)}
        text = "warning\n" + json.dumps({"context": context, "benchmarks": benchmarks}, indent=1) + "\nwarning"
        words = printing(text, code)
        with mock.patch.object(lane, "step", wraps=lambda title, _: real_step(title, words)), \
                contextlib.redirect_stderr(io.StringIO()):
            return lane.captured_cases("benchmark")

    def test_every_case_has_to_meet_the_figure(self):
        fast, slow = {"name": "a", "items_per_second": 300.0}, {"name": "b", "items_per_second": 299.9}
        self.assertEqual(self.held([fast])[1], 0)
        self.assertEqual(self.held([fast, slow])[1], 1)
        self.assertEqual(self.held([fast, {"name": "c", "items_per_second": float("nan")}])[1], 1)

    def test_one_that_was_skipped_is_not_run(self):
        self.assertEqual(self.held([{"name": "a", "error_occurred": True, "error_message": "not run: x"}])[1:],
                         (77, "not run: x"))

    def test_a_benchmark_that_broke_is_no_pass(self):
        self.assertEqual(self.held([], code=5)[1], 5)
        self.assertEqual(self.held([])[1], lane.device.BROKEN)


real_step = lane.step

if __name__ == "__main__":
    unittest.main()
