"""A training step of a user's own against an installed Tally, as a user builds and judges it. Standard library only.

usage: step.py BUILD"""
import sys
import unittest

from project import HERE, Folder, run

EXAMPLE = HERE.parent / "examples" / "step"


class Step(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder(sys.argv[1])
        cls.addClassCleanup(cls.folder.close)
        cls.folder.install()
        cls.project = cls.folder.project("step", {file.name: file.read_text() for file in EXAMPLE.iterdir()})
        cls.project.compiled()

    def test_the_right_step_passes(self):
        self.assertRegex(self.project.ctest("^my_step$"), r"my_step \.+ +Passed")

    def test_the_wrong_step_fails_with_its_mistake_named(self):
        told = self.project.ctest("^wrong_step$", code=8)
        self.assertIn("looks like mean-of-means", told)
        self.assertIn("wrong_step.so", told)

    def test_the_numpy_step_is_installed_beside_it(self):
        self.assertTrue((self.folder.prefix / "share/tally/numpy_step.py").is_file())
        said = run(self.folder.prefix / "bin/tally", "verify", "--help")
        self.assertIn("step:LIBRARY", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
