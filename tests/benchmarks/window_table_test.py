"""The table of the fused passes, on made-up rounds; and what the programs behind it say where there is no device."""
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import device
import window_table

HERE = pathlib.Path(__file__).resolve().parent
WAYS = [{"kind": kind, "graph": graph} for graph in (False, True) for kind in ("foreach", "fused")]


def tally_round(read=2.7e12, step=2.7e12, both=1.25e-3, copy=3e12):
    rates = {"copy_as_unscale_check_norm": copy, "unscale_check_norm": read, "copy_as_clip_decay_step": copy,
             "clip_decay_step": step, "both": 2.7e12}
    return {"context": {"device": "NVIDIA H100 80GB HBM3", "toolkit": "13.0.88", "parameters": "100000000",
                        "tensors": "340", "launches_an_iteration": "20"},
            "benchmarks": [{"name": f"{name}/real_time", "bytes_per_second": rate,
                            "seconds_a_pass": both if name == "both" else 1e-3} for name, rate in rates.items()]}


def torch_round(seconds=2e-3, **changed):
    return {"torch": "2.9.0", "cuda": "13.0", "unscale": "its own",
            "rows": [{**way, **({"seconds": seconds} | changed)} for way in WAYS]}


def outcomes_of(*rounds):
    return window_table.table(rounds, [("device", "d")])[1]


def reported(rounds, out):
    """(exit code, what was printed) of the report."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = device.report(rounds, "580.1", "2026-01-02", out)
    return code, printed.getvalue()


class Table(unittest.TestCase):
    def test_all_met(self):
        text, outcomes = window_table.table([(tally_round(), torch_round())], [("device", "d")])
        self.assertEqual(outcomes, ["yes"] * 6)
        self.assertIn("6 of 6 figures met, 0 missed, 0 not run.", text)
        self.assertIn("| unscale_check_norm | 3000.0 | 2700.0 | 0.900 | 0.900 to 0.900 | 0.85 | yes |", text)
        self.assertIn("| AdamW(fused=True), as a CUDA graph | 2.000 | 1.250 | 1.600 | 1.600 to 1.600 | 1.0 | yes |",
                      text)

    def test_borders_are_met_and_less_is_missed(self):
        at = (tally_round(read=85.0, step=84.9, copy=100.0, both=2e-3), torch_round(2e-3))
        self.assertEqual(outcomes_of(at), ["yes", "no"] + ["yes"] * 4)
        self.assertEqual(outcomes_of((tally_round(both=2.01e-3), torch_round(2e-3)))[2:], ["no"] * 4)

    def test_the_median_of_the_rounds_ratios_decides(self):
        slow, quick = tally_round(read=2.4e12), tally_round()
        self.assertEqual(outcomes_of((slow, torch_round()), (quick, torch_round()), (quick, torch_round()))[0], "yes")
        self.assertEqual(outcomes_of((slow, torch_round()), (quick, torch_round()), (slow, torch_round()))[0], "no")
        # A ratio belongs to its round: both slow down in one of them.
        halved = (tally_round(read=1.35e12, step=1.35e12, copy=1.5e12, both=2.5e-3), torch_round(4e-3))
        self.assertEqual(outcomes_of((tally_round(), torch_round()), halved), ["yes"] * 6)

    def test_no_number_is_no_pass(self):
        nan = float("nan")
        self.assertEqual(outcomes_of((tally_round(read=nan), torch_round(nan))), ["no", "yes"] + ["no"] * 4)
        fine = (tally_round(), torch_round())
        self.assertEqual(outcomes_of((tally_round(read=nan), torch_round()), fine, fine)[0], "no")

    def test_what_was_not_run_is_said_with_its_reason(self):
        rounds = [(tally_round(), {"reason": "no PyTorch"})]
        self.assertEqual(outcomes_of(*rounds), ["yes", "yes", "not run"])
        self.assertIn("not run: no PyTorch", window_table.table(rounds, [])[0])
        failed = torch_round()
        failed["rows"][1] = {**WAYS[1], "reason": "no fused | one"}
        text, outcomes = window_table.table([(tally_round(), torch_round()), (tally_round(), failed)], [])
        self.assertEqual(outcomes, ["yes", "yes", "yes", "not run", "yes", "yes"])
        self.assertIn("not run: no fused / one", text)


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "evidence"

    def test_a_whole_table_is_written_under_the_device_s_name(self):
        code, printed = reported([(tally_round(), torch_round())], self.out)
        self.assertEqual(code, 0)
        path = self.out / "nvidia_h100_80gb_hbm3" / "window_passes.md"
        text = path.read_text()
        self.assertEqual([file.name for file in path.parent.iterdir()], ["window_passes.md"])
        self.assertIn(text, printed)
        for fact in ("NVIDIA H100 80GB HBM3", "580.1", "13.0.88", "2026-01-02", "2.9.0, CUDA 13.0", "100000000"):
            self.assertIn(fact, text)

    def test_a_missed_figure_is_written_and_exits_1(self):
        self.assertEqual(reported([(tally_round(read=1e12), torch_round())], self.out)[0], 1)
        self.assertEqual(len(list(self.out.rglob("*.md"))), 1)

    def test_nothing_is_written_where_a_figure_was_not_run(self):
        code, printed = reported([(tally_round(read=1e12), {"reason": "no PyTorch"})], self.out)
        self.assertEqual(code, 77)
        self.assertIn("not run: a figure was not measured", printed)
        self.assertFalse(self.out.exists())


class OneCommand(unittest.TestCase):
    """device.py with stand-ins for the benchmark and for Python, which note that they were called."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def stand_in(self, name, body):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\necho {name} $1 >>{self.folder}/called\n{body}\n")
        path.chmod(0o755)
        return str(path)

    def run_with(self, benchmark, torch):
        """(exit code, what was printed, the calls) of two rounds, as on the host."""
        words = ["device.py", "--executor", "host", "--rounds", "2", "--python", self.stand_in("python", torch)]
        with mock.patch.object(device, "build", return_value=self.stand_in("benchmark", benchmark)), \
                mock.patch.object(sys, "argv", words), contextlib.redirect_stderr(io.StringIO()), \
                contextlib.redirect_stdout(io.StringIO()) as printed:
            code = device.main()
        return code, printed.getvalue(), (self.folder / "called").read_text().splitlines()

    def test_both_are_run_in_turn(self):
        code, printed, calls = self.run_with(f"echo '{json.dumps(tally_round())}'",
                                             f"echo '{json.dumps(torch_round())}'")
        script = f"python {HERE / 'window_in_torch.py'}"
        self.assertEqual(calls, ["benchmark --print_sizes"] + ["benchmark --executor", script] * 2)
        self.assertEqual(code, 0)
        self.assertIn("6 of 6 figures met", printed)
        self.assertNotIn("written: ", printed)

    def test_a_benchmark_that_is_not_run_ends_it(self):
        code, printed, calls = self.run_with("echo 'not run: no card'; exit 77", "exit 1")
        self.assertEqual((code, printed, len(calls)), (77, "not run: no card\n", 1))

    def test_what_breaks_is_no_missed_figure(self):
        self.assertEqual(self.run_with("exit 1", "exit 1")[0], 3)
        self.assertEqual(self.run_with("echo '{\"benchmarks\": []}'", f"echo '{json.dumps(torch_round())}'")[0], 3)


class WithoutDevice(unittest.TestCase):
    def run_with(self, torch, *arguments):
        """window_in_torch.py with this text as PyTorch."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "torch.py").write_text(torch)
            return subprocess.run([sys.executable, "-B", HERE / "window_in_torch.py", *arguments], input="3\n",
                                  text=True, capture_output=True, env={"PYTHONPATH": folder}, timeout=60)

    def test_pytorch_that_is_not_there(self):
        done = self.run_with("raise ImportError('none here')", "-")
        self.assertEqual((done.returncode, done.stdout), (77, "not run: no PyTorch (none here)\n"))

    def test_pytorch_that_sees_no_device(self):
        done = self.run_with("class cuda:\n    is_available = staticmethod(lambda: False)", "-")
        self.assertEqual((done.returncode, done.stdout), (77, "not run: PyTorch sees no CUDA device\n"))

    def test_a_device_is_looked_for_by_node_and_by_driver(self):
        with tempfile.TemporaryDirectory() as folder:
            nodes = pathlib.Path(folder)
            self.assertFalse(device.device_is_there(nodes, "libno_such_driver.so.1"))
            (nodes / "nvidia0").touch()
            self.assertTrue(device.device_is_there(nodes, "libno_such_driver.so.1"))
            self.assertTrue(device.device_is_there(nodes / "none", "libc.so.6"))

    @unittest.skipIf(device.device_is_there(), "there is a device")
    def test_the_one_command_says_not_run(self):
        done = subprocess.run([sys.executable, "-B", HERE / "device.py"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 77)
        self.assertTrue(done.stdout.startswith("not run: no CUDA device"), done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
