"""`tally vary` as the recorder uses it: it asks until it can judge, and leaves a page. vary.py TALLY"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TALLY = sys.argv.pop()
ROUNDING = {"float64": 2.0**-53, "float32": 2.0**-24}
MOST_ASKED = 100


def tally(*arguments):
    return subprocess.run([TALLY, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def tensor(far):
    return {"name": "fc1.weight", "scale": 1.0, "max": far, "rms": far}


class Loop:
    """Answers as a loop that is right, or that averages the means of its micro-batches."""

    def __init__(self, right):
        self.right = right

    def run(self, how):
        sizes = how["sizes"]
        if sizes is None:
            far = 2.0**-24 if how["moved"] else 0.0
        elif self.right or len(set(sizes)) == 1:
            far = ROUNDING[how["precision"]]
        else:
            far = 0.125
        return {**how, "tensors": [tensor(far)], "steps": [1], "micro_batches": [len(sizes or [8])], "error": None}

    def weights(self, how):
        sizes = how["sizes"]
        return {**how, "found": [1 / (len(sizes) * n) for n in sizes], "meant": [1 / sum(sizes)] * len(sizes), "rest": 0.0,
                "meant_rest": 0.0, "place": {"file": "train.py", "line": 31, "text": "loss.backward()"}}


class Vary(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)
        self.file = self.out / "vary.json"

    def tearDown(self):
        self.folder.cleanup()

    def document(self, **changed):
        return {"tally_vary": 1, "loop": {"name": "train.step", "file": "train.py", "line": 12, "kind": "function"}, "rows": 8,
                "windows": 1, "seed": 0, "precisions": ["float64", "float32"], "runs": [], "weights": [], "notes": [],
                "layers": [], **changed}

    def judged(self, loop):
        """Runs what is asked for; the last answer."""
        document = self.document()
        for _ in range(MOST_ASKED):
            self.file.write_text(json.dumps(document))
            ran = tally("vary", self.out, "--json")
            said = json.loads(ran.stdout)
            if said["verdict"] != "asks":
                return ran.returncode, said
            self.assertEqual((ran.returncode, ran.stderr), (4, ""))
            for ask in said["asks"]:
                for kind, how in ask.items():
                    document[{"run": "runs", "weights": "weights"}[kind]].append(getattr(loop, kind)(how))
        self.fail("it asks on and on")

    def test_a_right_loop_passes(self):
        code, said = self.judged(Loop(True))
        self.assertEqual((code, said["verdict"], said["cause"], said["partition"], said["asks"]), (0, "pass", "", [], []))
        self.assertEqual(said["drift"], 2.0**-24)
        self.assertEqual({gap["kind"] for gap in said["gaps"]}, {"rounding"})

    def test_a_wrong_one_fails_with_what_to_change(self):
        code, said = self.judged(Loop(False))
        self.assertEqual((code, said["verdict"], said["cause"]), (1, "fail", "1/(K n_k)"))
        self.assertEqual(len(said["partition"]), 2)
        self.assertRegex(said["sentence"], r"^each micro-batch's loss is divided by its own \d rows and by K = 2; divide by "
                         r"the window's 8: `loss.sum\(\) / 8`.*\(train.py:31 `loss.backward\(\)`\)\. Micro-batches of ")
        explained = tally("explain", said["cause"])
        self.assertEqual(explained.returncode, 0, explained.stderr)
        self.assertIn("divided by its own n_k rows and by K", explained.stdout)

    def test_the_verdict_comes_first_and_a_page_is_left(self):
        for right, word in ((True, "pass"), (False, "fail")):
            self.judged(Loop(right))
            self.assertFalse((self.out / "vary.html").exists())
            ran = tally("vary", self.out)
            self.assertEqual(ran.returncode, 0 if right else 1, ran.stderr)
            self.assertTrue(ran.stdout.startswith(word + ": "), ran.stdout)
            page = (self.out / "vary.html").read_text()
            self.assertIn("<title>Tally: " + word.upper(), page)
            (self.out / "vary.html").unlink()

    def test_the_page_stands_where_it_is_wished_and_over_nobody_elses(self):
        self.judged(Loop(True))
        ran = tally("vary", self.out, "--out", self.out / "page")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue((self.out / "page" / "vary.html").exists())
        mine = self.out / "vary.html"
        mine.write_text("mine")
        ran = tally("vary", self.out)
        self.assertEqual(ran.returncode, 2)
        self.assertRegex(ran.stderr, r"^error: --out: .*vary.html: found a file that Tally did not write.*\n$")
        self.assertEqual(mine.read_text(), "mine")

    def test_missing_runs_are_named_and_no_page_is_left(self):
        self.file.write_text(json.dumps(self.document()))
        ran = tally("vary", self.out)
        self.assertEqual((ran.returncode, ran.stderr), (4, ""))
        self.assertIn("not judged yet: runs are missing (the whole batch in float64)", ran.stdout)
        self.assertFalse((self.out / "vary.html").exists())

    def test_what_is_no_vary_json_is_refused_with_its_place(self):
        whole = {"sizes": None, "precision": "float64", "tensors": [tensor(0.0)]}
        for changed, said in (({"tally_vary": 2}, "$.tally_vary: found 2, expected 1"),
                              ({"rows": 1}, "$.rows: found 1, expected a whole number from 2 to"),
                              ({"rows": "8"}, '$.rows: found "8", expected a whole number'),
                              ({"windows": 0}, "$.windows: found 0, expected a whole number from 1 to"),
                              ({"precisions": ["float32", "float64"]}, "$.precisions: found a list of 2, expected one of float64"),
                              ({"loop": []}, "$.loop: found a list of 0, expected an object"),
                              ({"runs": [{}]}, '$.runs[0]: found an object of 0 keys, expected the key "sizes" in it'),
                              ({"runs": [{**whole, "sizes": [3, 3]}]}, "$.runs[0].sizes: found a list of 2, expected micro-batches"),
                              ({"runs": [{**whole, "sizes": []}]}, "$.runs[0].sizes: found a list of 0, expected the rows"),
                              ({"runs": [{**whole, "tensors": []}]}, "$.runs[0].tensors: found a list of 0, expected at least one"),
                              ({"runs": [{**whole, "tensors": [tensor(-1.0)]}]}, "$.runs[0].tensors[0].max: found -1, expected"),
                              ({"runs": [{**whole, "tensors": [tensor("x")]}]}, '$.runs[0].tensors[0].max: found "x", expected'),
                              ({"runs": [{**whole, "tensors": [tensor(float("nan"))]}]}, "not JSON"),
                              ({"weights": [{"sizes": [4, 4], "found": [0.1], "meant": [0.1, 0.1], "rest": 0, "meant_rest": 0}]},
                               "$.weights[0].found: found a list of 1, expected a weight for each of 2 micro-batches")):
            self.file.write_text(json.dumps(self.document(**changed)))
            for options in ([], ["--json"]):
                ran = tally("vary", self.out, *options)
                self.assertEqual((ran.returncode, ran.stdout), (2, ""), changed)
                self.assertRegex(ran.stderr, r"^error: .*vary\.json: .*\n$")
                self.assertIn(said, ran.stderr)
        for key in ("tally_vary", "loop", "rows", "windows", "seed", "precisions"):
            document = self.document()
            del document[key]
            self.file.write_text(json.dumps(document))
            ran = tally("vary", self.out, "--json")
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), key)
            self.assertIn(f'expected the key "{key}" in it', ran.stderr)
        self.file.unlink()
        self.assertEqual(tally("vary", self.out).returncode, 2)

    def test_an_error_of_the_whole_batch_is_one_sentence(self):
        self.file.write_text(json.dumps(self.document(runs=[
            {"sizes": None, "precision": "float64",
             "error": {"type": "ValueError", "text": "no rows", "file": "train.py", "line": 9}}])))
        sentence = "the whole batch at once in float64 ends with ValueError at train.py:9 (no rows); give a step that runs"
        ran = tally("vary", self.out)
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertTrue(ran.stderr.startswith(f"error: {sentence}"), ran.stderr)
        self.assertFalse((self.out / "vary.html").exists())
        said = tally("vary", self.out, "--json")
        self.assertEqual((said.returncode, said.stderr, json.loads(said.stdout)["verdict"]), (2, ran.stderr, "error"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
