"""What `tally doctor` says of this machine, held against what the machine says itself."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TALLY = sys.argv[1]
BUILD = pathlib.Path(TALLY).resolve().parents[1]
WAYS = {"AVX-512 IFMA", "residues on OpenBLAS", "residues on doubles", "whole numbers of 128 bits"}


class Doctor(unittest.TestCase):
    def said(self, program=TALLY):
        return subprocess.run([program, "doctor"], capture_output=True, text=True, timeout=600, check=True).stdout

    def test_it_says_how_the_oracle_multiplies(self):
        said = self.said()
        lines = [line for line in said.splitlines() if line.startswith("oracle    ")]
        self.assertEqual(len(lines), 1, said)
        way = lines[0].removeprefix("oracle    matrix products by ")
        self.assertIn(way, WAYS)
        with open("/proc/cpuinfo", encoding="utf-8") as processor:
            self.assertEqual(way == "AVX-512 IFMA", "avx512ifma" in processor.read().split())

    def test_it_says_which_program_it_is(self):
        first, second = self.said().splitlines()[:2]
        self.assertRegex(first, r"^tally     \d+\.\d+\.\d+, (of no repository|commit [0-9a-f]{12}\+?)$")
        self.assertEqual(second, f"installed build, in {BUILD}")

    def test_a_copy_elsewhere_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder).resolve() / "tally"
            shutil.copy(TALLY, copy)
            self.assertIn(f"\ninstalled copy, in {copy.parent}\n", self.said(copy))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
