"""How a check is run: its exit code, the files that it sees, and that its samples have to be found."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

import check
from checks import layout, names


class Checks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a tree ")
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def write(self, *paths, text=""):
        for path in paths:
            os.makedirs(os.path.dirname(f"{self.root}/{path}"), exist_ok=True)
            with open(f"{self.root}/{path}", "w", encoding="utf-8") as file:
                file.write(text)

    def run_check(self, *words, **check_of):
        """(exit code, what is printed) of a check that finds a problem in every file, or is this one."""
        module = types.SimpleNamespace(**{"problems": lambda tree: [(path, "bad") for path in tree.files], **check_of})
        printed = io.StringIO()
        with mock.patch.dict(sys.modules, {"checks.stub": module}), contextlib.redirect_stdout(printed), \
                mock.patch.object(sys, "argv", ["check.py", "stub", *words]), mock.patch.object(check, "HERE", self.root):
            return check.main(), printed.getvalue().splitlines()

    def test_a_problem_or_no_file_fails(self):
        self.assertEqual(self.run_check("--root", self.root), (1, ["0 problems in 0 files"]))
        self.write("oracle/a.cpp")
        self.assertEqual(self.run_check("--root", self.root), (1, ["oracle/a.cpp: bad", "1 problems in 1 files"]))
        self.assertEqual(self.run_check("--root", self.root, problems=lambda _: []), (0, ["0 problems in 1 files"]))

    def test_the_repositorys_files_are_those_that_git_would_add(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write("oracle/kept.cpp", "oracle/gone.cpp", "tests/style/samples/names/utils.cpp")
        subprocess.run(["git", "-C", self.root, "add", "."], check=True)
        self.write("oracle/not yet.cpp", "build/made.cpp")
        self.write(".gitignore", text="build/\n")
        os.remove(f"{self.root}/oracle/gone.cpp")
        self.assertEqual(self.run_check("--root", self.root)[1],
                         [".gitignore: bad", "oracle/kept.cpp: bad", "oracle/not yet.cpp: bad", "3 problems in 3 files"])

    def test_every_sample_is_found_and_nothing_else(self):
        self.write("samples/stub/oracle/bad.cpp", "samples/stub/oracle/good.cpp")
        for expected, ended in (("oracle/bad.cpp", (1, "false alarm: oracle/good.cpp")),
                                ("oracle/bad.cpp oracle/good.cpp", (0, "2 of 2 bad samples found")),
                                ("oracle/bad.cpp oracle/good.cpp oracle/worse.cpp", (1, "missed: oracle/worse.cpp"))):
            self.write("samples/stub/expected.txt", text=expected)
            code, printed = self.run_check("--samples")
            self.assertEqual((code, printed[0]), ended)
        self.write("samples/stub/expected.txt")
        self.assertEqual(self.run_check("--samples", problems=lambda _: [])[0], 1)

    def test_a_check_that_cannot_run_says_so(self):
        self.assertEqual(self.run_check(cannot_run=lambda: "no tool"), (77, ["skipped: no tool"]))

    def test_a_source_of_every_other_ending_is_left_out(self):
        for ending in (".c", ".cc", ".cxx", ".c++", ".C", ".CPP", ".ipp", ".hh", ".hxx", ".h++", ".inl"):
            self.assertIn(f"built from {ending};", layout.left_out(f"oracle/lost{ending}", {"oracle"}) or "", ending)

    def test_a_name_that_says_nothing_is_found_wherever_it_stands(self):
        for path in ("oracle/util.hpp", "oracle/utils/real.hpp", "tests/Helper.py", "tests/io_helpers.py", "common/a.cpp",
                     "kernels/misc.cu"):
            self.assertEqual(len(list(names.problems(types.SimpleNamespace(files=[path])))), 1, path)
        self.assertEqual(list(names.problems(types.SimpleNamespace(files=["oracle/uncommon.hpp", "utility/a.hpp"]))), [])


if __name__ == "__main__":
    unittest.main()
