"""Scripts of Accelerate, Lightning and Trainer that know nothing of Tally, on the same rows in other micro-batches.

The program is named by the variable TALLY, or found on the PATH."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))

from recorder_path import PACKAGE  # noqa: E402

PASS, FAIL = 0, 1


class AsShipped(unittest.TestCase):
    """What their page says of a short last micro-batch, found without a word about rows or micro-batches."""

    def varied(self, name, *words, change=str):
        """(code, what was said, vary.json) of a script, or of one that is made from its text."""
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, f"{name}_script.py")
            with open(os.path.join(HERE, "scripts", f"{name}_script.py"), encoding="utf-8") as shipped, open(script, "w", encoding="utf-8") as own:
                own.write(change(shipped.read()))
            done = subprocess.run([sys.executable, "-B", "-m", "tally_recorder", "vary", "--rows", "4", "--out", folder, *words, script], capture_output=True, text=True, cwd=folder,
                                  env={**os.environ, "PYTHONPATH": PACKAGE})
            with open(os.path.join(folder, "vary.json"), encoding="utf-8") as file:
                return done.returncode, done.stdout + done.stderr, json.load(file)

    def test_equal_micro_batches_pass_and_unequal_ones_fail(self):
        for name in ("accelerate", "lightning"):
            with self.subTest(name):
                code, said, document = self.varied(name)
                self.assertEqual(code, FAIL, said)
                self.assertIn(f"preset {name}: ", said)
                self.assertIn("and by K = 2", said)
                self.assertEqual(len(set(document["weights"][-1]["sizes"])), 2)
                equal = [run["micro_batches"] for run in document["runs"] if run["sizes"] == [2, 2]]
                self.assertEqual(equal[0], [2, 2])

    def test_a_number_of_the_scripts_own_goes_with_the_presets(self):
        """A second division by K: of an argument, which is set, and of a constant, which is told."""
        parsed = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--steps', type=int, default=4)\nSTEPS = "
        for value, code, expected in ((parsed + "parser.parse_args().steps\n", FAIL, "leave the division by K out"),
                                      ("STEPS = 4\n", PASS, "the preset replaces gradient_accumulation_steps=STEPS at ")):
            with self.subTest(expected):
                found, said, _ = self.varied("accelerate", change=lambda text, value=value: value + text.replace("steps=4", "steps=STEPS").replace(
                    "target))", "target) / STEPS)").replace("batch_size=4", "batch_size=4, drop_last=True"))
                self.assertEqual(found, code, said)
                self.assertIn(expected, said)

    def test_the_tokens_of_a_window_pass(self):
        code, said, document = self.varied("trainer", "--windows", "1")
        self.assertEqual(code, PASS, said)
        self.assertIn("preset trainer: ", said)
        items = [run["items"][0] for run in document["runs"] if run["sizes"] == [2, 2]]
        self.assertTrue(all(len(set(each)) == 2 for each in items), items)  # tokens of equal numbers of rows, and unequal


if __name__ == "__main__":
    unittest.main()
