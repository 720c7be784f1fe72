"""How sources share a translation unit."""
import tempfile
import unittest

import units

FIRST = "namespace {\n\nint half(int n) { return n / 2; }\n\n}  // namespace\n"
SECOND = "namespace {\n\nint half(int n) { return n >> 1; }\nint third = half(3);\n\n}  // namespace\n"
MEMBER = "namespace {\n\nint half(int n) { return n; }\nint f(Pair p) { return p.half; }\n\n}  // namespace\n"
PROGRAM = "int main() { return 0; }\n"


class Units(unittest.TestCase):
    def units(self, **texts):
        return units.units([f"oracle/{name}" for name in texts], lambda path: texts[path.split("/")[1]])

    def test_a_name_defined_twice_is_numbered_in_each(self):
        self.assertEqual(self.units(a=FIRST, b=SECOND), [["oracle/a", "oracle/b"]])
        self.assertIn("third_in_7 = half_in_7(3)", units.renamed(SECOND, 7, {"half", "third"}))
        self.assertIn("third = half_in_7(3)", units.renamed(SECOND, 7, {"half"}))
        self.assertEqual(units.NUMBERED.sub("", units.renamed(SECOND, 7, {"half"})), SECOND)

    def test_a_member_of_that_name_keeps_sources_apart(self):
        self.assertEqual(self.units(a=FIRST, b=MEMBER), [["oracle/a"], ["oracle/b"]])

    def test_two_programs_are_kept_apart(self):
        self.assertEqual(len(self.units(a=PROGRAM, b=PROGRAM)), 2)

    def test_folders_are_kept_apart(self):
        self.assertEqual(units.units(["kernels/a", "oracle/a"], lambda _: ""), [["kernels/a"], ["oracle/a"]])
        self.assertEqual(units.header_units(["kernels/a.hpp", "oracle/a.hpp", "reports/a.hpp", "tests/a.hpp"]),
                         [["reports/a.hpp"], ["tests/a.hpp"], ["kernels/a.hpp", "oracle/a.hpp"]])

    def test_every_source_is_in_exactly_one_unit(self):
        sources = [f"tests/{number}" for number in range(100)]
        parts = units.units(sources, lambda _: FIRST)
        self.assertEqual(sorted(source for part in parts for source in part), sorted(sources))
        self.assertLessEqual(max(map(len, parts)), units.LARGEST)

    def test_a_unit_includes_its_copies_and_a_single_source_itself(self):
        def included(sources):
            with tempfile.TemporaryDirectory() as folder:
                with open(units.write(sources, folder, lambda _: FIRST), encoding="utf-8") as file:
                    return [line.split('"')[1].removeprefix(folder) for line in file]
        self.assertEqual(included(["oracle/a", "oracle/b"]), ["/oracle/a", "/oracle/b"])
        self.assertEqual(included(["oracle/a"]), ["oracle/a"])


if __name__ == "__main__":
    unittest.main()
