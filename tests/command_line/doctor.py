"""What `tally doctor` says of this machine, held against what the machine says itself."""
import subprocess
import sys
import unittest

TALLY = sys.argv[1]
WAYS = {"AVX-512 IFMA", "residues on OpenBLAS", "residues on doubles", "whole numbers of 128 bits"}


class Doctor(unittest.TestCase):
    def test_it_says_how_the_oracle_multiplies(self):
        said = subprocess.run([TALLY, "doctor"], capture_output=True, text=True, timeout=600, check=True).stdout
        lines = [line for line in said.splitlines() if line.startswith("oracle    ")]
        self.assertEqual(len(lines), 1, said)
        way = lines[0].removeprefix("oracle    matrix products by ")
        self.assertIn(way, WAYS)
        with open("/proc/cpuinfo", encoding="utf-8") as processor:
            self.assertEqual(way == "AVX-512 IFMA", "avx512ifma" in processor.read().split())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
