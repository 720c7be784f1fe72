"""The rows that ctest has: each can be asked for by a label that tests/README.md explains, ends some time, and every test
that is a file, law, fault and style check is one. usage: rows_test.py BUILD"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv.pop()
ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTS = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.cmake")))
TABLE = re.findall(r"^\|((?: `\w+`,?)+) \|", (ROOT / "tests" / "README.md").read_text(encoding="utf-8"), re.MULTILINE)


def rows():
    """{name: (labels, further properties, command)} of every test, those of a configuration too."""
    found = {}
    with tempfile.TemporaryDirectory() as aside:  # in BUILD this would begin the log of the run that goes on there anew
        (pathlib.Path(aside) / "CTestTestfile.cmake").write_text(f"subdirs([[{BUILD}]])\n", encoding="utf-8")
        for configuration in {"Release", *re.findall(r"CONFIGURATIONS (\w+)", LISTS)}:
            told = subprocess.run(["ctest", "--test-dir", aside, "-C", configuration, "--show-only=json-v1"], check=True,
                                  capture_output=True, text=True).stdout
            for test in json.loads(told)["tests"]:
                properties = {field["name"]: field["value"] for field in test.get("properties", [])}
                found[test["name"]] = set(properties.get("LABELS", [])), properties, test.get("command", [])
    return found


class Rows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = rows()

    def test_labels_are_those_that_the_readme_explains(self):
        explained = set(re.findall(r"\w+", " ".join(TABLE)))
        self.assertEqual(set().union(*(labels for labels, _, _ in self.rows.values())), explained)
        self.assertEqual([name for name, (labels, _, _) in self.rows.items() if not labels - {"long"}], [])

    def test_each_ends_some_time(self):
        self.assertEqual([name for name, (_, properties, _) in self.rows.items() if not properties.get("TIMEOUT")], [])

    def test_every_file_that_is_a_test_is_run(self):
        run = {word for _, _, command in self.rows.values() for word in command}
        scripts = [path for path in (ROOT / "tests" / "launcher").glob("*.sh") if path.stem != "bare_root"]
        tests = [path for folder in ("tests", "kernels") for path in (ROOT / folder).rglob("*_test.py")]
        if not any(name.endswith(".failures") for name in self.rows):  # without MPI
            tests.remove(ROOT / "tests" / "mpi" / "failures_test.py")
        self.assertEqual([test for test in [*tests, *scripts] if str(test) not in run], [])
        self.assertTrue(tests and scripts)

    def test_every_law_fault_and_style_check_has_its_row(self):
        for kind, folder in (("Law", "properties/laws"), ("Fault", "properties/faults")):
            texts = [path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.c*")]
            records = sum(text.count(f"const Register{kind} registered") for text in texts)
            names = [name for text in texts for name in re.findall(rf'const Register{kind} registered\{{\{{\s*\.name = "([^"]+)"', text)]
            self.assertEqual(len(names), records, "a record without a name that can be read")
            self.assertEqual([name for name in names if f"{kind.lower()}.{name}" not in self.rows], [])
            self.assertGreater(len(names), 1)
        checks = [path.stem for path in (ROOT / "tests/style/checks").glob("*.py")]
        self.assertEqual([name for name in checks if f"style.{name}" not in self.rows], [])
        self.assertTrue(checks)


if __name__ == "__main__":
    unittest.main()
