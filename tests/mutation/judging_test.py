"""Which tests a change of judging code meets, in which order, and what is said of the one that fails."""
import os
import stat
import tempfile
import unittest

import judging
from trial import Trial

PROGRAM = """#!/usr/bin/env python3
import os, sys
asked = next((word.split("=", 1)[1] for word in sys.argv if word.startswith("--gtest_filter=")), "")
with open("asked", "a") as file:
    file.write(os.path.basename(sys.argv[0]) + " " + (asked or " ".join(sys.argv[1:2])) + "\\n")
failed = False
for test in asked.split(":"):
    print("[ RUN      ] " + test)
    if failed:
        print("[  SKIPPED ] " + test + " (0 ms)")
    if test == "%(fails)s":
        %(ends)s
        print("[  FAILED  ] " + test + ", where GetParam() = 4 (0 ms)")
        failed = True
if failed:
    sys.exit(1)
if sys.argv[1] == "faults":
    print('{\\n"faults": [{"name": "mean-of-means", "caught": true, "right_stage": true, "right_suspect": %(named)s}]\\n}')
"""
SECONDS = {"oracle": {"Gelu.Bends": 1, "Nets/Gelu.Holds/0": 1, "Token.Reads": 1}, "properties": {"Judge.Finds": 1},
           "kernels": {"Run.Ends": 1}, "reports": {}}


class Killers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(f"{self.folder}/tests/oracle/layers")
        for path, text in (("layers/gelu_test.cpp", "TEST(Gelu, Bends) {\n"), ("token_test.cpp", "TEST(Token, Reads) {\n")):
            with open(f"{self.folder}/tests/oracle/{path}", "w", encoding="utf-8") as file:
                file.write(text)
        self.judges = judging.Judges(self.folder, 1)
        self.judges.seconds = SECONDS
        self.judges.campaign.seconds = {("*", 0): 1}
        self.judges.found = {"mean-of-means": (True, True, True)}

    def killed(self, fails, ends="", named="true", unchanged=()):
        """What killed a change of a layer, and what each program was asked to run."""
        def link(target="tally"):
            if target in unchanged:
                return None
            path = f"{self.folder}/{os.path.basename(target)}"
            with open(path, "w", encoding="utf-8") as file:
                file.write(PROGRAM % {"fails": fails, "ends": ends, "named": named})
            os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
            return path

        found = self.judges.run(link, "oracle/layers/gelu.cpp", self.folder)
        with open(f"{self.folder}/asked", encoding="utf-8") as file:
            return found, file.read().splitlines()

    def test_fitting_tests_go_first_then_the_others_then_laws_and_faults(self):
        found, asked = self.killed("nothing")

        self.assertIsNone(found)
        self.assertEqual(asked, ["oracle_tests Gelu.Bends:Nets/Gelu.Holds/0", "oracle_tests Token.Reads",
                                 "properties_tests Judge.Finds", "kernels_tests Run.Ends", "tally verify", "tally faults"])

    def test_programs_that_hold_no_change_are_not_asked(self):
        _, asked = self.killed("nothing", unchanged=["tests/oracle_tests", "tests/kernels_tests"])

        self.assertEqual(asked, ["properties_tests Judge.Finds", "tally verify", "tally faults"])

    def test_the_failing_test_is_named_and_ends_it(self):
        found, asked = self.killed("Token.Reads")

        self.assertEqual((found["by"], found["law"], found["stage"]), ("unit test", "Token.Reads", "oracle_tests"))
        self.assertEqual(len(asked), 2)

    def test_tests_that_are_skipped_behind_it_are_not_named(self):
        found, _ = self.killed("Gelu.Bends")

        self.assertEqual((found["by"], found["law"]), ("unit test", "Gelu.Bends"))

    def test_a_crash_kills_at_the_test_that_ran(self):
        found, _ = self.killed("Nets/Gelu.Holds/0", "sys.stdout.flush(); os.abort()")

        self.assertEqual((found["by"], found["law"], found["class"]), ("crash", "Nets/Gelu.Holds/0", "SIGABRT"))

    def test_a_fault_that_is_given_another_name_kills(self):
        found, _ = self.killed("nothing", named="false")

        self.assertEqual((found["by"], found["law"], found["class"]), ("fault", "mean-of-means", "(True, True, False)"))


class Reach(unittest.TestCase):
    def test_sources_and_headers_of_few_objects_are_changed(self):
        class Built:
            @staticmethod
            def precompiled():
                return {"oracle/tolerance/rule.hpp"}

            @staticmethod
            def objects_with(path):
                return ["object"] * (judging.MOST_OBJECTS + ("exact" in path))

        tried = [path for path in ("oracle/layers/gelu.cpp", "oracle/layers/heads.hpp", "oracle/exact/exact.hpp",
                                   "oracle/tolerance/rule.hpp") if judging.reaches(Built, path)]

        self.assertEqual(tried, ["oracle/layers/gelu.cpp", "oracle/layers/heads.hpp"])


class Sample(unittest.TestCase):
    def test_what_changes_nothing_does_not_count(self):
        outcomes = {"a": "invalid", "b": "killed", "c": "same_code", "d": "survived", "e": "killed"}
        trial, told = Trial(None, None, None), []
        trial.try_one = lambda mutant: (outcomes[mutant], {})

        trial.try_all(list(outcomes), 1, float("inf"), 2, lambda mutant, outcome, *_: told.append(outcome))

        self.assertEqual(sorted(told), ["invalid", "killed", "not_run", "same_code", "survived"])


if __name__ == "__main__":
    unittest.main()
