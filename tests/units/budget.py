"""How much there is to compile, held within a budget: budget.py BUILD

Units of each program, as ninja would compile them for the host; and what reaches most of them: a header of Tally that
more than WIDE sources include, however far, must not bring a header of the standard library that takes long to read.
What is over the budget is named with the folder or the file that broke it. Counted, not timed."""
import collections
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = sys.argv.pop()
ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS = {"tally-check": 110, "tally": 300, "tally-lab": 400}
WIDE = 300
HEAVY = {"filesystem", "iostream", "fstream", "regex", "thread", "future", "chrono", "random", "iomanip", "locale"}
INCLUDE = re.compile(r'^#include (?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
FOLDERS = ("oracle", "kernels", "properties", "reports")


def units_of(program):
    told = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", f"reports/{program}"], check=True,
                          capture_output=True, text=True).stdout.splitlines()
    on_host = [line for line in told if " -c " in line and "-DTALLY_CHECKED" not in line and "nvcc" not in line.split()[0]]
    return [line.rsplit(" -c ", 1)[1] for line in on_host]


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

    def test_what_most_sources_include_is_light(self):
        self.assertEqual(too_wide(includes()), [])

    def test_a_heavy_header_is_named(self):
        files = {"a.hpp": (set(), {"filesystem", "string"}), "b.hpp": ({"a.hpp"}, {"regex"}), "c.cpp": ({"b.hpp"}, set()),
                 "d.cpp": ({"a.hpp"}, set())}
        self.assertEqual(too_wide(files, 1), [("a.hpp", "filesystem", 2)])
        self.assertEqual(too_wide(files, 0), [("a.hpp", "filesystem", 2), ("b.hpp", "regex", 1)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
