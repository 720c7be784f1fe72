"""What pip is told of the wheel, without making one: what stands in the place of scikit-build-core writes down what it is
asked for."""
import os
import pathlib
import re
import shutil
import sys
import tempfile
import types
import unittest
from unittest import mock

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None

RECORDER = pathlib.Path(__file__).resolve().parents[2] / "kernels" / "subjects" / "pytorch"
sys.path[:0] = [str(RECORDER / "wheel"), str(RECORDER)]
HOOKS = ("get_requires_for_build_sdist", "build_sdist", "get_requires_for_build_wheel", "prepare_metadata_for_build_wheel",
         "build_wheel", "get_requires_for_build_editable", "build_editable")
BUILD = types.SimpleNamespace(**{name: mock.Mock() for name in HOOKS})
sys.modules["scikit_build_core"] = types.SimpleNamespace(build=BUILD)
sys.modules["scikit_build_core.build"] = BUILD
import backend  # noqa: E402
import tally_program  # noqa: E402

MADE = "made.whl"
ROOT = RECORDER.parents[2]


class Backend(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a checkout ")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.enter(mock.patch.object(backend, "ROOT", self.root))
        (self.root / "CMakeLists.txt").touch()
        (self.root / "reports").mkdir()
        for name in HOOKS:
            self.enter(mock.patch.object(BUILD, name))
        BUILD.build_wheel.return_value = MADE

    def enter(self, patch):
        patch.start()
        self.addCleanup(patch.stop)

    def asked(self, hook):
        """The settings that its last call was given."""
        return next(word for word in getattr(BUILD, hook).call_args.args if isinstance(word, dict))

    def built(self, given=None):
        self.assertEqual(backend.build_wheel("out", given), MADE)
        return self.asked("build_wheel")

    def refused(self):
        BUILD.build_wheel.side_effect = SystemExit(1)
        with self.assertRaises(SystemExit) as ended:
            backend.build_wheel("out")
        return ended.exception.code

    def test_a_checkout_makes_a_wheel_for_this_c_library_and_keeps_what_it_compiled(self):
        self.enter(mock.patch.object(os, "confstr", lambda _: "glibc 2.36", create=True))
        self.enter(mock.patch.object(backend.platform, "machine", lambda: "x86_64"))
        self.assertEqual(self.built(), {"wheel.tags": "py3-none-manylinux_2_36_x86_64",
                                        "build-dir": str(self.root / "build" / "wheel")})

    def test_another_c_library_is_no_manylinux(self):
        for told in ("musl 1.2", "other 1.0", "", "odd"):
            self.enter(mock.patch.object(os, "confstr", lambda _, told=told: told, create=True))
            self.assertNotIn("wheel.tags", self.built())

    def test_without_sources_and_where_edited_it_is_the_recorder_alone(self):
        backend.build_editable("out")
        self.assertEqual(self.asked("build_editable"), backend.ALONE)
        backend.get_requires_for_build_editable()
        self.assertEqual(self.asked("get_requires_for_build_editable"), backend.ALONE)
        for lost in (self.root / "reports", self.root / "CMakeLists.txt"):
            shutil.rmtree(lost) if lost.is_dir() else lost.unlink()
            alone = self.built()
            self.assertEqual((alone["wheel.cmake"], "wheel.tags" in alone), ("false", False))
            backend.get_requires_for_build_wheel()
            backend.prepare_metadata_for_build_wheel("metadata")
            for hook in ("get_requires_for_build_wheel", "prepare_metadata_for_build_wheel"):
                self.assertEqual(self.asked(hook), backend.ALONE)
            (self.root / "reports").mkdir(exist_ok=True)

    def test_what_is_asked_for_comes_before_what_is_found(self):
        given = {"wheel.tags": "py3-none-any", "build-dir": "elsewhere"}
        self.assertEqual(self.built(given), given)
        backend.get_requires_for_build_wheel(given)
        self.assertEqual(self.asked("get_requires_for_build_wheel"), {"wheel.tags": "py3-none-any", "build-dir": "elsewhere"})

    def test_where_nothing_can_be_kept_it_is_built_aside(self):
        self.enter(mock.patch.object(backend.os, "access", lambda path, mode: False))
        aside = self.built()["build-dir"]
        self.assertFalse(pathlib.Path(aside).is_relative_to(self.root))
        self.assertFalse(pathlib.Path(aside).exists())

    def test_what_is_missing_is_named_last_and_not_what_was_missing_before(self):
        missing = self.root / "build" / "wheel" / backend.MISSING
        missing.parent.mkdir(parents=True)
        missing.write_text("libstale-dev\n", encoding="utf-8")
        self.assertNotIn("libstale-dev", self.refused())

        def configure(*_):
            missing.write_text("libeigen3-dev libmpfr-dev\n", encoding="utf-8")
            raise SystemExit(1)
        BUILD.build_wheel.side_effect = configure
        with self.assertRaises(SystemExit) as ended:
            backend.build_wheel("out")
        self.assertTrue(str(ended.exception.code).endswith("apt-get install --no-install-recommends libeigen3-dev libmpfr-dev"))

    def test_a_missing_compiler_is_named_and_a_found_one_is_not(self):
        with mock.patch.object(backend.shutil, "which", lambda name: None):
            self.assertIn("there is no C++ compiler", self.refused())
        with mock.patch.object(backend.shutil, "which", lambda name: name if name == "clang++" else None):
            self.assertEqual(self.refused(), "error: Tally's program cannot be built; what stopped it stands above")


@unittest.skipUnless(tomllib, "this Python reads no TOML")
class Table(unittest.TestCase):
    """pyproject.toml, and what it names."""

    @classmethod
    def setUpClass(cls):
        cls.table = tomllib.loads((RECORDER / "pyproject.toml").read_text(encoding="utf-8"))
        cls.tool = cls.table["tool"]["scikit-build"]

    def test_it_is_of_the_programs_version(self):
        version, = re.findall(r"^project\(tally VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(self.table["project"]["version"], version)

    def test_it_holds_every_package_that_is_there(self):
        there = sorted(path.parent.name for path in RECORDER.glob("*/__init__.py"))
        self.assertEqual(sorted(self.tool["wheel"]["packages"]), there)

    def test_what_it_asks_of_cmake_is_there(self):
        rules = (ROOT / "reports" / "install" / "wheel.cmake").read_text(encoding="utf-8")
        for target in self.tool["build"]["targets"]:
            self.assertIn(f"add_custom_target({target} ", rules)
        self.assertEqual(set(re.findall(r"COMPONENT (\w+)", rules)), set(self.tool["install"]["components"]))
        self.assertEqual((RECORDER / self.tool["cmake"]["source-dir"]).resolve(), ROOT)
        options = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "CMakeLists.txt", ROOT / "kernels" / "cuda_toolkit.cmake"))
        for name in self.tool["cmake"]["define"]:
            self.assertRegex(options, rf"\b{name}\b")


class Program(unittest.TestCase):
    def test_the_command_becomes_the_program_beside_it(self):
        with tempfile.TemporaryDirectory(prefix="a folder ") as folder, \
                mock.patch.object(tally_program, "__file__", f"{folder}/__init__.py"), \
                mock.patch.object(sys, "argv", ["tally", "check", "a case.json"]):
            self.assertIsNone(tally_program.path())
            with self.assertRaises(SystemExit) as ended:
                tally_program.main()
            self.assertIn("holds no program", ended.exception.code)
            program = pathlib.Path(folder).resolve() / "tally-check"
            program.touch()
            self.assertIsNone(tally_program.path())
            program.chmod(0o755)
            with mock.patch.object(tally_program.os, "execv") as become:
                tally_program.main()
            become.assert_called_once_with(str(program), ["tally", "check", "a case.json"])


if __name__ == "__main__":
    unittest.main()
