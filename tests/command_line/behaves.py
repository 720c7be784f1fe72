"""Runs the program as a user would and checks exit codes, messages and files. Standard library only."""
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

TALLY = sys.argv[1]
ROOT = pathlib.Path(sys.argv[2])
VALID = ROOT / "tests" / "oracle" / "case" / "valid"
QUICK = ["--law", "exact_lane", "--precision", "fp32", "--cases", "2", "--no-training"]


def tally(*arguments, **options):
    return subprocess.run([TALLY, *map(str, arguments)], capture_output=True, text=True, timeout=600, **options)


def a_case():
    return sorted(VALID.glob("*.json"))[0]


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def refuses(self, arguments, *words, code=2):
        result = tally(*arguments)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        for word in words:
            self.assertIn(word, result.stdout + result.stderr)
        return result

    def test_unknown_words_are_usage_errors(self):
        self.refuses(["sweep"], "sweep")
        for family in ("sweep", "bench"):
            self.refuses([family, "no_such_study", "--effort", "0"], "effort")
        self.refuses(["verify", "--colour"])
        self.refuses(["verify", "--law", "no_such_law", "--out", self.out], "no_such_law", "tally list laws")
        self.refuses(["verify", "--precision", "bf61", "--out", self.out], "bf61", "fp16")
        self.refuses(["verify", "--time", "soon", "--out", self.out], "soon", "60s")
        self.refuses(["faults", "no-such-fault"], "no-such-fault", "tally list faults")
        self.refuses(["list", "planets"])

    def test_an_effort_is_a_number_of_cases_that_can_be(self):
        for wrong in ("nan", "inf", "5e7", "1e300"):
            self.refuses(["verify", *QUICK[:4], "--effort", wrong, "--out", self.out], "effort")
            ran = subprocess.run([TALLY, "verify", *QUICK[:4], "--out", self.out], capture_output=True, text=True,
                                 env={**os.environ, "TALLY_EFFORT": wrong})
            self.assertEqual(ran.returncode, 2, ran.stdout + ran.stderr)
            self.assertIn(f"TALLY_EFFORT: '{wrong}'", ran.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "this machine has no /dev/full")
    def test_what_cannot_be_written_is_an_error(self):
        for command in (["list", "laws"], ["oracle", a_case()], ["replay", a_case()]):
            with open("/dev/full", "w") as full:
                ran = subprocess.run([TALLY, *map(str, command)], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(ran.returncode, 3, ran.stderr)
            self.assertIn("standard output cannot be written", ran.stderr)

    def test_a_magnitude_takes_a_named_fault_that_has_a_size(self):
        for wrong in ("2", "-0.5", "nan"):
            self.refuses(["faults", "extra-times-k", f"--magnitude={wrong}"], "magnitude", "from 0 to 1")
        self.refuses(["faults", "extra-times-k", "--magnitude", "half"], "--magnitude", "half")
        self.refuses(["faults", "--magnitude", "0.5"], "--magnitude", "name the fault")
        self.refuses(["verify", "--magnitude", "0.5", "--out", self.out], "--magnitude", "name the fault")
        self.refuses(["faults", "boundary-off-by-one", "--magnitude", "0.5"], "boundary-off-by-one", "no size")

    def test_explain_tells_a_failing_case_in_words(self):
        tally("verify", "--subject", "host", "--law", "partition_equals_full_batch", "--precision", "fp32", "--cases", 3,
              "--no-training", "--fault", "overwrite-not-add", "--out", self.out)
        results = self.out / "results.json"
        case = next(c for c in json.loads(results.read_text())["cases"] if c["status"] == "fail")
        told = tally("explain", case["id"], "--results", results)
        self.assertEqual(told.returncode, 0, told.stderr)
        for words in (case["title"], case["message"], "last-only", "A = s_k", "tally replay tly1:"):
            self.assertIn(words, told.stdout)
        command = next(line for line in told.stdout.splitlines() if line.startswith("replay: ./tally "))
        replayed = tally(*command.removeprefix("replay: ./tally ").split())
        self.assertEqual(replayed.returncode, 1, replayed.stdout + replayed.stderr)
        self.assertIn("looks like last-only", replayed.stdout)

    def test_explain_knows_laws_faults_and_suspects_and_offers_the_nearest_name(self):
        for name, words in (("exact_lane", "control"), ("clip-per-microbatch", "clip-per-microbatch"),
                            ("last-only", "zero-grad-inside-loop")):
            told = tally("explain", name)
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertIn(words, told.stdout)
        self.refuses(["explain", "mean-of-mean", "--results", self.out / "none.json"], "mean-of-means", "none.json")
        (self.out / "broken.json").write_text("{}")
        self.refuses(["explain", "0123456789ab", "--results", self.out / "broken.json"], "broken.json")

    def test_an_unknown_study_is_refused_with_the_names_of_those_there_are(self):
        for family, listed in (("sweep", "sweeps"), ("bench", "benches")):
            result = tally("list", listed)
            self.assertEqual(result.returncode, 0, result.stderr)
            names = [line.split()[0] for line in result.stdout.splitlines()]
            self.refuses([family, "no_such_study", "--out", self.out], *names)

    def test_a_sweep_writes_its_three_files_the_same_for_any_number_of_processes(self):
        run = ["sweep", "micro_batches", "--effort", "0.01", "--seed", "7"]
        printed = tally(*run, "--processes", "1", "--out", self.out / "a", "--json")
        self.assertIn(printed.returncode, (0, 4), printed.stderr)
        study = json.loads(printed.stdout)
        self.assertEqual((study["name"], study["seed"], study["partial"]), ("micro_batches", 7, False))
        self.assertEqual(tally(*run, "--processes", "2", "--out", self.out / "b").returncode, printed.returncode)
        for ending in ("json", "html", "md"):
            name = f"micro_batches.{ending}"
            self.assertEqual((self.out / "a" / name).read_bytes(), (self.out / "b" / name).read_bytes(), name)
        self.assertEqual((self.out / "a" / "micro_batches.json").read_text(), printed.stdout)

    def interrupted(self, sent, file, *words):
        """What a command has left that was sent a signal once it had said how far it was."""
        process = subprocess.Popen([TALLY, *words, "--effort", "5", "--out", str(self.out)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(b"[1/", process.stderr.readline())
        process.send_signal(sent)
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, sent)
        return json.loads((self.out / file).read_text())

    def test_an_interrupted_sweep_is_marked(self):
        self.assertTrue(self.interrupted(signal.SIGINT, "micro_batches.json", "sweep", "micro_batches")["partial"])

    def test_missing_files_are_named(self):
        self.refuses(["oracle", self.out / "none.json"], "none.json")
        self.refuses(["replay", self.out / "none.json"], "none.json")
        self.refuses(["gate", self.out / "none.json", "--baseline", self.out / "b.json"], "none.json")
        self.refuses(["check", a_case(), self.out / "none.safetensors"], "none.safetensors")

    def test_an_unwritable_folder_is_refused_before_work(self):
        blocked = self.out / "file"
        blocked.write_text("in the way")
        self.refuses(["verify", *QUICK, "--out", blocked / "deeper"], "--out")

    def test_truncated_results_are_refused_with_their_place(self):
        self.assertEqual(tally("verify", *QUICK, "--out", self.out).returncode, 0)
        results = self.out / "results.json"
        results.write_text(results.read_text()[:200])
        self.refuses(["report", results], "results.json")
        self.refuses(["gate", results, "--baseline", self.out / "b.json"], "results.json")

    def test_a_huge_case_is_an_error_and_not_a_crash(self):
        case = json.loads(a_case().read_text())
        case["model"]["layers"][0]["out"] = 10**12
        huge = self.out / "huge.json"
        huge.write_text(json.dumps(case))
        self.refuses(["oracle", huge])

    def test_verify_writes_its_four_files_and_one_json_document(self):
        result = tally("verify", *QUICK, "--out", self.out, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["schema"], 1)
        for name in ("results.json", "report.html", "junit.xml", "summary.md"):
            self.assertTrue((self.out / name).stat().st_size > 0, name)

    def test_what_differs_from_run_to_run_is_in_run_json_alone(self):
        tally("verify", *QUICK, "--out", self.out)
        facts = json.loads((self.out / "run.json").read_text())
        self.assertEqual(facts["command"][1:6], ["verify", *QUICK[:4]])
        self.assertEqual(facts["exit_code"], 0)
        self.assertEqual(facts["results_sha256"], hashlib.sha256((self.out / "results.json").read_bytes()).hexdigest())
        self.assertGreater(facts["seconds"], 0)
        for name in ("results.json", "report.html", "junit.xml", "summary.md"):
            text = (self.out / name).read_text()
            for volatile in (facts["host"] + " ", facts["started"], str(self.out)):
                self.assertNotIn(volatile, text, name)

    def test_a_failing_case_leaves_its_tensors_and_the_check_of_them_fails(self):
        run = ["verify", "--law", "partition_equals_full_batch", "--precision", "fp32", "--cases", "20", "--no-training",
               "--fault", "overwrite-not-add", "--out", self.out]
        self.assertEqual(tally(*run).returncode, 1)
        failing = [c for c in json.loads((self.out / "results.json").read_text())["cases"] if c["status"] == "fail"]
        kept = self.out / "failures" / ("c-" + failing[0]["id"])
        self.assertEqual(tally("check", kept / "case.json", kept / "trace.safetensors").returncode, 1)
        checks = [t for t in failing[0]["worst"] if t["status"] == "fail" and t["lens"] == "local"]
        self.assertTrue(all(t["elements_worst"] and t["profile"]["stretch"] > 0 for t in checks) and checks)
        page = (self.out / "report.html").read_text()
        self.assertIn(f'id="c-{failing[0]["id"]}"', page)
        self.assertIn("Where in ", page)
        notes = [self.out / "failures" / "notes.txt", kept / "mine.txt"]
        for note in notes:
            note.write_text("a user's")
        self.assertEqual(tally("verify", *QUICK, "--out", self.out).returncode, 0)
        self.assertEqual(sorted(p for p in (self.out / "failures").rglob("*") if p.is_file()), sorted(notes))
        for note in notes:
            note.unlink()
        kept.rmdir()
        self.assertEqual(tally("verify", *QUICK, "--out", self.out).returncode, 0)
        self.assertFalse((self.out / "failures").exists())

    def test_a_page_shows_the_study_baseline_and_history_it_is_given(self):
        tally("verify", *QUICK, "--out", self.out)
        page, results, baseline = self.out / "report.html", self.out / "results.json", self.out / "b.json"
        before = page.read_bytes()
        self.assertIn(b'<h2 id="rules">', before)  # kept with the program
        self.assertEqual(tally("report", results).returncode, 0)
        self.assertEqual(page.read_bytes(), before)
        tally("sweep", "micro_batches", "--effort", "0.01", "--out", self.out)
        tally("bless", results, "--baseline", baseline, "--reason", "first", "--allow-ci")
        rendered = tally("report", results, "--study", self.out / "micro_batches.json", "--baseline", baseline,
                         "--history", results)
        self.assertEqual(rendered.returncode, 0, rendered.stderr)
        for part in ("Measured by tally sweep micro_batches", '<h2 id="baseline">', '<h2 id="history">'):
            self.assertIn(part, page.read_text())
        self.refuses(["report", results, "--study", results], "results.json")

    def test_the_same_seed_gives_the_same_bytes(self):
        for place in ("a", "b"):
            tally("verify", *QUICK, "--out", self.out / place, cwd=self.out)
        for name in ("results.json", "report.html", "summary.md"):
            self.assertEqual((self.out / "a" / name).read_bytes(), (self.out / "b" / name).read_bytes(), name)

    def test_an_interrupt_leaves_a_marked_result(self):
        for sent in (signal.SIGINT, signal.SIGTERM):
            self.assertTrue(self.interrupted(sent, "results.json", "verify", "--no-training")["partial"], sent)

    def test_doctor_probes_how_a_gemm_rounds(self):
        found = tally("doctor", "--probe", "host").stdout
        self.assertIn("rounded: nearest", found)
        self.assertIn("2048 + 1 + ... stops", found)
        self.assertNotIn("row h100", found)
        modelled = tally("doctor", "--probe", "host", "--order", "tensor_core_h100").stdout
        self.assertIn("16 at once, 25 fraction bits, truncated", modelled)
        self.assertIn("row h100", modelled)
        self.refuses(["doctor", "--probe", "host", "--order", "tensor_core_p100"], "tensor_core_v100")
        self.refuses(["doctor", "--order", "tensor_core_h100"], "--probe host")

    def test_an_absent_device_is_77(self):
        if os.path.exists("/dev/nvidia0"):
            self.skipTest("this machine has a GPU")
        self.refuses(["verify", *QUICK, "--subject", "cuda", "--out", self.out], code=77)
        self.refuses(["doctor", "--probe", "cuda"], code=77)
        self.assertIn("probe of cuda  not run: ", tally("doctor", "--probe", "cuda").stdout)

    def test_a_law_says_nothing_of_a_case_unlike_those_it_draws(self):
        case = VALID / "adam_fp16_dynamic_scale.json"
        for law in ("rate_follows_its_formula", "overflow_anywhere_is_found", "exact_lane"):
            asked = tally("replay", case, "--law", law)
            self.assertEqual(asked.returncode, 4, asked.stdout + asked.stderr)
            self.assertIn("not_run: the law needs a case of the kind that it draws", asked.stdout)
        wrong = tally("replay", case, "--law", "exact_lane", "--fault", "overwrite-not-add")
        self.assertEqual(wrong.returncode, 1, wrong.stdout + wrong.stderr)

    def test_a_recorded_trace_is_judged_and_a_wrong_one_refused(self):
        case = a_case()
        self.assertIn(tally("replay", case, "--dump", self.out).returncode, (0, 4))
        trace = self.out / "trace.safetensors"
        self.assertIn(tally("check", self.out / "case.json", trace).returncode, (0, 4))
        other = [c for c in sorted(VALID.glob("*.json")) if c != case][-1]
        self.refuses(["check", other, trace], "expected")

    def test_the_oracle_agrees_with_itself_at_twice_the_digits(self):
        case = next(c for c in sorted(VALID.glob("*.json")) if "batch_norm" in c.read_text())
        short = json.loads(tally("oracle", case, "--digits", "50").stdout)
        long = json.loads(tally("oracle", case, "--digits", "100").stdout)
        self.assertTrue(close(short, long), "50 digits are not the first 50 of 100")


def close(a, b):
    """Every number of a differs from b by less than one unit of a's 50th digit, or is below the 50 of its group."""
    from decimal import Decimal, localcontext
    if isinstance(a, dict):
        numbers = [v for v in leaves(b)]
        return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a) and bool(numbers or not b)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    if not isinstance(a, str) or a in ("nan", "inf", "-inf"):
        return a == b
    with localcontext() as context:
        context.prec = 200
        x, y = Decimal(a), Decimal(b)
        return x == 0 or abs(x - y) < Decimal(10) ** (x.adjusted() - 49)


def leaves(value):
    if isinstance(value, dict):
        for v in value.values():
            yield from leaves(v)
    elif isinstance(value, list):
        for v in value:
            yield from leaves(v)
    else:
        yield value


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
