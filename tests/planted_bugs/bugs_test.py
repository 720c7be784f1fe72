"""Every planted bug fits the kernels as they are. Standard library only."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kernel_changes"))

import planted  # noqa: E402

ROOT, BUGS = HERE.parents[1], HERE / "bugs.json"


class Bugs(unittest.TestCase):
    def test_every_bug_has_its_place_once(self):
        planted.hold_to_files(self, ROOT, BUGS)

    def test_there_are_47_of_three_kinds_and_each_says_which_case_shows_it(self):
        bugs = planted.changes(BUGS)
        self.assertEqual(len({bug["name"] for bug in bugs}), 47)
        self.assertEqual({bug["kind"] for bug in bugs}, {"size", "option", "combination"})
        for bug in bugs:
            self.assertRegex(bug["shows"], r"\d", bug["name"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
