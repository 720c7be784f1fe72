"""Kernels that end the process they run in: each is a failing case with its token, and the campaign goes on.

The program has them under --kernel accumulate=~… (dying_kernels.cpp). Standard library only."""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

from language_models import token_case

TALLY = sys.argv[1]
DEEDS = {"segfaults": "signal 11", "aborts": "signal 6", "exits": "an exit with code 0", "exits-with-3": "an exit with code 3",
         "aborts-later": "signal 6", "spoils-the-heap": "signal "}


def tally(*arguments, **options):
    return subprocess.run([TALLY, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


def is_sanitized():
    """A program with a sanitizer does not start with so little memory, and names a spoilt heap before it is found."""
    return tally("--version", preexec_fn=limited).returncode != 0


class Deaths(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def verify(self, variant, *more, **options):
        ran = tally("verify", "--subject", "host", "--law", "p[ae]r*", "--precision", "fp32", "--cases", 16, "--no-training",
                    "--kernel", f"accumulate={variant}", "--out", self.out, *more, **options)
        return ran, json.loads((self.out / "results.json").read_text()) if ran.returncode in (0, 1) else None

    def replay(self, case, deed):
        return tally("replay", case["token"], "--law", case["law"], "--subject", "host", "--kernel", f"accumulate=~{deed}")

    def test_a_kernel_that_ends_its_process_is_a_failing_case_with_its_token(self):
        for deed, how in ({**DEEDS, "spoils-the-heap": "an exit with code 1"} if is_sanitized() else DEEDS).items():
            for processes in (1, 2):
                ran, results = self.verify("~" + deed, "--processes", processes, "--corpus", self.out / deed / str(processes))
                self.assertEqual(ran.returncode, 1, f"{deed}: {ran.stdout}{ran.stderr}")
                dead = [c for c in results["cases"] if c["status"] != "pass" and c["status"] != "vacuous"]
                self.assertEqual(len(dead), len(results["laws"]), f"{deed}: every law meets it, and goes on to the next")
                for case in dead:
                    self.assertEqual((case["status"], case["first_stage"], case["failure"]), ("fail", "kernel", "logic"))
                    self.assertIn(f"was ended by {how}", case["message"])
                    if deed in ("segfaults", "aborts", "exits"):
                        self.assertRegex(case["message"], r"\) in accumulate, behind w0/|0 in accumulate, behind w0/")
                    self.assertTrue(case["token"].startswith("tly1:"), case)
                self.assertTrue((self.out / "report.html").stat().st_size)
            again = self.replay(dead[0], deed)
            self.assertEqual(again.returncode, 1, f"{deed}: {again.stdout}{again.stderr}")
            self.assertIn(f"fail: the process that ran the case was ended by {how}", again.stdout)

    def test_a_rank_that_ends_the_process_of_all_names_its_place(self):
        file = self.out / "case.json"
        file.write_text(json.dumps(token_case([[[2], [2]]])))
        told = tally("replay", file, "--subject", "host", "--kernel", "accumulate=~segfaults").stdout
        self.assertRegex(told, r"ended by signal 11 \(.*\) in accumulate, behind w0/r0/")

    def test_what_was_found_before_a_death_is_kept(self):
        _, whole = self.verify("~lives")
        _, results = self.verify("~aborts-later")
        for law in {c["law"] for c in results["cases"]}:
            mine = [c for c in results["cases"] if c["law"] == law]
            same = [c for c in whole["cases"] if c["law"] == law][:len(mine)]
            self.assertGreater(len(mine), 1)
            self.assertEqual([c["token"] for c in mine], [c["token"] for c in same])
            self.assertEqual([c["worst_local_ratio"] for c in mine[:-1]], [c["worst_local_ratio"] for c in same[:-1]])
        self.assertTrue(any(t["seen"] for t in results["triggers"]))

    def test_a_death_while_a_case_is_made_smaller_leaves_the_case_as_it_was_drawn(self):
        ran, results = self.verify("~aborts-when-smaller")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        failing = [c for c in results["cases"] if c["status"] == "fail"]
        self.assertEqual(len(failing), len(results["laws"]))
        for case in failing:
            self.assertNotIn("was ended by", case["message"])
            self.assertEqual(self.replay(case, "aborts-when-smaller").returncode, 1)

    def test_a_kernel_that_takes_all_memory_is_an_error_with_its_token(self):
        if is_sanitized():
            self.skipTest("this program, built with sanitizers, does not start with so little memory")
        ran, results = self.verify("~takes-all-memory", preexec_fn=limited)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        bad = [c for c in results["cases"] if c["status"] in ("fail", "error")]
        self.assertEqual(len(bad), len(results["laws"]))
        self.assertTrue(all(c["token"].startswith("tly1:") for c in bad), bad)

    def test_the_tensors_of_a_case_that_ends_its_process_are_left_out_in_words(self):
        ran, results = self.verify("~segfaults")
        for case in results["cases"]:
            self.assertIn(f"not kept: the tensors of c-{case['id']}: signal 11", ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
