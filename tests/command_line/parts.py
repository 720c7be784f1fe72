"""What each program of Tally knows, and what it says of what a larger one knows: parts.py FOLDER, with all of them."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(sys.argv.pop())
PROGRAMS = ("tally-check", "tally", "tally-lab")
FAULT = "overwrite-not-add"  # of which the smallest program has no more than the name
OF_VERIFY, OF_THE_LAB = 74, 75


def run(program, *words, **environment):
    kept = {name: value for name, value in os.environ.items() if name != "TALLY_PARTS"}
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=120, env={**kept, **environment})


class Parts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.alone = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def copied(self, *names):
        for name in names:
            shutil.copy(FOLDER / name, self.alone)
        return self.alone / names[0]

    def test_the_smallest_judges_and_answers_by_itself(self):
        program = self.copied("tally-check")
        for words in (["check", "--help"], ["oracle", "--help"], ["hash", "--help"], ["explain", "mean-of-means"], ["doctor"]):
            self.assertEqual(run(program, *words).returncode, 0, words)

    def test_alone_it_says_in_one_line_where_the_rest_is(self):
        program = self.copied("tally-check")
        for words, where in ((["verify"], "tally"), (["sweep", "micro_batches"], "tally-lab"),
                             (["explain", "partition_equals_full_batch"], "tally"),
                             (["explain", FAULT], "tally-lab")):
            said = run(program, *words)
            self.assertEqual((said.returncode, said.stdout), (2, ""), words)
            self.assertRegex(said.stderr, rf"^error: .*expected {where} beside it.*\n$")

    def test_every_program_knows_the_words_of_all(self):
        for program in PROGRAMS:
            for word, meant in (("chekc", "check"), ("verfy", "verify"), ("swep", "sweep"), ("fautls", "faults")):
                said = run(FOLDER / program, word)
                self.assertEqual((said.returncode, said.stdout), (2, ""), (program, word))
                self.assertIn(f"'{word}' is no command; did you mean {meant}?", said.stderr)
            listed = run(FOLDER / program, "--help").stdout
            for word in ("check", "verify", "baseline", "sweep", "bench", "faults"):
                self.assertRegex(listed, rf"\b{word}\b", program)
            self.assertNotIn("tally test", listed)  # of a checkout, which the launcher says

    def test_alone_it_names_what_is_near_and_sends_nobody_elsewhere(self):
        program = self.copied("tally-check")
        for word, near in (("mean-of-mean", "mean-of-means"), ("clip-per-microbatc", "clip-per-microbatch"),
                           ("partition_equals_full_batc", "partition_equals_full_batch")):
            said = run(program, "explain", word, "--results", self.alone / "none.json")
            self.assertEqual((said.returncode, said.stdout), (2, ""), word)
            self.assertRegex(said.stderr, rf"^error: nothing is named '{word}'; .*the nearest names are {near}(, .*)?\n$")
        said = run(program, "test")
        self.assertEqual((said.returncode, said.stderr.count("\n")), (2, 1))
        self.assertIn("in a checkout of Tally, ./tally test", said.stderr)

    def test_the_launcher_finds_in_the_sources_what_can_be_explained(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        found = subprocess.run(["bash", "-c", "home=$PWD; source reports/command_line/words.bash; explained_names"], cwd=root,
                               capture_output=True, text=True, timeout=120).stdout.split()
        for kind in ("laws", "faults"):
            listed = {line.split()[0] for line in run(FOLDER / "tally-lab", "list", kind).stdout.splitlines()}
            self.assertEqual(listed - set(found), set(), kind)
        for name in found:
            self.assertEqual(run(FOLDER / "tally-lab", "explain", name).returncode, 0, name)

    def test_what_may_be_named_says_what_to_change(self):
        program = self.copied("tally-check")
        said = run(program, "explain", "mean-of-means").stdout
        self.assertIn("what to change: divide by the window's N items, not by K times the micro-batch's own n_k: "
                      "`loss.sum() / window_items`\n", said)
        self.assertIn("letters: S the loss scale; N the window's items", said)

    def test_a_program_of_another_build_is_left_alone(self):
        program = self.copied("tally-check")
        other = self.alone / "tally"
        mark = b"tally was built of ["
        bytes_of = (FOLDER / "tally").read_bytes()
        at = bytes_of.index(mark) + len(mark)
        end = bytes_of.index(b"]", at)
        own = bytes_of[at:end].decode()
        stale = bytes_of.replace(mark + bytes_of[at:end], mark + b"x" * (end - at))
        for content, found in ((b"#!/bin/sh\necho foreign\n", "no program of Tally"), (stale, "a program of " + "x" * (end - at))):
            other.write_bytes(content)
            other.chmod(0o755)
            said = run(program, "list", "laws")
            self.assertEqual((said.returncode, said.stdout), (3, ""), found)
            self.assertRegex(said.stderr, rf"^error: {re.escape(str(other))}: found {found}, expected one of {re.escape(own)}, .*\n$")
        other.write_bytes(bytes_of)
        self.assertEqual(run(program, "list", "laws").returncode, 0)
        self.copied("tally-check", "tally")
        (self.alone / "tally-lab").mkdir()
        self.assertIn("tally-lab: found it is a folder", run(program, "sweep").stderr)

    def test_beside_a_larger_one_it_hands_over(self):
        program = self.copied("tally-check", "tally")
        self.assertIn("partition_equals_full_batch", run(program, "list", "laws").stdout)
        self.assertIn("faults that break it", run(program, "explain", "partition_equals_full_batch").stdout)
        self.assertEqual(run(program, "list", "faults").returncode, 2)

        self.copied("tally-lab")

        self.assertIn("mean-of-means", run(program, "list", "faults").stdout)
        fault = run(FOLDER / "tally-lab", "list", "faults").stdout.split()[0]
        self.assertIn("planted in", run(program, "explain", fault).stdout)

    def test_the_launcher_is_told_by_the_exit_code_alone(self):
        for program, words, code in (("tally-check", ["verify"], OF_VERIFY), ("tally-check", ["sweep"], OF_THE_LAB),
                                     ("tally-check", ["explain", "partition_equals_full_batch"], OF_VERIFY),
                                     ("tally-check", ["explain", FAULT], OF_THE_LAB),
                                     ("tally", ["list", "faults"], OF_THE_LAB),
                                     ("tally", ["explain", FAULT], OF_THE_LAB)):
            said = run(FOLDER / program, *words, TALLY_PARTS="1")
            self.assertEqual((said.returncode, said.stdout + said.stderr), (code, ""), words)
        for program in PROGRAMS:  # what nobody knows makes nobody build more
            self.assertEqual(run(FOLDER / program, "explain", "mean-of-mean", TALLY_PARTS="1").returncode, 2, program)


if __name__ == "__main__":
    unittest.main(verbosity=2)
