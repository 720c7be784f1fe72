"""What a run writes, what it leaves to others, and what it makes of a folder that it finds. Standard library only."""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest

TALLY = sys.argv[1]
QUICK = ["--subject", "host", "--law", "exact_lane", "--precision", "fp32", "--cases", "2", "--no-training"]


def tally(*arguments):
    return subprocess.run([TALLY, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def ends(self, code, *arguments):
        ran = tally(*arguments)
        self.assertEqual(ran.returncode, code, f"{arguments}: {ran.stdout}{ran.stderr}")
        if code == 2:
            self.assertEqual(len(ran.stderr.splitlines()), 1, ran.stderr)
        return ran.stdout + ran.stderr

    def test_a_report_of_other_results_leaves_those_beside_them_alone(self):
        self.ends(0, "verify", *QUICK, "--out", self.out / "run")
        results, other = self.out / "run" / "results.json", self.out / "run" / "a.json"
        other.write_text(results.read_text().replace('"seed": 20240917', '"seed": 1'))
        before = {f: f.read_bytes() for f in (self.out / "run").iterdir() if f.is_file()}
        self.assertIn("expected --out FOLDER", self.ends(2, "report", other))
        self.assertEqual({f: f.read_bytes() for f in (self.out / "run").iterdir() if f.is_file()}, before)
        self.ends(0, "report", other, "--out", self.out / "page")
        self.assertEqual((self.out / "page" / "results.json").read_bytes(), other.read_bytes())

    def test_a_file_of_somebody_else_is_named_and_nothing_is_run(self):
        for name in ("results.json", "report.html", "junit.xml", "summary.md", "run.json"):
            mine = self.out / name / name
            mine.parent.mkdir()
            mine.write_text("a user's")
            self.assertIn(f"{mine}: found a file that Tally did not write", self.ends(2, "verify", *QUICK, "--out", mine.parent))
            self.assertEqual([f.name for f in mine.parent.iterdir()], [name])
            self.assertEqual(mine.read_text(), "a user's")
        (self.out / "micro_batches.md").write_text("a user's")
        self.ends(2, "sweep", "micro_batches", "--effort", "0.01", "--out", self.out)

    def test_a_run_goes_over_an_earlier_one_and_over_a_page_rendered_again(self):
        for _ in range(2):
            self.ends(0, "verify", *QUICK, "--out", self.out)
        self.ends(0, "report", self.out / "results.json")
        self.ends(0, "compare", self.out, self.out, "--out", self.out)
        self.ends(0, "verify", *QUICK, "--out", self.out)

    def test_outputs_of_every_command_leave_what_is_somebody_elses(self):
        case = pathlib.Path(__file__).resolve().parents[1] / "readme" / "uneven_micro_batches.json"
        mine = self.out / "mine"
        mine.write_text("a user's")
        self.ends(2, "oracle", case, "--out", mine)
        self.ends(2, "oracle", case, "--out", self.out)
        for _ in range(2):
            self.ends(0, "oracle", case, "--out", self.out / "answer.json")
        self.ends(2, "verify", *QUICK, "--kernel-times", mine, "--out", self.out / "run")
        self.ends(2, "verify", *QUICK, "--kernel-times", self.out / "none" / "times", "--out", self.out / "run")
        os.mkfifo(self.out / "pipe")
        self.ends(2, "verify", *QUICK, "--kernel-times", self.out / "pipe", "--out", self.out / "run")
        self.ends(0, "verify", *QUICK, "--out", self.out / "run")
        (self.out / "other").mkdir()
        (self.out / "other" / "summary.md").write_text("a user's")
        self.ends(2, "compare", self.out / "run", self.out / "run", "--out", self.out / "other")
        self.assertEqual(mine.read_text() + (self.out / "other" / "summary.md").read_text(), "a user's" * 2)

    def test_failing_cases_of_an_earlier_run_alone_are_taken_away(self):
        out = self.out / "run"
        theirs = out / "failures" / "c-0123456789ab"
        theirs.mkdir(parents=True)
        (theirs / "case.json").write_text("a user's")
        broken = ("verify", *QUICK, "--fault", "overwrite-not-add", "--out", out)
        self.ends(1, *broken)
        self.assertEqual((theirs / "case.json").read_text(), "a user's")
        left = [f for f in (out / "failures").iterdir() if f != theirs]
        self.assertTrue(left)
        self.ends(0, "verify", *QUICK, "--corpus", self.out / "none", "--out", out)
        self.assertEqual(list((out / "failures").iterdir()), [theirs])
        kept = next((out / "corpus").iterdir())
        kept.write_text("a user's")
        self.assertIn("found something else", self.ends(1, *broken, "--corpus", out / "corpus"))
        self.assertEqual(kept.read_text(), "a user's")
        (self.out / "link").mkdir()
        (self.out / "link" / "failures").symlink_to(out / "failures")
        self.assertIn("found no folder", self.ends(2, "verify", *QUICK, "--out", self.out / "link"))

    def test_a_case_written_by_hand_is_not_dumped_over(self):
        case = pathlib.Path(__file__).resolve().parents[1] / "readme" / "uneven_micro_batches.json"
        mine = self.out / "case.json"
        mine.write_text(case.read_text())
        told = self.ends(2, "replay", mine, "--subject", "host", "--dump", self.out)
        self.assertIn(f"--dump: {mine}: found a file that Tally did not write", told)
        self.assertEqual([f.name for f in self.out.iterdir()], ["case.json"])
        self.assertEqual(mine.read_text(), case.read_text())
        for _ in range(2):
            self.ends(0, "replay", mine, "--subject", "host", "--dump", self.out / "dumped")
        (self.out / "dumped" / "trace.safetensors").write_text("a user's")
        self.ends(2, "replay", mine, "--subject", "host", "--dump", self.out / "dumped")

    def test_a_dump_of_many_layers_is_known_again(self):
        """The trace's metadata stands behind the names of all its tensors."""
        root = pathlib.Path(__file__).resolve().parents[1]
        case = json.loads((root / "readme" / "uneven_micro_batches.json").read_text())
        case["model"]["layers"][:0] = 600 * [{"kind": "relu"}]
        (self.out / "many.json").write_text(json.dumps(case))
        for _ in range(2):
            self.ends(0, "replay", self.out / "many.json", "--subject", "host", "--dump", self.out / "dumped")
        header = (self.out / "dumped" / "trace.safetensors").read_bytes()
        self.assertGreater(header.index(b'"tally_trace"'), 1 << 16)

    def test_a_corpus_with_a_pipe_and_no_cases_is_an_error_each_and_the_run_goes_on(self):
        corpus = self.out / "corpus"
        corpus.mkdir()
        os.mkfifo(corpus / "exact_lane@pipe.json")
        (corpus / "exact_lane@cut.json").write_text("{")
        (corpus / "notes.txt").write_text("no case")
        for processes in (1, 2):
            self.ends(1, "verify", *QUICK, "--processes", processes, "--out", self.out)
            cases = json.loads((self.out / "results.json").read_text())["cases"]
            self.assertEqual([c["status"] for c in cases].count("error"), 2)
            self.assertEqual(len(cases), 4)
            told = " ".join(c["message"] for c in cases)
            for words in ("exact_lane@pipe.json: found no file", "exact_lane@cut.json: "):
                self.assertIn(words, told)

    def test_a_case_gets_a_time_that_can_be(self):
        for wrong in ("1e10", "1e300", "inf", "nan", "-5", "0", "1e10h", "soon"):
            for option in ("--case-time", "--time"):
                told = self.ends(2, "verify", *QUICK, f"{option}={wrong}", "--out", self.out)
                self.assertIn(f"{option}: '{wrong}'; expected a duration such as 60s, 2m or 1h, at most 1000h", told)

    def test_results_that_cannot_be_written_are_shown(self):
        ran = subprocess.run([TALLY, "verify", *QUICK, "--out", str(self.out)], capture_output=True, text=True, timeout=600,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
        self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
        self.assertRegex(ran.stdout, r"(?m)^PASS  [\d,]+ tensor checks")
        self.assertIn(f"error: cannot write {self.out}/", ran.stderr)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_a_folder_in_a_files_place_is_found_before_the_run(self):
        (self.out / "report.html").mkdir()
        told = self.ends(2, "verify", *QUICK, "--out", self.out)
        self.assertIn(f"--out: {self.out}/report.html: found no file", told)
        self.assertEqual([f.name for f in self.out.iterdir()], ["report.html"])

    def test_twenty_additions_to_a_history_at_once_are_all_there(self):
        self.ends(0, "verify", *QUICK, "--out", self.out)
        history = self.out / "runs.jsonl"
        commands = [[TALLY, "history", "add", str(self.out / "results.json"), "--history", str(history), "--commit", f"c{i}"]
                    for i in range(20)]
        for process in [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]:
            self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(sorted(re.findall('"commit": ?"(c[0-9]+)"', history.read_text())), sorted(f"c{i}" for i in range(20)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
