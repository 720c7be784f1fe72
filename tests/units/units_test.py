"""How sources share translation units (kernels/units.cmake), and that one which has not changed is left as it is."""
import pathlib
import re
import subprocess
import tempfile
import unittest

UNITS = pathlib.Path(__file__).resolve().parents[2] / "kernels" / "units.cmake"
SCRIPT = """cmake_minimum_required(VERSION 3.25)
set(PROJECT_SOURCE_DIR "{root}")
set(CMAKE_CURRENT_BINARY_DIR "{root}/build")
set(TALLY_UNITS {on})
include("{units}")
tally_units(first {bytes} {sources})
tally_units(second {bytes} "{root}/other/z.cpp")
message("${{first}}")
"""


class Units(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a project ")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def made(self, sizes, limit=100, on="ON"):
        """{unit: its sources} of sources with these sizes, below `build` where they are made."""
        for path, size in {**sizes, "other/z.cpp": 1}.items():
            (self.root / path).parent.mkdir(exist_ok=True)
            (self.root / path).write_text("/" * size)
        script = self.root / "script.cmake"
        script.write_text(SCRIPT.format(root=self.root, units=UNITS, on=on, bytes=limit,
                                        sources=" ".join(f'"{self.root}/{path}"' for path in sizes)))
        ran = subprocess.run(["cmake", "-P", script], capture_output=True, text=True, check=True)
        units = [pathlib.Path(unit) for unit in ran.stderr.strip().split(";") if unit]
        self.assertEqual(len(units), len(set(units)))
        return {str(unit.relative_to(self.root)).removeprefix("build/units/first/"):
                re.findall('^#include "(.*)"$', unit.read_text(), re.MULTILINE) for unit in units}

    def times(self, sizes):
        self.made(sizes)
        units = self.root / "build/units"
        return {str(unit.relative_to(units)): unit.stat().st_mtime_ns for unit in units.rglob("*.cpp")}

    def test_sources_of_a_folder_share_units_by_name_up_to_a_size(self):
        self.assertEqual(self.made({"a/c.cpp": 50, "a/b.cpp": 50, "a/d.cpp": 1, "a/e.cpp": 200, "a/f.cpp": 1, "b/a.cpp": 1}),
                         {"a/1.cpp": ["a/b.cpp", "a/c.cpp"], "a/2.cpp": ["a/d.cpp"], "a/3.cpp": ["a/e.cpp"],
                          "a/4.cpp": ["a/f.cpp"], "b/1.cpp": ["b/a.cpp"]})

    def test_formulas_and_bounds_are_kept_apart(self):
        self.assertEqual(self.made({f"a/{name}.cpp": 1 for name in ("b_bound", "b_exact", "b_predicted", "c_bound", "other")}),
                         {"a/bound/1.cpp": ["a/b_bound.cpp", "a/c_bound.cpp"], "a/exact/1.cpp": ["a/b_exact.cpp"],
                          "a/predicted/1.cpp": ["a/b_predicted.cpp"], "a/1.cpp": ["a/other.cpp"]})

    def test_a_unit_of_kernels_is_one(self):
        self.assertEqual(self.made({"a/b.cu": 1, "a/c.cu": 1}), {"a/1.cu": ["a/b.cu", "a/c.cu"]})

    def test_what_has_not_changed_is_left_and_what_is_none_any_more_is_removed(self):
        sizes = {"a/b.cpp": 60, "a/c.cpp": 60, "b/d.cpp": 1}

        first, again, less, none = [self.times(made) for made in (sizes, sizes, {"a/b.cpp": 60}, {})]

        self.assertEqual((len(first), again), (4, first))
        self.assertEqual(less, {unit: time for unit, time in first.items() if unit in ("first/a/1.cpp", "second/other/1.cpp")})
        self.assertEqual(list(none), ["second/other/1.cpp"])

    def test_without_units_each_source_is_itself(self):
        self.assertEqual(self.made({"a/b.cpp": 1, "a/c.cpp": 1}, on="OFF"), {"a/b.cpp": [], "a/c.cpp": []})


if __name__ == "__main__":
    unittest.main()
