#!/usr/bin/env python3
"""Ranks whose sums NCCL makes: nccl_test.py TALLY CASE

Every wire keeps the bound of any order, on as many GPUs as there are. Skipped where NCCL or a GPU is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TALLY, CASE = sys.argv.pop(1), sys.argv.pop(1)


def tally(*words):
    return subprocess.run([TALLY, *words], capture_output=True, text=True, timeout=300)


def why_not():
    """What `tally doctor` says is missing; None where nothing is."""
    for line in tally("doctor").stdout.splitlines():
        if line.startswith(("nccl ", "cuda ")) and "not run: " in line:
            return line
    return None


class Nccl(unittest.TestCase):
    def test_sums_keep_the_bound_of_any_order(self):
        case = json.loads(pathlib.Path(CASE).read_text())
        for wire in ("fp32", "fp16", "bf16"):
            with self.subTest(wire), tempfile.TemporaryDirectory() as folder:
                case["execution"]["ranks"]["reduce"] = {"algorithm": "library", "wire": wire}
                path = pathlib.Path(folder) / "case.json"
                path.write_text(json.dumps(case))
                done = tally("replay", str(path), "--ranks", "nccl:4", "--allow-root")
                print(done.stdout)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
