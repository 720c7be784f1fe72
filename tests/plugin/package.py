"""The Debian package: what is in it, what it asks for, and that a project builds against it where it is unpacked.
Standard library only. usage: package.py BUILD; exits 77 without dpkg."""
import pathlib
import sys
import unittest

from project import Folder, has, run

if not (has("cpack") and has("dpkg-deb")):
    print("skipped: no cpack or no dpkg-deb here")
    sys.exit(77)

HELD = ["bin/tally", "lib/tally/tally.o", "lib/cmake/tally/tallyConfig.cmake", "lib/cmake/tally/tallyConfigVersion.cmake",
        "lib/cmake/tally/kernels/plugin/add_equivalence_test.cmake", "include/tally/kernels/device/kernel_registry.hpp",
        "include/tally/kernels/plugin/compiled_against.hpp", "include/tally/oracle/layers/claim.hpp",
        "include/tally/subject.h", "lib/cmake/tally/kernels/device/checker/unobserved.txt", "share/tally/digits.csv",
        "share/tally/numpy_step.py", "share/tally/recorder/pyproject.toml", "share/tally/recorder/wheel/backend.py",
        "share/tally/recorder/tally_recorder/__init__.py", "share/tally/recorder/tally_program/__init__.py",
        "share/doc/tally/copyright"]
NEEDED = ["libflint-arb", "libmpfr", "libgmp", "zlib1g", "libc6 (>= "]


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder(sys.argv[1])
        cls.addClassCleanup(cls.folder.close)
        out = cls.folder.root / "packages"
        run("cpack", "-G", "DEB", "-B", out, "--config", cls.folder.build / "CPackConfig.cmake", cwd=cls.folder.build)
        cls.package, = out.glob("*.deb")

    def test_it_holds_the_program_and_what_kernels_of_a_users_own_need(self):
        held = {line.split()[-1].removeprefix("./usr/") for line in run("dpkg-deb", "-c", self.package).splitlines()}
        self.assertEqual([file for file in HELD if file not in held], [])
        foreign = [file for file in held if "/tests/" in file or file.endswith((".cpp", ".cu", ".pyc"))]
        self.assertEqual(foreign, [])

    def test_it_names_the_packages_that_its_program_runs_with(self):
        needed = run("dpkg-deb", "-f", self.package, "Depends")
        self.assertEqual([package for package in NEEDED if package not in needed], [], needed)
        self.assertNotIn("-dev", needed)
        self.assertEqual(run("dpkg-deb", "-f", self.package, "Package").strip(), "tally")

    def test_a_project_builds_against_it_where_it_is_unpacked(self):
        root = self.folder.root / "unpacked"
        run("dpkg-deb", "-x", self.package, root)
        self.folder.prefix = root / "usr"
        example = self.folder.example("example", "-DTALLY_CHECKED_COMPILER=OFF")
        example.compiled()
        tested = example.ctest(r"^layer_norm\.")
        self.assertRegex(tested, r"layer_norm\.host \.+ +Passed")
        self.assertRegex(tested, r"layer_norm\.checked \.+\**Skipped")
        self.assertIn("no checked executor: built without clang++-16", example.program(
            "layer_norm", "verify", "--subject", "checked", code=77))
        told = run(root / "usr" / "bin" / "tally", "verify", "--subject", "host", "--law", "exact_lane", "--cases", "1",
                   "--precision", "fp32", "--no-training", "--out", pathlib.Path(self.folder.root) / "out")
        self.assertIn("PASS", told)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
