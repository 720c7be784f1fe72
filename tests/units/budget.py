"""How much there is to compile, held within a budget, and what each program is made of: budget.py BUILD

Units of each program, as ninja would compile them for the host; and what reaches most of them: a header of Tally that
more than WIDE sources include, however far, must not bring a header of the standard library that takes long to read.
What is over the budget is named with the folder or the file that broke it. Counted, not timed.
A program holds each source of its parts once, and none of a larger one's."""
import collections
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

BUILD = sys.argv.pop()
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "style"))
from checks.includes import part_of  # noqa: E402

UNITS = {"tally-check": 95, "tally": 220, "tally-lab": 270}
WIDE = 300
HEAVY = {"filesystem", "iostream", "fstream", "regex", "thread", "future", "chrono", "random", "iomanip", "locale"}
INCLUDE = re.compile(r'^#include (?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
FOLDERS = ("oracle", "kernels", "properties", "reports")
WHERE_IT_IS = ("kernels/device/cuda/", "kernels/ranks/mpi/", "kernels/ranks/nccl/")  # what they are built on


def units_of(program):
    told = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", f"reports/{program}"], check=True,
                          capture_output=True, text=True).stdout.splitlines()
    return [shlex.split(line.rsplit(" -c ", 1)[1])[0] for line in told
            if " -c " in line and "-DTALLY_CHECKED" not in line and not compiles_for_a_device(line)]


def compiles_for_a_device(line):
    """Whatever a compiler cache puts in front of it."""
    return any(word.rpartition("/")[2] == "nvcc" for word in line.split(" -c ")[0].split())


def sources_of(program):
    """Paths of its sources, from the project's root; what CMake makes itself aside."""
    for unit in map(pathlib.Path, units_of(program)):
        if not unit.is_relative_to(BUILD):
            yield str(unit.relative_to(ROOT))
        elif "units" in unit.relative_to(BUILD).parts:
            yield from re.findall('^#include "(.*)"$', unit.read_text(encoding="utf-8"), re.MULTILINE)


def includes():
    """Of each file of the four folders, what it names: Tally's headers, and others."""
    found = {}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".cpp", ".cu", ".hpp"):
                named = INCLUDE.findall(path.read_text(encoding="utf-8"))
                found[str(path.relative_to(ROOT))] = ({own for own, _ in named if own}, {other for _, other in named if other})
    return found


def reached(files, start):
    """Files of Tally that `start` includes, and theirs."""
    seen, left = set(), [start]
    while left:
        name = left.pop()
        if name in seen or name not in files:
            continue
        seen.add(name)
        left.extend(files[name][0])
    return seen


def too_wide(files, wide=WIDE):
    """(header, heavy header, sources that read it) of each that more than `wide` sources include."""
    readers = collections.Counter(header for source in files if not source.endswith(".hpp")
                                  for header in reached(files, source) - {source})
    return [(header, heavy, count) for header, count in sorted(readers.items()) if count > wide
            for heavy in sorted(files[header][1] & HEAVY)]


class Budget(unittest.TestCase):
    def test_each_program_is_made_of_few_units(self):
        for program, budget in UNITS.items():
            units = units_of(program)
            folders = collections.Counter(str(pathlib.Path(unit).parent) for unit in units).most_common(3)
            print(f"{program}: {len(units)} units of {budget}")
            self.assertTrue(units)
            self.assertLessEqual(len(units), budget, f"{program}: most units are of {folders}")

    def test_each_program_holds_the_sources_of_its_parts_once(self):
        there = [name for name in includes() if not name.endswith(".hpp") and not name.startswith(WHERE_IT_IS)]
        for part, program in enumerate(UNITS):
            held = [name for name in sources_of(program) if not name.startswith(WHERE_IT_IS)]
            self.assertEqual(sorted(held), sorted(name for name in there if part_of(name) <= part), program)

    def test_what_most_sources_include_is_light(self):
        self.assertEqual(too_wide(includes()), [])

    def test_a_device_compiler_is_known_behind_a_cache(self):
        for launcher in ("", "/usr/bin/ccache ", "env A=b ccache "):
            self.assertTrue(compiles_for_a_device(launcher + "/usr/local/cuda/bin/nvcc -I /nvcc/include -c a.cu"))
            self.assertFalse(compiles_for_a_device(launcher + "/usr/bin/c++ -I /nvcc/include -c a.cu -o nvcc"))

    def test_a_heavy_header_is_named(self):
        files = {"a.hpp": (set(), {"filesystem", "string"}), "b.hpp": ({"a.hpp"}, {"regex"}), "c.cpp": ({"b.hpp"}, set()),
                 "d.cpp": ({"a.hpp"}, set())}
        self.assertEqual(too_wide(files, 1), [("a.hpp", "filesystem", 2)])
        self.assertEqual(too_wide(files, 0), [("a.hpp", "filesystem", 2), ("b.hpp", "regex", 1)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
