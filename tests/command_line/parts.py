"""What each program of Tally knows, and what it says of what a larger one knows: parts.py FOLDER, with all of them."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(sys.argv.pop())
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
        for words, where in ((["verify"], "tally"), (["sweep", "micro_batches"], "tally-lab"), (["explain", "nobody"], "tally")):
            said = run(program, *words)
            self.assertEqual((said.returncode, said.stdout), (2, ""), words)
            self.assertRegex(said.stderr, rf"^error: .*expected {where} beside it.*\n$")

    def test_a_word_of_nobody_is_refused_as_before(self):
        said = run(self.copied("tally-check"), "chekc")
        self.assertEqual(said.returncode, 2)
        self.assertIn("'chekc' is no command; did you mean check?", said.stderr)

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
                                     ("tally-check", ["explain", "nobody"], OF_VERIFY),
                                     ("tally", ["list", "faults"], OF_THE_LAB), ("tally", ["explain", "nobody"], OF_THE_LAB)):
            said = run(FOLDER / program, *words, TALLY_PARTS="1")
            self.assertEqual((said.returncode, said.stdout + said.stderr), (code, ""), words)
        self.assertEqual(run(FOLDER / "tally-lab", "explain", "nobody", TALLY_PARTS="1").returncode, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
