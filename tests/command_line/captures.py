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

    def test_a_failure_says_the_same_everywhere(self):
        ran = self.written(fault=("--fault", "mean-of-means"))
        judged = json.loads((self.out / "page" / "check.json").read_text())
        self.assertEqual((judged["first_tap"], judged["first_stage"]), ("w0/m0/loss/in.factor", "loss"))
        self.assertTrue(judged["sentence"].startswith("w0/m0/loss/in.factor, what each item's loss is multiplied by: expected "
                                                      "0.3333, got 0.25, ratio 0.75 = N/(K n_k) with n_k = 2, N = 3, K = 2; looks "
                                                      "like mean-of-means"))
        self.assertEqual(judged["cause"], judged["suspects"][0]["sentence"])
        self.assertEqual(judged["remedies"], ["divide by the window's 3 items, not by 2 times the micro-batch's own 2: "
                                              "`loss.sum() / window_items`"])
        self.assertEqual(ran.stdout.splitlines()[-3:], ["fail: " + judged["cause"], "  change: " + judged["remedies"][0],
                                                        "  first wrong: " + judged["sentence"]])
        self.assertGreater(judged["own_gap"], 0.01)
        self.assertIn("the loop's own gap: its gradient of window 0 differs", ran.stdout)
        page = (self.out / "page" / "report.html").read_text()
        self.assertIn("What to change: divide by the window&#39;s 3 items, ", page)

    def test_figures_that_few_read_are_for_who_asks_for_them(self):
        short, whole = (self.written(*options, fault=("--fault", "mean-of-means")).stdout for options in ((), ("--verbose",)))
        for words in ("0x1", "the bound is ", "from the case on"):
            self.assertNotIn(words, short)
            self.assertIn(words, whole)
        for text in (short, whole):
            for word in ("lens", "infx", "e2e"):
                self.assertNotIn(word, text)
            self.assertIn("error / bound: of the worst element, at most 1 where all are right", text)

    def rewritten(self, change, *fault):
        """The files of a capture whose trace has another header, and the tensors that this names."""
        tally("replay", CASE, *fault, "--dump", self.out)
        file = self.out / "trace.safetensors"
        trace = file.read_bytes()
        length, kept = int.from_bytes(trace[:8], "little"), b""
        header = change(json.loads(trace[8:8 + length]))
        for name in header.keys() - {"__metadata__"}:
            begin, end = header[name]["data_offsets"]
            header[name]["data_offsets"] = [len(kept), len(kept) + end - begin]
            kept += trace[8 + length + begin:8 + length + end]
        text = json.dumps(header).encode()
        file.write_bytes(len(text).to_bytes(8, "little") + text + kept)
        return self.out / "case.json", file

    def saying(self, key, value, *fault):
        """The files of a capture with one more entry of the trace's metadata."""
        return self.rewritten(lambda header: {**header, "__metadata__": {**header["__metadata__"], key: value}}, *fault)

    def test_a_failure_names_the_line_of_the_loop_where_the_trace_says_it(self):
        places = {"loss": {"file": "train.py", "line": 14, "text": "loss = f(x) / K"}, "step": {"file": "train.py", "line": 20}}
        files = self.saying("places", json.dumps(places), "--fault", "mean-of-means")
        self.assertIn("\n  at train.py:14: loss = f(x) / K\n", tally("check", *files).stdout)
        judged = json.loads(tally("check", *files, "--json").stdout)
        self.assertEqual((judged["place"], judged["place_text"]), ("train.py:14", "loss = f(x) / K"))
        files = self.saying("places", json.dumps({"step": places["step"]}), "--fault", "mean-of-means")
        self.assertNotIn("\n  at ", tally("check", *files).stdout)
        refused = tally("check", *self.saying("places", '{"loss": "train.py"}'))
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertRegex(refused.stderr, r'^error: .*: metadata places\.loss: found "train.py"; expected .*\n$')

    def test_a_capture_without_the_inputs_of_its_stages_is_sent_to_all_lenses(self):
        files = self.rewritten(lambda header: {name: value for name, value in header.items()
                                               if "/unscale/" not in name and "/optimizer/in." not in name})
        self.assertEqual(tally("check", *files).returncode, 0)
        ran = tally("check", *files, "--lens", "local")
        self.assertEqual(ran.returncode, 4, ran.stdout)
        self.assertEqual(ran.stdout.splitlines()[-1], "not judged: --lens local needs the inputs of every stage, and this capture "
                                                      'lacks some; leave the option out, or record at level="window"')

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
        files = self.saying("assumptions", "rows are items\n\nno scaler\x1b]0;owned\x07")
        ran = tally("check", *files, "--out", self.out / "page")
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
        self.assertIn("semantic gap of the stated recipe: " + judged["gap_sentence"], tally("check", *files).stdout.splitlines())
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
