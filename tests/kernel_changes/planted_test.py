"""Every planted change fits the kernels as they are and names kernels that there are; the gate's words are read right.
Standard library only."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import evidence
import planted

ROOT, TALLY = pathlib.Path(sys.argv[1]), sys.argv[2]
GATE = """Kernels that changed
  norm/two_stage (was norm/atomic_add)  kernels/window/norm.cu
    fp32  bits changed in 2 of 3 cases, 1 from equal inputs  errors the same to the bit
  mse/row_lanes  kernels/losses/mse.cu
    bf16  bits changed in 2 of 3 cases, 1 from equal inputs  errors the same to the bit
and from that: 2 other kernels computed on other inputs, as before:
  sgd/grid_stride  kernels/window/optimizers.cu
FAIL  2 kernels changed
"""


class Planted(unittest.TestCase):
    def test_every_change_has_its_place_once_and_other_text_is_refused(self):
        planted.hold_to_files(self, ROOT)
        change = planted.changes()[0]
        for text in ("", 2 * change["before"]):
            with self.assertRaisesRegex(ValueError, "expected once"):
                planted.applied(change, text)

    def test_there_are_twenty_of_every_kind_and_they_name_kernels_that_there_are(self):
        listed = subprocess.run([TALLY, "list", "kernels"], capture_output=True, text=True, check=True).stdout
        kernels = {line.split()[0] for line in listed.splitlines()}
        changes = planted.changes()
        self.assertGreaterEqual(len(changes), 20)
        self.assertEqual({change["kind"] for change in changes},
                         {"fma", "order", "block size", "fused", "broken tail", "accuracy"})
        for name in (name for change in changes for name in change["kernels"] if name != "linear.forward"):
            self.assertIn(name, kernels)

    def test_an_earlier_run_is_kept_but_for_what_was_measured_again(self):
        rows = [{"name": name, "right": True} for name in "ab"]
        with tempfile.TemporaryDirectory() as folder:
            known = pathlib.Path(folder) / "changes.json"
            known.write_text(json.dumps({"changes": rows + [{"name": "gone", "right": True}]}))
            together = evidence.together([{"name": "b", "right": False}], known, ["b", "a", "new"])
        self.assertEqual([(row["name"], row["right"]) for row in together], [("b", False), ("a", True)])

    def test_the_kernels_that_the_gate_names_are_read_from_its_words(self):
        self.assertEqual(evidence.kernels_named(GATE), ["mse/row_lanes", "norm/two_stage"])
        self.assertEqual(evidence.kernels_named("PASS  no kernel changed\n"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
