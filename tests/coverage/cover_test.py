"""The tool on a program of two files whose branches and loops are known."""
import contextlib
import io
import json
import pathlib
import re
import tempfile
import unittest

import cover
import loops
import measured
import reasons
import report
from counted import Counted

STEP = """\
#include "kernels/step.hpp"

constexpr int block = 4;

int step(int n, bool flag) {
  int sum = 0;
  for (int i = 0; i < n && i < block; ++i)
    if (i > 2)
      sum += 1;
  for (int i = 0; i < n; ++i) sum += twice<block>(i);
  do
    sum -= 1;
  while (sum > 100);
  if (n > 1)
    for (int i = 0; i < 2; ++i)
      if (i == 0) continue;
      else sum += 1;
  else
    sum -= 1;
  if (flag) return 0;
  return n > 1 ? sum : -sum;
}
"""
HEADER = """\
#pragma once

template <int size>
int twice(int i) {
  if (size < 3) return i;
  return i == 1 ? 5 : 2 * i;
}

int step(int n, bool flag);
"""
MAIN = """\
#include <unistd.h>
#include <sys/wait.h>
#include "kernels/step.hpp"
int main() {
  step(0, false);
  if (fork() == 0) { step(3, false); _exit(0); }
  wait(nullptr);
  return 0;
}
"""


class Sample:
    """What mutation's Program knows of a build."""

    def __init__(self, folder):
        self.root, self.build = f"{folder}/tree", f"{folder}/build"
        for path, text in (("kernels/step.cpp", STEP), ("kernels/step.hpp", HEADER), ("main.cpp", MAIN)):
            place = pathlib.Path(self.root, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        pathlib.Path(self.build).mkdir()
        self.sources = {"kernels/step.o": "kernels/step.cpp"}
        self.commands = {"kernels/step.o": ["c++", "-std=c++20", f"-I{self.root}", "-o", "kernels/step.o", "-c",
                                            f"{self.root}/kernels/step.cpp"]}
        self.link_line = ["c++", f"-I{self.root}", f"{self.root}/main.cpp", "kernels/step.o", "-o", "tally"]

    def included_by(self, path):
        return {path, "kernels/step.hpp"}


@unittest.skipIf(measured.missing(), f"not found: {measured.missing()}")
class Gaps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            built = Sample(folder)
            sources = measured.counted_sources(built.root, "kernels")
            cover.measure(built, sources, "", 1, f"{folder}/out")
            cls.counted, cls.gaps = cover.counted_and_gaps(built, sources, f"{folder}/out")

    def told(self, judging):
        judged, stale = reasons.judged(self.gaps, judging)
        with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(io.StringIO()) as said:
            campaign = pathlib.Path(out, "results.json")
            campaign.write_text(json.dumps({"seed": 7, "effort": 1, "partial": False, "environment": {}}), encoding="utf-8")
            status = report.finish(self.counted, judged, stale, "run", out, campaign)
            self.study = json.loads(pathlib.Path(out, "coverage.json").read_text(encoding="utf-8"))
            return status, said.getvalue(), pathlib.Path(out, "coverage.md").read_text(encoding="utf-8")

    def test_each_gap_has_its_place_and_what_is_missing(self):
        found = {(gap.file, gap.line, gap.function, gap.text, gap.what) for gap in self.gaps}

        self.assertEqual(found, {
            ("kernels/step.cpp", 7, "step", "i < block", "never false"),
            ("kernels/step.cpp", 8, "step", "i > 2", "never true"),
            ("kernels/step.cpp", 13, "step", "sum > 100", "never true"),
            ("kernels/step.cpp", 20, "step", "flag", "never true"),
            ("kernels/step.cpp", 7, "step", "for (int i = 0; i < n && i < block; ++i)", "never 1 turn"),
            ("kernels/step.cpp", 7, "step", "for (int i = 0; i < n && i < block; ++i)", "never 2 turns"),
            ("kernels/step.cpp", 7, "step", "for (int i = 0; i < n && i < block; ++i)", "never 4 turns or more"),
            ("kernels/step.cpp", 10, "step", "for (int i = 0; i < n; ++i)", "never 1 turn"),
            ("kernels/step.cpp", 10, "step", "for (int i = 0; i < n; ++i)", "never 2 turns"),
            ("kernels/step.cpp", 11, "step", "do … while (sum > 100)", "never 2 turns")})

    def test_a_gap_without_a_reason_fails_and_is_named(self):
        status, said, page = self.told([])

        self.assertEqual(status, 1)
        self.assertIn("gap without a reason: kernels/step.cpp:20 step: `` flag `` never true", said)
        self.assertIn("nobody has looked at these yet", page)
        self.assertEqual(self.study["status"], "fail")
        self.assertEqual({len(column["words"] + column["numbers"]) for column in self.study["tables"][0]["columns"]}, {2})

    def test_reasons_close_gaps(self):
        status, said, page = self.told([("defensive", "the flag of a broken machine", ("kernels/step.cpp", "step", "*"))])

        self.assertEqual(status, 0)
        self.assertIn("0 gaps without a reason, 0 stale", said)
        self.assertIn("**defensive**: the flag of a broken machine", page)

    def test_a_reason_for_one_way_does_not_cover_the_other(self):
        reason = ("defensive", "r", ("kernels/step.cpp", "step", "flag", "never false"))
        status, said, _ = self.told([("defensive", "r", ("*", "step", "*")), reason])

        self.assertEqual(status, 1)
        self.assertIn("stale reason (it covers no gap): kernels/step.cpp · step · flag · never false", said)


class Demands(unittest.TestCase):
    def of(self, lines, constants=None):
        counted = Counted("a.cpp", lines, 0)
        return loops.demands(counted, counted.loops[0], constants or {})

    def test_a_loop_over_what_a_run_brings_takes_no_turn_one_and_two(self):
        for head in ("for (int i = 0; i < n; ++i)", "for (const auto& each : all)", "while (i < n)"):
            self.assertEqual(self.of(f"void f(int n) {{\n  {head} g();\n}}\n"), ({0, 1, 2}, 2))
        self.assertEqual(self.of("void f() {\n  do g(); while (more());\n}\n"), ({1, 2}, 2))
        self.assertEqual(self.of("void f() {\n  for (;;) g();\n}\n"), ({1, 2}, 2))

    def test_constants_alone_fix_its_turns(self):
        for head in ("for (int i = 0; i < 4; ++i)", "for (int i = block / 2; i > 0; i /= 2)", "for (int i : {1, 2})"):
            self.assertEqual(self.of(f"void f() {{\n  {head} g();\n}}\n", {"block": 8}), (set(), 1))

    def test_a_constant_that_bounds_it_is_passed_or_met(self):
        line = "  for (int i = 0; i < n + block; i += width) g();\n}\n"
        through = "  const int end = std::min(n, block);\n  for (int i = 0; i < end; ++i) g();\n}\n"

        self.assertEqual(self.of("void f(int n) {\n" + line, {"block": 8, "width": 99}), ({0, 1, 2}, 9))
        self.assertEqual(self.of("void f(int n) {\n" + through, {"block": 8}), ({0, 1, 2}, 8))

    def test_a_parameter_of_a_template_may_be_any_constant_of_the_file(self):
        text = "constexpr int pair = 2, block = 8 * pair;\ntemplate <int keys>\nvoid f(int n) {\n" \
               "  for (int i = n; i < n + keys; ++i) g();\n}\n"

        self.assertEqual(self.of(text, loops.constants_of(text)), ({0, 1, 2}, 17))

    def test_constants_are_read_from_one_another_and_bits_are_none(self):
        text = "inline constexpr std::size_t page = 4'096, stack = std::size_t{1} << 20, two = 2u * page;\n" \
               "constexpr unsigned infinity = 0x7f800000u;\nstatic constexpr int least = limits::min();\n"

        self.assertEqual(loops.constants_of(text),
                         {"page": 4096, "stack": 1 << 20, "two": 8192, "infinity": None, "least": None})
        self.assertEqual(loops.constants_of(text, shared=True), {"page": 4096, "stack": 1 << 20, "two": 8192})


class Reasons(unittest.TestCase):
    def read(self, entries):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "reasons.json")
            path.write_text(json.dumps(entries), encoding="utf-8")
            return reasons.read(path)

    def test_a_reason_says_why_and_of_which_gaps(self):
        for broken in ({"kind": "defensive", "reason": " ", "gaps": [["a", "f", "x"]]},
                       {"kind": "defensive", "reason": "r", "gaps": []},
                       {"kind": "tired", "reason": "r", "gaps": [["a", "f", "x"]]}):
            with self.assertRaises(ValueError):
                self.read([broken])

    def test_a_gap_is_judged_once(self):
        with self.assertRaises(ValueError):
            self.read([{"kind": "defensive", "reason": "r", "gaps": [["a", "f", "x"], ["a", "f", "x"]]}])

    def test_the_kept_reasons_name_tests_that_there_are(self):
        tests = cover.HERE.parent
        for _, reason, _ in reasons.read(cover.HERE / "reasons.json"):
            folders, files = re.findall(r"\btests(?:/\w+)+", reason), re.findall(r"\b\w+_test\.(?:cpp|py)", reason)
            for name in folders:
                self.assertTrue(list(tests.parent.glob(f"{name}*")), name)
            for name in files:
                self.assertTrue(list(tests.rglob(name)), name)


if __name__ == "__main__":
    unittest.main()
