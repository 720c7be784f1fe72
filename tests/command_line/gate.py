"""The gate and what stands around it, as a user meets it: baseline, compare, history. Standard library only."""
import json
import os
import pathlib
import pty
import resource
import shlex
import subprocess
import sys
import tempfile
import unittest

TALLY = sys.argv[1]
QUICK = ["--subject", "host", "--law", "exact_lane", "--precision", "fp32,fp16", "--cases", "3", "--no-training"]


def tally(*arguments, **environment):
    kept = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run([TALLY, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                          env={**kept, **environment})


class Gate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runs = tempfile.TemporaryDirectory()
        cls.results = pathlib.Path(cls.runs.name) / "run" / "results.json"
        tally("verify", *QUICK, "--out", cls.results.parent)
        run = json.loads(cls.results.read_text())
        cls.count = len({(case["precision"], case["id"]) for case in run["cases"]})
        for case in run["cases"]:
            for operation in case["operations"]:
                operation["bits"] = "0" * 16
        cls.other = pathlib.Path(cls.runs.name) / "other.json"
        cls.other.write_text(json.dumps(run))
        run = json.loads(cls.results.read_text())
        run["cases"][0]["status"] = run["laws"][0]["status"] = "fail"
        run["laws"][0]["failed"] = 1
        cls.failing = pathlib.Path(cls.runs.name) / "failing.json"
        cls.failing.write_text(json.dumps(run))

    @classmethod
    def tearDownClass(cls):
        cls.runs.cleanup()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)
        self.baseline = self.out / "baseline.json"

    def tearDown(self):
        self.folder.cleanup()

    def ends(self, code, *arguments, **environment):
        result = tally(*arguments, **environment)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        return result.stdout + result.stderr

    def bless(self, results=None, reason="a first run"):
        return self.ends(0, "bless", results or self.results, "--baseline", self.baseline, "--reason", reason)

    def test_a_second_gate_after_a_bless_is_clean_and_a_second_bless_writes_the_same(self):
        self.bless()
        before = self.baseline.read_bytes()
        self.assertIn("PASS", self.ends(0, "gate", self.results, "--baseline", self.baseline))
        self.assertIn("0 added, 0 changed", self.bless(reason="nothing came since"))
        self.assertEqual(self.baseline.read_bytes(), before)
        self.assertIn(f"{self.count} cases", self.ends(0, "baseline", "verify", self.baseline))
        shown = self.ends(0, "baseline", "show", self.baseline, "--precision", "fp16")
        self.assertIn("a first run", shown)
        self.assertNotIn("fp32", shown)
        self.ends(2, "baseline", "show", self.baseline, "--law", "none")

    def test_other_bits_fail_with_the_kernel_that_changed_until_they_are_blessed(self):
        self.bless()
        told = self.ends(1, "gate", self.other, "--baseline", self.baseline)
        self.assertIn("from equal inputs", told)
        lines = told.splitlines()
        self.assertLessEqual(len(lines), 20, told)
        self.assertEqual(lines[0], "Kernels that changed")
        self.assertRegex(lines[-2], "^to accept .*: ./tally bless .*pending.json --baseline ")
        self.assertRegex(lines[-1], "^FAIL  [0-9]+ kernels changed, as accurate, no bound broken: bless or reject$")
        self.assertIn("Every finding", self.ends(1, "gate", self.other, "--baseline", self.baseline, "--all"))
        self.assertIn("kernels/window/accumulate.cu", self.ends(1, "gate", self.other, "--baseline", self.baseline, "--all"))
        self.assertIn("linear.forward", self.ends(1, "baseline", "diff", self.other, "--baseline", self.baseline, "--all"))
        where = ["baseline", "bless", self.other, "--baseline", self.baseline, "--reason", "another order"]
        self.ends(2, *where)
        self.ends(2, *where, "--all")
        self.ends(2, *where, "--law", "no_such_law")
        self.ends(2, *where, "--all", "--yes", CI="true")
        self.ends(2, *where[:-1], "update baseline", "--all", "--yes")
        self.ends(0, *where, "--precision", "fp16")
        self.assertNotIn("fp16", self.ends(1, "gate", self.other, "--baseline", self.baseline))
        self.ends(0, *where, "--all", "--yes", "--allow-ci", CI="true")
        self.ends(0, "baseline", "diff", self.other, "--baseline", self.baseline)

    def test_what_is_gone_is_pruned(self):
        self.bless()
        run = json.loads(self.results.read_text())
        run["cases"] = [case for case in run["cases"] if case["id"] != run["cases"][0]["id"]]
        fewer = self.out / "fewer.json"
        fewer.write_text(json.dumps(run))
        self.assertIn("1 case blessed before, gone now", self.ends(1, "gate", fewer, "--baseline", self.baseline))
        self.assertIn("1 removed", self.ends(0, "baseline", "prune", fewer, "--baseline", self.baseline))
        self.ends(0, "gate", fewer, "--baseline", self.baseline)
        self.assertIn("0 changed", self.ends(0, "baseline", "tighten", fewer, "--baseline", self.baseline, "--reason",
                                             "Kahan sums"))

    def test_the_gate_leaves_what_a_bless_takes_without_the_results(self):
        self.bless()
        pending = self.out / "pending.json"
        words = ["--baseline", self.baseline, "--pending", pending]
        self.assertIn(f"./tally bless {pending}", self.ends(1, "gate", self.other, *words))
        where = ["bless", pending, "--baseline", self.baseline, "--reason"]
        self.ends(2, *where, "")
        self.ends(2, "baseline", "prune", pending, "--baseline", self.baseline)
        self.assertIn(f"0 added, {self.count} changed, 0 removed", self.ends(0, *where, "another order"))
        self.ends(0, "gate", self.other, *words)
        self.assertFalse(pending.exists(), "what is blessed is still pending")

    def test_the_gate_takes_no_file_that_is_not_its_own(self):
        self.bless()
        kept = {file: file.read_bytes() for file in (self.baseline, self.results)}
        told = self.ends(2, "gate", self.results, "--baseline", self.baseline, "--pending", self.baseline)
        self.assertIn("is the baseline", told)
        self.assertIn("is no pending.json", self.ends(2, "gate", self.results, "--baseline", self.baseline, "--pending",
                                                      self.results))
        run = self.out / "run"
        run.mkdir()
        for results in (self.results, self.other):  # with nothing to be blessed, and with something
            (run / "results.json").write_bytes(results.read_bytes())
            (run / "pending.json").write_bytes(kept[self.baseline])
            kept[run / "pending.json"] = kept[self.baseline]
            told = self.ends(2, "gate", run / "results.json", "--baseline", self.baseline)
            self.assertIn("is a baseline", told)
            self.assertEqual(len(told.splitlines()), 1)
            self.ends(2, "gate", run / "results.json", "--baseline", run / "pending.json")
            for file, content in kept.items():
                self.assertEqual(file.read_bytes(), content)
        (run / "pending.json").unlink()
        self.ends(1, "gate", run / "results.json", "--baseline", self.baseline)
        told = self.ends(2, "gate", run / "results.json", "--baseline", run / "pending.json")
        self.assertIn("what a gate left to be blessed; expected a baseline: ./tally bless", told)
        self.assertTrue((run / "pending.json").exists())

    def test_a_full_disk_is_no_fault_of_who_blesses(self):
        def full():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

        words = [TALLY, "bless", self.results, "--baseline", self.baseline, "--reason", "a first run", "--allow-ci"]
        ran = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60, preexec_fn=full,
                             restore_signals=False)
        self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
        self.assertEqual(len(ran.stderr.splitlines()), 1, ran.stderr)
        self.assertEqual(list(self.out.iterdir()), [])
        history = [TALLY, "history", "add", self.results, "--history", self.out / "runs.jsonl"]
        for _ in range(8):
            ran = subprocess.run(list(map(str, [*history, "--commit", "c" * 400 + str(_)])), capture_output=True,
                                 text=True, timeout=60, preexec_fn=full, restore_signals=False)
            if ran.returncode:
                break
        self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
        self.assertEqual([file.name for file in self.out.iterdir()], ["runs.jsonl"])
        (self.out / "runs.jsonl").unlink()
        words[4] = self.out / "nowhere" / "baseline.json"
        self.assertIn("there is no folder", self.ends(2, *words[1:]))

    def test_a_case_is_explained_by_the_id_that_failures_print(self):
        case = json.loads(self.failing.read_text())["cases"][0]["id"]
        for name in (case, "c-" + case):
            self.assertIn(f"case {case}", self.ends(0, "explain", name, "--results", self.failing))

    def test_a_misspelt_variant_is_answered_with_the_right_ones(self):
        run = ["verify", *QUICK, "--out", self.out, "--kernel"]
        told = self.ends(2, *run, "layer_norm.forward=welfort")
        for variant in ("one_pass", "two_pass", "welford"):
            self.assertIn(f"layer_norm.forward={variant}", told)
        self.assertIn("layer_norm.forward", self.ends(2, *run, "layer_norm.forwart=welford"))
        self.assertIn("layer_norm.forward=welford", self.ends(2, "kernel", "layer_norm.forward=x", "--out", self.out))

    def test_a_kernel_is_run_under_every_law_on_the_host_and_watched(self):
        if "not run: no checked executor" in tally("doctor").stdout:
            self.skipTest("this program has no checked executor: built with sanitizers, or without clang 16")
        told = self.ends(0, "kernel", "norm=shared_tree", "--effort", "0.02", "--out", self.out)
        self.assertIn("kernels/window/norm.cu", told)
        self.assertIn("norm/shared_tree: ", told)
        for subject in ("host", "checked"):
            self.assertEqual(json.loads((self.out / subject / "results.json").read_text())["environment"]["executor"], subject)

    def on_a_terminal(self, answers, words):
        primary, secondary = pty.openpty()
        os.write(primary, answers.encode())
        kept = {name: value for name, value in os.environ.items() if name != "CI"}
        result = subprocess.run([TALLY, *map(str, words)], stdin=secondary, capture_output=True, text=True, timeout=60,
                                env=kept)
        os.close(primary), os.close(secondary)
        return result

    def test_a_review_asks_about_each_change(self):
        self.bless()
        words = ["baseline", "review", self.other, "--baseline", self.baseline, "--reason", "another order"]
        self.assertIn("expected a terminal", self.ends(2, *words))
        for answers, code, accepted in (("?\na\nr\n", 1, 1), ("s\ns\n", 0, 0), ("A\n", 0, 1)):
            result = self.on_a_terminal(answers, words)
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
            self.assertIn(f"{accepted} accepted", result.stdout)
        self.ends(0, "gate", self.other, "--baseline", self.baseline)

    def test_a_review_shows_what_the_gate_left_and_its_command_accepts_it(self):
        self.bless()
        pending = self.out / "left by the gate.json"
        run = json.loads(self.other.read_text())
        run["cases"][0]["worst_end_to_end_ratio"] = 0.75
        changed = self.out / "changed.json"
        changed.write_text(json.dumps(run))
        self.ends(1, "gate", changed, "--baseline", self.baseline, "--pending", pending)
        words = ["baseline", "review", pending, "--baseline", self.baseline]
        before = self.baseline.read_bytes()
        told = self.ends(0, *words)
        for part in ("linear.forward", "exact_lane, fp16", f"changed in {self.count} of {self.count} cases", "-> 0.75"):
            self.assertIn(part, told)
        first = next(line.split() for line in told.splitlines() if "Changed cases" in told and run["cases"][0]["id"] in line)
        self.assertEqual(first[4], "0.75")
        self.assertEqual(self.baseline.read_bytes(), before)
        self.assertIn("expected a terminal", self.ends(2, *words, "--reason", "another order"))
        self.assertEqual(self.on_a_terminal("a\ns\n", [*words, "--reason", "another order"]).returncode, 0)
        self.assertIn("1 accepted", self.on_a_terminal("a\n", [*words, "--reason", "another order"]).stdout)
        self.baseline.write_bytes(before)
        command = next(line for line in told.splitlines() if "tally bless" in line)
        command = shlex.split(command[command.index("tally bless"):].replace("...", "another order"))
        self.assertIn(f"0 added, {self.count} changed", self.ends(0, *command[1:]))
        self.assertIn("nothing is to be accepted", self.ends(0, "baseline", "review", changed, *words[3:]))

    def test_a_review_refuses_what_is_neither_results_nor_pending(self):
        self.bless()
        for name, content in (("none.json", None), ("words.json", "hello"), ("empty.json", "{}"),
                              ("pending.json", '{"blessings": 7}')):
            file = self.out / name
            if content is not None:
                file.write_text(content)
            told = self.ends(2, "baseline", "review", file, "--baseline", self.baseline)
            self.assertIn(str(file), told)
            self.assertIn("expected the results.json of a run", told)
        self.assertIn("is a baseline", self.ends(2, "baseline", "review", self.baseline, "--baseline", self.baseline))

    def test_a_waiver_is_held_against_the_day_that_is_given(self):
        self.bless()
        waivers = self.out / "waivers.toml"
        waivers.write_text('[[xfail]]\nlaw = "exact_*"\nreason = "known"\nlink = "https://example.org/7"\n'
                           "expires = 2027-03-31\n")
        words = ["gate", self.failing, "--baseline", self.baseline, "--waivers", waivers]
        self.assertNotIn("Broken", self.ends(0, *words, "--today", "2027-03-31"))
        self.assertIn("expired on 2027-03-31", self.ends(1, *words, "--today", "2027-04-01"))
        self.assertIn("remove it", self.ends(1, "gate", self.results, *words[2:], "--today", "2027-03-31"))
        self.ends(2, *words, "--today", "soon")
        waivers.write_text("[[xfail]]\nlaw = 7\n")
        self.assertIn("waivers.toml:2: found '7'", self.ends(2, *words))

    def test_two_runs_are_compared_kernel_by_kernel(self):
        same = self.ends(0, "compare", self.results.parent, self.results)
        self.assertIn(f"bits equal in all {self.count} cases", same)
        told = self.ends(0, "compare", self.results, self.other, "--out", self.out)
        self.assertRegex(told, "bits changed in .* from equal inputs  accuracy the same")
        self.assertRegex(told.rstrip().splitlines()[-1], "kernels? changed.*: bless or reject$")
        self.assertRegex((self.out / "summary.md").read_text(), r"\| linear\.forward\S* \| .*gemm.* \| fp16\b")
        self.assertIn("Laws that break now", self.ends(1, "compare", self.results, self.failing))
        self.ends(2, "compare", self.results, self.out / "none.json")

    def test_a_history_grows_and_is_shown(self):
        history = self.out / "runs.jsonl"
        add = ["history", "add", self.results, "--history", history, "--commit"]
        self.assertIn("added", self.ends(0, *add, "aaaa"))
        self.assertIn("stands there already", self.ends(0, *add, "aaaa"))
        self.ends(0, *add, "bbbb")
        self.assertIn("bbbb", self.ends(0, "history", "show", history))
        page = self.out / "page"
        self.ends(0, "report", self.results, "--history", history, "--out", page)
        self.assertIn("bbbb", (page / "report.html").read_text())
        history.write_text(history.read_text()[:-20])
        self.assertIn("runs.jsonl:2: ", self.ends(2, *add, "cccc"))
        self.ends(2, "history", "add", self.results, "--history", self.out / "runs.json")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
