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

    def written(self, *options, fault=()):
        tally("replay", CASE, *fault, "--dump", self.out)
        return tally("check", self.out / "case.json", self.out / "trace.safetensors", "--out", self.out / "page", *options)

    def test_a_page_and_a_document_are_left(self):
        for fault, lens, code in (((), "all", 0), (("--fault", "mean-of-means"), "all", 1), ((), "local", 0)):
            ran = self.written("--json", "--lens", lens, fault=fault)
            self.assertEqual(ran.returncode, code, ran.stderr)
            self.assertEqual(sorted(f.name for f in (self.out / "page").iterdir()), ["check.json", "report.html"])
            self.assertEqual((self.out / "page" / "check.json").read_text(), ran.stdout)
            page = (self.out / "page" / "report.html").read_text()
            self.assertIn("<title>Tally: " + ("FAIL" if code else "PASS"), page)
            self.assertIn('<a href="#open">', page)

    def test_a_failure_is_one_sentence_everywhere(self):
        ran = self.written(fault=("--fault", "mean-of-means"))
        judged = json.loads((self.out / "page" / "check.json").read_text())
        self.assertEqual((judged["first_tap"], judged["first_stage"]), ("w0/m0/loss/in.factor", "loss"))
        self.assertTrue(judged["sentence"].startswith("w0/m0/loss/in.factor[] by the local lens: expected 0.3333, got 0.25"))
        self.assertIn("looks like mean-of-means", judged["sentence"])
        self.assertEqual(ran.stdout.splitlines()[-1], "fail: " + judged["sentence"])

    def test_what_somebody_else_wrote_is_left_and_nothing_is_judged(self):
        for name in ("check.json", "report.html"):
            mine = self.out / "page" / name
            mine.parent.mkdir(exist_ok=True)
            mine.write_text('{"mine": 1}')
            ran = self.written()
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
            self.assertIn(f"--out: {mine}: found a file that Tally did not write", ran.stderr)
            self.assertEqual(mine.read_text(), '{"mine": 1}')
            mine.unlink()
        (self.out / "file").write_text("a user's")
        ran = tally("check", self.out / "case.json", self.out / "trace.safetensors", "--out", self.out / "file" / "page")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)

    def test_assumptions_are_repeated_and_obeyed_by_no_terminal(self):
        tally("replay", CASE, "--dump", self.out)
        file = self.out / "trace.safetensors"
        trace = file.read_bytes()
        length = int.from_bytes(trace[:8], "little")
        header = json.loads(trace[8:8 + length])
        header["__metadata__"]["assumptions"] = "rows are items\n\nno scaler\x1b]0;owned\x07"
        text = json.dumps(header).encode()
        file.write_bytes(len(text).to_bytes(8, "little") + text + trace[8 + length:])
        ran = tally("check", self.out / "case.json", file, "--out", self.out / "page")
        self.assertEqual(ran.stdout.splitlines()[-3:],
                         ["assumed: rows are items", "assumed: no scaler\u241b]0;owned\u2407", "pass"])
        self.assertNotRegex((self.out / "page" / "report.html").read_text(), "[\x1b\x07]")
        judged = json.loads((self.out / "page" / "check.json").read_text())
        self.assertEqual(judged["assumptions"], ["rows are items", "no scaler\x1b]0;owned\x07"])

    def test_a_recipe_with_a_gap_says_so_by_all_lenses(self):
        case = json.loads(pathlib.Path(CASE).read_text())
        case["normalisation"] = "mean_of_means"
        (self.out / "means.json").write_text(json.dumps(case))
        tally("replay", self.out / "means.json", "--dump", self.out)
        files = (self.out / "case.json", self.out / "trace.safetensors")
        judged = json.loads(tally("check", *files, "--json").stdout)
        self.assertGreater(judged["semantic_gap"], 0)
        self.assertIn("semantic gap: " + judged["gap_sentence"], tally("check", *files).stdout.splitlines())
        local = json.loads(tally("check", *files, "--json", "--lens", "local").stdout)
        self.assertNotIn("semantic_gap", local)
        self.assertTrue(any("semantic gap" in line for line in local["not_judged"]))

    def test_a_case_is_named_as_its_trace_names_it(self):
        _, judged = self.judged([])
        said = tally("hash", self.out / "case.json")
        self.assertEqual((said.returncode, said.stdout), (0, judged["case"]["hash"] + "\n"))
        self.assertEqual(tally("hash", CASE).stdout, said.stdout)
        self.assertEqual(tally("hash", self.out / "none.json").returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
