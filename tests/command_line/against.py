"""`tally gate --against REVISION`, as a user meets it: a repository whose program of every commit is this one behind a
script, so that building it costs nothing. Standard library only."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TALLY = sys.argv[1]
CAMPAIGN = ["--subject", "host", "--law", "exact_lane", "--precision", "fp32", "--effort", "0.05"]
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(old NONE)
message(STATUS "configured")
add_custom_target(tally COMMAND ${CMAKE_COMMAND} -E echo built >> ${CMAKE_CURRENT_SOURCE_DIR}/../count
  COMMAND ${CMAKE_COMMAND} -E make_directory reports
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/program reports/tally)
"""
# Runs another kernel than the one that ships, where the commit says so.
PROGRAM = '#!/bin/sh\nword=$1\nshift\n[ "$word" != verify ] || set -- "$@" {extra}\nexec {tally} "$word" "$@"\n'
# One that knows neither of the newer options.
OLD = '#!/bin/sh\n[ "$2" != --help ] || exec echo old\nexec {tally} "$@" {extra}\n'


class Against(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.cache, self.source = self.root / "cache", self.root / "repository"
        self.source.mkdir()
        self.git("init", "--quiet")
        self.commit("another kernel", CMAKE, "--kernel linear.bias_gradient=two_stage")
        self.commit("as it is", CMAKE, "")

    def tearDown(self):
        self.folder.cleanup()

    def git(self, *words):
        names = {f"GIT_{who}_{what}": f"{what.lower()}@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return subprocess.run(["git", *words], cwd=self.source, check=True, capture_output=True, text=True,
                              env={**os.environ, **names}).stdout.strip()

    def commit(self, message, cmake, extra, script=PROGRAM):
        program = self.source / "program"
        program.write_text(script.format(extra=extra, tally=TALLY))
        program.chmod(0o755)
        (self.source / ".gitignore").write_text("build/\n")
        (self.source / "CMakeLists.txt").write_text(cmake)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)

    def gate(self, code, revision, *words, **environment):
        result = subprocess.run([TALLY, "gate", "--against", revision, *CAMPAIGN, "--cache", self.cache, *words],
                                cwd=self.source, capture_output=True, text=True, timeout=300,
                                env={**os.environ, **environment})
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def builds(self):
        count = self.cache / "count"
        return count.read_text().count("built") if count.exists() else 0

    def test_a_commit_is_built_once_and_then_kept(self):
        self.assertIn("bits equal in all", self.gate(0, "HEAD"))
        self.assertEqual(self.builds(), 1)
        self.assertNotIn("building", self.gate(0, self.git("rev-parse", "HEAD")))
        self.assertEqual(self.builds(), 1)

    def test_what_changed_between_two_commits_is_told(self):
        told = self.gate(0, "HEAD~1", "--out", self.root / "out")
        self.assertRegex(told, r"(?s)\AKernels that changed\n.*\ntime of the campaign [^\n]*\n"
                               r"1 kernel changed \(linear.bias_gradient/column_lanes\), [^\n]*: bless or reject\n")
        self.assertLess(told[:told.index(": bless or reject")].count("\n"), 20)
        self.assertIn("linear.bias_gradient/column_lanes (was linear.bias_gradient/two_stage)  kernels/linear/bias.cu", told)
        self.assertIn("linear.bias\\_gradient/two\\_stage → linear.bias\\_gradient/column\\_lanes", (self.root / "out" / "summary.md").read_text())
        self.assertIn("bits equal in all", self.gate(0, "HEAD"))
        self.assertEqual(self.builds(), 2)
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 2)

    def test_kernels_are_timed_in_pairs_of_runs(self):
        told = self.gate(0, "HEAD", "--repeat", "2", "--out", self.root / "out")
        for text in (told, (self.root / "out" / "summary.md").read_text()):
            self.assertRegex(text, r"time of \d+ kernel operations: 0 the same, \d+ undecided; medians")
            self.assertIn("2 pairs of runs", text)
        self.commit("older", CMAKE, "", OLD)
        told = self.gate(0, "HEAD")
        self.assertNotIn("kernel operations:", told)
        self.assertIn("the older build does not time its kernels", told)
        self.assertIn("steers its search", told)

    def test_what_is_not_committed_is_no_part_of_a_revision(self):
        (self.source / "CMakeLists.txt").write_text("message(FATAL_ERROR edited)")
        self.assertIn("bits equal in all", self.gate(0, "HEAD"))

    def test_a_hook_that_git_runs_can_call_it(self):
        self.gate(0, "HEAD", GIT_DIR=str(self.source / ".git"), GIT_INDEX_FILE=str(self.source / ".git" / "index"))

    def test_what_is_damaged_is_made_again(self):
        self.gate(0, "HEAD")
        kept, = (self.cache / "programs").glob("*/tally")
        kept.write_text("#!/bin/sh\nexit 9\n")
        self.assertIn("is damaged", self.gate(0, "HEAD"))
        (self.cache / "source" / "CMakeLists.txt").write_text("message(FATAL_ERROR edited)")
        (self.cache / "source" / "build" / "against" / "CMakeCache.txt").write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/\n")
        self.assertIn("starting afresh", self.gate(0, "HEAD~1"))
        self.git("worktree", "remove", "--force", str(self.cache / "source"))
        self.commit("a third", CMAKE, "")
        self.gate(0, "HEAD")

    def test_a_commit_that_does_not_build_is_named_with_what_was_printed(self):
        self.commit("broken", 'cmake_minimum_required(VERSION 3.25)\nproject(old NONE)\nmessage(FATAL_ERROR "no kernel")\n', "")
        told = self.gate(3, "HEAD")
        for words in (self.git("rev-parse", "HEAD"), "does not build", "no kernel", "build.log"):
            self.assertIn(words, told)
        self.commit("no build system", "", "")
        (self.source / "CMakeLists.txt").unlink()
        self.git("commit", "--all", "--quiet", "--message", "none")
        self.assertIn("does not build", self.gate(3, "HEAD"))

    def test_what_is_no_revision_is_refused(self):
        self.assertIn("'no-such-branch' is neither a build folder nor a revision", self.gate(2, "no-such-branch"))
        self.assertIn("neither a build folder", self.gate(2, "--output=x"))
        self.assertFalse(self.cache.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
