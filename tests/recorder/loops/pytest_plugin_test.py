#!/usr/bin/env python3
"""pytest's fixture `tally`: python3 tests/recorder/loops/pytest_plugin_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from recorder_path import PACKAGE  # noqa: E402

try:
    import pytest  # noqa: F401
except ImportError:
    print("skipped: no pytest here")
    sys.exit(77)

LOOPS = """
import pytest
import torch
import torch.nn.functional as F

def make():
    model = torch.nn.Linear(6, 4)
    return {"model": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1)}

def data_of(rows):
    return lambda _: {"x": torch.randn(rows, 6), "y": torch.randint(0, 4, (rows,))}

def step_of(weigh):
    def step(state, micro_batches):
        state["optimizer"].zero_grad()
        rows = sum(len(batch["x"]) for batch in micro_batches)
        for batch in micro_batches:
            loss = F.cross_entropy(state["model"](batch["x"]), batch["y"])
            (loss * weigh(len(batch["x"]), rows, len(micro_batches))).backward()
        state["optimizer"].step()
    return step

right, wrong = step_of(lambda n, N, K: n / N), step_of(lambda n, N, K: 1 / K)

def train(state, sizes=(4, 4), windows=2):
    for _ in range(windows):
        right(state, [data_of(rows)(0) for rows in sizes])
"""


class Plugin(unittest.TestCase):
    def run_tests(self, text, *options):
        """How many passed and failed, the output, and the files below the folder."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "test_loops.py"), "w", encoding="utf-8") as file:
                file.write(LOOPS + text)
            done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "pytest_tally", "-p", "no:cacheprovider", *options],
                                  cwd=folder, env={**os.environ, "PYTHONPATH": PACKAGE, "COLUMNS": "300"},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            files = sorted(os.path.relpath(os.path.join(near, name), folder) for near, _, names in os.walk(folder) for name in names)
        found = re.findall(r"(\d+) (passed|failed|errors?|warnings?)", done.stdout.splitlines()[-1])
        counts = {word: int(count) for count, word in found}
        return counts, done.stdout, files

    def test_a_step_is_varied(self):
        counts, said, _ = self.run_tests("""
def test_right(tally):
    assert tally.vary(right, make=make, data=data_of(8)).passed

def test_wrong(tally):
    import tally_recorder
    print("it says:", tally_recorder.vary(wrong, make=make, data=data_of(8)).sentence)
    tally.vary(wrong, make=make, data=data_of(8))
""")
        sentence = re.search(r"(?m)^it says: (.+)$", said).group(1)
        self.assertEqual(counts, {"passed": 1, "failed": 1}, said)
        self.assertRegex(said, rf"\n{re.escape(sentence)}\n  page: \S+vary.html\n")
        self.assertIn(f"\nFAILED test_loops.py::test_wrong - Failed: {sentence[:60]}", said)
        self.assertNotIn("Traceback", said)

    def test_a_loop_is_recorded(self):
        counts, said, files = self.run_tests("""
def test_right(tally):
    state = make()
    with tally.record(state["model"], state["optimizer"], 2) as recorder:
        train(state)
    assert recorder.finished

def test_wrong(tally):
    state = make()
    with tally.record(state["model"], state["optimizer"], 2):
        for _ in range(2):
            wrong(state, [data_of(rows)(0) for rows in (4, 2)])

def test_another_k(tally):
    state = make()
    with tally.record(state["model"], state["optimizer"], 3):
        train(state)

def test_its_own_error(tally):
    state = make()
    with tally.record(state["model"], state["optimizer"], 2):
        raise ValueError("the test's own")
""")
        self.assertEqual(counts, {"passed": 1, "failed": 3}, said)
        self.assertRegex(said, r"(?m)^FAILED test_loops.py::test_wrong - Failed: fail: every micro-batch is divided by its own items")
        self.assertRegex(said, r"(?m)^FAILED test_loops.py::test_another_k - Failed: (fail|error): ")
        self.assertRegex(said, r"(?m)^FAILED test_loops.py::test_its_own_error - ValueError: the test's own")
        self.assertIn("looks like mean-of-means", said)
        self.assertEqual(files, ["test_loops.py"])

    def test_what_was_not_judged_is_no_pass(self):
        counts, said, _ = self.run_tests("""
def test_none(tally):
    state = make()
    with tally.record(state["model"], state["optimizer"], 2):
        pass
""")
        self.assertEqual(counts, {"failed": 1}, said)
        self.assertRegex(said, r"- Failed: error: the loop: found 0 backward passes")

    def test_marks_hold_options(self):
        counts, said, _ = self.run_tests("""
pytestmark = pytest.mark.tally(rows=6, normalisation="sum")

@pytest.mark.tally(windows=1)
def test_rows_and_windows(tally):
    seen = []
    def data(window):
        seen.append(window)
        return data_of(6)(window)
    tally.vary(right, make=make, data=data)
    assert set(seen) == {0}

@pytest.mark.tally(rows=8)
def test_the_nearest_counts(tally):
    tally.vary(right, make=make, data=data_of(8))

def test_a_call_counts_more(tally):
    tally.vary(right, make=make, data=data_of(12), rows=12)

def test_of_the_recorder(tally):
    state = make()
    with tally.record(state["model"], state["optimizer"], 2):
        train(state)

@pytest.mark.tally(lines=8)
def test_unknown(tally):
    tally.vary(right, make=make, data=data_of(6))
""", "--strict-markers")
        self.assertEqual(counts, {"passed": 3, "failed": 2}, said)
        self.assertRegex(said, r"(?m)^FAILED test_loops.py::test_of_the_recorder - Failed: fail: ")
        self.assertRegex(said, r"(?m)^FAILED test_loops.py::test_unknown - Failed: error: mark tally: found lines, ")

    def test_a_folder_keeps_what_was_recorded(self):
        _, said, files = self.run_tests("""
@pytest.mark.parametrize("k", [2, 4])
def test_right(tally, k):
    for _ in range(2):
        state = make()
        with tally.record(state["model"], state["optimizer"], k):
            train(state, (4,) * k)
""", "--tally-out", "kept")
        for case in ("test_loops.py-test_right-2-/01", "test_loops.py-test_right-2-/02", "test_loops.py-test_right-4-/02"):
            self.assertIn(f"kept/{case}/trace.safetensors", files, said)

    def test_what_cannot_be_judged_fails_in_one_line(self):
        counts, said, _ = self.run_tests("""
def test_vary(tally):
    tally.vary(right, make=make, data=data_of(7), rows=8)

def test_record(tally):
    with tally.record(make(), None, 2):
        pass
""")
        self.assertEqual(counts, {"failed": 2}, said)
        self.assertEqual(len(re.findall(r"(?m)^FAILED .* - Failed: error: ", said)), 2, said)
        self.assertNotIn("another exception", said)
        self.assertNotIn("Traceback", said)

    def test_the_lines_of_the_page(self):
        with open(os.path.join(PACKAGE, "frameworks.md"), encoding="utf-8") as file:
            lines = re.search(r"^## In a test$.*?^```python\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE).group(1)
        loop = "step, data, state = right, data_of(8), make()\nmodel, optimizer = state['model'], state['optimizer']\n"
        of_the_page = "def train(model, optimizer, weigh=right):\n    weigh(state, [data_of(rows)(0) for rows in (4, 4, 4, 2)])\n"
        self.assertEqual(self.run_tests(loop + of_the_page + lines)[0], {"passed": 2})
        counts, said, _ = self.run_tests(loop.replace("right", "wrong") + of_the_page.replace("right", "wrong") + lines)
        self.assertEqual(counts, {"failed": 2}, said)

    def test_no_pytorch_is_imported_by_pytest_itself(self):
        counts, said, _ = self.run_tests("")
        self.assertEqual(counts, {}, said)
        done = subprocess.run([sys.executable, "-B", "-c", "import sys, pytest_tally; print('torch' in sys.modules)"], cwd=PACKAGE,
                              stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stdout, "False\n")

    def test_pytest_finds_it_where_the_package_is_installed(self):
        with open(os.path.join(PACKAGE, "pyproject.toml"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn('[project.entry-points.pytest11]\npytest_tally = "pytest_tally"\n', text)
        self.assertRegex(text, r'(?m)^wheel.packages = \[.*"pytest_tally".*\]$')


if __name__ == "__main__":
    unittest.main()
