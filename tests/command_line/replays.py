"""A failing case fails again the way it is said to, by the command that is printed for it. Standard library only."""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

TALLY = sys.argv[1]


def tally(*arguments):
    return subprocess.run([TALLY, *map(str, arguments)], capture_output=True, text=True, timeout=600)


class Replays(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def test_a_fault_at_a_magnitude_is_replayed_at_it(self):
        ran = tally("faults", "extra-times-k", "--magnitude", 0.125, "--subject", "host")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        command = next(line for line in ran.stdout.splitlines() if line.startswith("replay: ./tally "))
        self.assertTrue(command.endswith(" --subject host --fault extra-times-k --magnitude 0.125"), command)
        replayed = tally(*command.removeprefix("replay: ./tally ").split())
        self.assertEqual(replayed.returncode, 1, replayed.stdout + replayed.stderr)
        at_none = tally("faults", "extra-times-k", "--magnitude", 0, "--subject", "host")
        self.assertEqual(at_none.returncode, 1, at_none.stdout + at_none.stderr)
        self.assertIn("MISSED", at_none.stdout)

    def case_of_the_readme(self, **changed):
        case = json.loads((pathlib.Path(__file__).resolve().parents[1] / "readme" / "uneven_micro_batches.json").read_text())
        for path, value in changed.items():
            *sections, key = path.split("__")
            at = case
            for section in sections:
                at = at[section]
            at[key] = value
        file = self.out / "case.json"
        file.write_text(json.dumps(case))
        return file

    def test_stages_that_no_end_to_end_bound_says_anything_of_are_named(self):
        tiny = {"dtype": "fp16", "shape": [3, 2], "data": [2.0**-14] * 6}
        small = {"dtype": "fp16", "shape": [3, 1], "data": [2.0**-13] * 3}
        weight = {"dtype": "fp32", "shape": [1, 2], "data": [2.0**-6, 2.0**-7]}
        case = self.case_of_the_readme(precision__storage="fp16", precision__compute="fp16", tensors__x=tiny,
                                       tensors__target=small, **{"tensors__fc.weight": weight})
        told = tally("replay", case, "--subject", "host")
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        self.assertRegex(told.stdout, "judged stage by stage only, .*: .*unscale.*; w0/.*lost to underflow")
        heard = tally("replay", self.case_of_the_readme(), "--subject", "host")
        self.assertNotIn("stage by stage only", heard.stdout)

    def test_a_run_of_zeros_is_told_where_they_come_from(self):
        case = self.case_of_the_readme(model__loss={"kind": "cross_entropy"},
                                       tensors__target={"dtype": "i64", "shape": [3], "data": [-100] * 3})
        told = tally("replay", case, "--subject", "host")
        self.assertEqual(told.returncode, 4, told.stdout + told.stderr)
        self.assertIn("dead runs agree whatever they compute; no row counts, as each is ignored or weighs 0", told.stdout)

    def test_the_command_printed_for_a_failing_case_fails_the_same_way(self):
        planted = ["--fault", "extra-times-k", "--magnitude", "0.5", "--kernel", "accumulate=kahan"]
        ran = tally("verify", "--subject", "host", "--law", "partition_equals_full_batch", "--precision", "fp32",
                    "--cases", 6, "--no-training", *planted, "--out", self.out)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        case = next(c for c in json.loads((self.out / "results.json").read_text())["cases"] if c["status"] == "fail")
        told = tally("explain", case["id"], "--results", self.out / "results.json").stdout
        texts = [ran.stdout, told] + [(self.out / name).read_text() for name in ("summary.md", "junit.xml", "report.html")]
        found = [re.findall("tally replay " + re.escape(case["token"]) + "[^\n<]*", text) for text in texts]
        self.assertTrue(all(found), found)
        self.assertEqual(len(set(sum(found, []))), 1, found)
        command = shlex.split(found[0][0])
        self.assertEqual(command[-len(planted):], planted)
        replayed = tally(*command[1:])
        self.assertEqual(replayed.returncode, 1, replayed.stdout + replayed.stderr)
        self.assertIn(case["message"], replayed.stdout)
        self.assertIn(tally(*command[1:-len(planted)]).returncode, (0, 4))  # right as shipped

    def test_a_seeded_failure_is_shrunk_kept_replayed_and_replayed_first(self):
        run = ["verify", "--law", "partition_equals_full_batch", "--precision", "fp32", "--cases", "20", "--no-training",
               "--fault", "overwrite-not-add", "--out", self.out]
        self.assertEqual(tally(*run).returncode, 1)
        failing = [c for c in json.loads((self.out / "results.json").read_text())["cases"] if c["status"] == "fail"]
        self.assertEqual(failing[0]["first_stage"], "accumulate")
        again = tally("replay", failing[0]["token"], "--law", failing[0]["law"], "--fault", "overwrite-not-add")
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertEqual(tally("replay", failing[0]["token"], "--law", failing[0]["law"]).returncode, 0)
        kept = list((self.out / "corpus").glob("*.json"))
        self.assertEqual(len(kept), 1)
        self.assertEqual(tally(*run).returncode, 1)
        cases = json.loads((self.out / "results.json").read_text())["cases"]
        self.assertTrue(cases[0]["title"].startswith("kept: "), cases[0]["title"])
        self.assertEqual(cases[0]["status"], "fail")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
