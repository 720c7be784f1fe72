"""What `tally check` says of a capture, and `tally hash` of its case, to a program that reads it."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TALLY, CASE = sys.argv[1:3]


def tally(*arguments):
    return subprocess.run([TALLY, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Captures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def judged(self, fault, *options):
        tally("replay", CASE, *fault, "--dump", self.out)
        capture = tally("check", "--json", *options, self.out / "case.json", self.out / "trace.safetensors")
        return capture.returncode, json.loads(capture.stdout)

    def test_a_right_capture_passes_by_either_choice_of_lenses(self):
        for lens in ("all", "local"):
            code, judged = self.judged([], "--lens", lens)
            self.assertEqual((code, judged["tally_check"], judged["verdict"], judged["lenses"]), (0, 1, "pass", lens))
            self.assertEqual({each["lens"] for each in judged["checks"]},
                             {"local", "end_to_end"} if lens == "all" else {"local"})
            self.assertEqual(judged["suspects"], [])

    def test_a_wrong_one_fails_with_its_cause(self):
        code, judged = self.judged(["--fault", "mean-of-means"])
        self.assertEqual((code, judged["verdict"]), (1, "fail"))
        wrong = [each for each in judged["checks"] if each["status"] == "fail"]
        self.assertTrue(wrong and all(each["tap"] and each["over_bound"] > 0 for each in wrong))
        self.assertEqual(judged["suspects"][0]["name"], "mean-of-means")
        code, judged = self.judged(["--fault", "mean-of-means"], "--lens", "local")
        self.assertEqual((code, judged["verdict"], judged["suspects"]), (1, "fail", []))

    def test_a_case_is_named_as_its_trace_names_it(self):
        _, judged = self.judged([])
        said = tally("hash", self.out / "case.json")
        self.assertEqual((said.returncode, said.stdout), (0, judged["case"]["hash"] + "\n"))
        self.assertEqual(tally("hash", CASE).stdout, said.stdout)
        self.assertEqual(tally("hash", self.out / "none.json").returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
