"""Which cause `tally check` names for wrong loops, by how much of the loop was recorded: the table below."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import capture_files
import numpy_loop

TALLY = sys.argv[1]
STATED = {"optimizer": "sgd", "rate": 0.125, "decay": "none", "lambda": 0.0078125, "max_norm": 0.25, "scale": 1}
SGD, ADAM, L2, DECOUPLED, SCALED = {}, {"optimizer": "adam"}, {"decay": "l2"}, {"decay": "decoupled"}, {"scale": 1024}
ADAMW = {**ADAM, **DECOUPLED}

# What the loop does, the recipes it is tried with, and the cause that stands on top at every level of taps.
NAMED = [
    ("mean-of-means", [SGD, ADAM], "mean-of-means"),
    ("no-zero-grad", [SGD, ADAM], "missing-zero-between-windows"),
    ("clip-running-sum", [SGD, ADAM], "clip-per-microbatch"),
    ("clip-each-gradient", [SGD, ADAM], "clip-per-microbatch"),
    ("clip-before-unscale", [SCALED], "clip-before-unscale"),
    ("step-per-micro-batch", [SGD], "step-at-every-microbatch"),
    ("not-divided", [SGD, ADAM], "own-items"),
    ("configured-k", [SGD], "last-window-wrong-divisor"),
    ("configured-k-of-items", [SGD], "last-window-wrong-divisor"),
    ("decay-in-the-loss", [L2, DECOUPLED], "decay-in-the-loss"),
    ("decay-in-the-loss, mean", [L2], "decay-in-the-loss"),
    ("schedule-per-micro-batch", [SGD, ADAM], "sched-per-microbatch"),
    ("l2-for-decoupled", [DECOUPLED, ADAMW], "adamw-vs-adam-decay"),
    # beyond the ten
    ("decoupled-for-l2", [L2], "adam-vs-adamw-decay"),
    ("no-decay", [L2], "decay-left-out"),
    ("decay-per-micro-batch", [L2, DECOUPLED], "decay-per-microbatch"),
    ("clip-absent", [SGD], "clip-left-out"),
    ("divided-twice", [SGD], "over-k"),
    ("times-k", [SGD], "extra-times-k"),
    ("k-minus-one", [SGD], "divided-by-k-minus-1"),
    ("a-sum", [SGD], "sum-not-mean"),
    ("rows-counted", [SGD], "denominator-counts-ignored"),
    ("zero-grad-inside", [SGD], "last-only"),
    ("nesterov", [SGD], "option-taken-as"),
    ("schedule-stuck", [SGD], "rate-never-moves"),
    ("schedule-ahead", [SGD], "step-taken-as"),
    ("no-bias-correction", [ADAM], "bias-correction-left-out"),
    ("count-stuck", [ADAM], "bias-correction-stuck"),
    ("count-per-micro-batch", [ADAM], "optimizer-count-per-microbatch"),
]
# Seen, and no cause is known for it: nothing may be named where no suspect of a single stage has its inputs.
UNNAMED = [("half-as-many-items", [SGD])]
# Four steps of Adam without a tap between them: their bounds say nothing, so nothing is proved.
OPEN = "step-per-micro-batch", ADAM, capture_files.LEVELS[-2:]
RIGHT = [SGD, ADAM, L2, DECOUPLED, SCALED, ADAMW]


class Causes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def judged(self, bug, recipe, levels=capture_files.LEVELS):
        """Exit code and causes by level."""
        loop = numpy_loop.Loop({**STATED, **recipe}, bug)
        loop.run()
        case_hash = capture_files.write_case(self.out, loop, TALLY)
        for level in levels:
            capture_files.write_capture(self.out, loop, level, case_hash)
            run = subprocess.run([TALLY, "check", "--json", self.out / "case.json", self.out / "trace.safetensors"],
                                 capture_output=True, text=True, timeout=120)
            self.assertIn(run.returncode, (0, 1), f"{bug} {recipe} {level}: {run.stderr}")
            self.suspects = json.loads(run.stdout)["suspects"]
            yield level, run.returncode, [each["name"] for each in self.suspects]

    def test_right_loops_pass_whatever_is_recorded(self):
        for recipe in RIGHT:
            for level, code, names in self.judged("", recipe):
                self.assertEqual((code, names), (0, []), f"{recipe} {level}")

    def test_a_wrong_loop_is_named_whatever_is_recorded(self):
        for bug, recipes, name in NAMED:
            for recipe in recipes:
                for level, code, names in self.judged(bug, recipe):
                    self.assertEqual((code, names[:1]), (1, [name]), f"{bug} {recipe} {level}")

    def test_every_cause_is_explained(self):
        for name in {name for _, _, name in NAMED}:
            said = subprocess.run([TALLY, "explain", name], capture_output=True, text=True, timeout=60)
            self.assertIn(f"restatement {name}: ", said.stdout)

    def test_no_name_is_given_where_none_is_right(self):
        for bug, recipes in UNNAMED:
            for recipe in recipes:
                for level, code, names in self.judged(bug, recipe, capture_files.LEVELS[1:]):
                    self.assertEqual((code, names), (1, []), f"{bug} {recipe} {level}")

    def test_another_value_of_an_option_is_found_or_nothing_is(self):
        found = []
        for level, code, names in self.judged("other-momentum", SGD, capture_files.LEVELS[1:]):
            self.assertEqual(code, 1, level)
            self.assertIn(names, ([], ["option-taken-as"]), level)
            found += [each["sentence"] for each in self.suspects]
        self.assertTrue(found)
        for sentence in found:
            self.assertIn("as if momentum of sgd were 0.75", sentence)

    def test_bounds_that_say_nothing_prove_nothing(self):
        bug, recipe, levels = OPEN
        for level, code, names in self.judged(bug, recipe, levels):
            self.assertEqual((code, names), (1, []), f"{bug} {recipe} {level}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
