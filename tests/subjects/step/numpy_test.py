"""The NumPy step, right and with planted bugs. TALLY_NUMPY names a Python that has NumPy where python3 has none."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from campaign import CASE, HERE, ROOT, Steps, main

PYTHON = os.environ.get("TALLY_NUMPY", "python3")
RIGHT = f"exec:{PYTHON} -B {ROOT / 'kernels/subjects/process/numpy_step.py'}"
LAWS = ("partition_equals_full_batch,exact_lane,repeats_bitwise,every_window_takes_its_step,windows_do_not_leak,"
        "unequal_items_are_weighted,loss_scale_cancels,non_finite_norm_is_not_hidden,one_infinite_element_shows")


def wrong(bug):
    return f"exec:{PYTHON} -B {HERE / 'wrong_numpy_step.py'} {bug}"


class NumPy(Steps):
    def test_a_right_step_passes(self):
        results, said = self.verified(RIGHT, "--law", LAWS, "--precision", "fp32", "--cases", "12")
        self.assertEqual({law["status"] for law in results["laws"]}, {"pass"}, said)
        self.assertRegex(self.tally("replay", CASE, "--subject", RIGHT), r"\npass")

    def test_a_law_whose_control_is_always_declined_is_vacuous(self):
        results, said = self.verified(RIGHT, "--law", "every_norm_clips", "--precision", "fp32", "--cases", "8", code=4)
        self.assertEqual({case["status"] for case in results["cases"]}, {"vacuous", "not_run"}, said)
        self.assertIn("the subject declined every control", json.dumps(results["cases"]))

    def test_a_planted_bug_fails_and_is_named(self):
        for bug, law, name in (("mean-of-means", "unequal_items_are_weighted", "mean-of-means"),
                               ("clip-per-microbatch", "clip_inside_is_identity", None),
                               ("missing-zero", "windows_do_not_leak", None)):
            with self.subTest(bug):
                results, said = self.verified(wrong(bug), "--law", law, "--precision", "fp32", "--cases", "12", code=1)
                failing = next(case for case in results["cases"] if case["status"] == "fail")
                if name:
                    self.assertEqual(failing["suspects"][0]["name"], name, said)
                self.tally("replay", failing["token"], "--law", law, "--subject", wrong(bug), code=1)
                self.tally("replay", failing["token"], "--law", law, "--subject", RIGHT, code=None)


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True).returncode != 0:
        print(f"skipped: {PYTHON} has no NumPy")
        sys.exit(77)
    main()
