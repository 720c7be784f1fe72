"""The wheel: what it says it runs on, what it opens, and that a Python with PyTorch and nothing else of Tally's records a
loop with it and has it judged. usage: wheel.py REPOSITORY FOLDER; the wheel stays in FOLDER. Exits 77 where the tools
that make it, or a PyTorch, cannot be had."""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT, FOLDER = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
RECORDER = ROOT / "kernels" / "subjects" / "pytorch"
MEGABYTE = 1e6
OF_THE_SYSTEM = re.compile(r"/(ld-linux[^/]*|libc|libm|libpthread|libdl|librt)\.so[^/]*$")
TRAIN = """
import torch
torch.manual_seed(1)
model = torch.nn.Linear(16, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for window in range(2):
    optimizer.zero_grad()
    for rows in (4, 4, 4, 2):
        loss = torch.nn.functional.cross_entropy(model(torch.randn(rows, 16)), torch.randint(0, 8, (rows,)))
        (loss / 4).backward()
    optimizer.step()
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(*words, code=0, **options):
    ran = subprocess.run([*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    assert code is None or ran.returncode == code, f"{words}: exit {ran.returncode}, expected {code}:\n{ran.stdout}"
    return ran.stdout


def made(out, *options, code=0, **process):
    """What pip prints as it makes the wheel in `out`."""
    said = run("/usr/bin/python3", "-m", "pip", "wheel", "-v", "--no-deps", "-w", out, *options, RECORDER, code=None,
               **process)
    if "No matching distribution found for scikit-build-core" in said or "No module named pip" in said:
        skip("pip, or what it builds with, cannot be had: " + said.strip().splitlines()[-1])
    assert ("Successfully built" in said) == (code == 0), said
    return said


def torch_folder():
    """A Python and the folder that its PyTorch is in: the system's, or that of the tests of frameworks."""
    sys.path.insert(0, str(RECORDER / "tests" / "frameworks"))
    from environment import NotToBeHad, environment
    where = "import pathlib, torch; print(pathlib.Path(torch.__file__).parents[1])"
    try:
        return "/usr/bin/python3", run("/usr/bin/python3", "-c", where).strip().splitlines()[-1]
    except AssertionError:
        try:
            python = environment(str(ROOT / "build" / "frameworks"))
        except (NotToBeHad, OSError) as problem:
            skip(f"no PyTorch: {problem}")
        return python, run(python, "-c", where).strip().splitlines()[-1]


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        made(FOLDER)
        cls.wheel, = FOLDER.glob("*.whl")
        near = tempfile.TemporaryDirectory()
        cls.addClassCleanup(near.cleanup)
        cls.near = pathlib.Path(near.name).resolve()
        cls.unpacked = cls.near / "unpacked"
        with zipfile.ZipFile(cls.wheel) as archive:
            archive.extractall(cls.unpacked)
        cls.install(cls.near / "venv")

    @classmethod
    def install(cls, folder):
        python, torch = torch_folder()
        run(python, "-m", "venv", "--without-pip", folder)
        packages, = folder.glob("lib/python3*/site-packages")
        (packages / "torch_of_this_machine.pth").write_text(torch + "\n", encoding="utf-8")
        cls.installed, cls.bin = packages / "tally_program", folder / "bin"
        run("/usr/bin/python3", "-m", "pip", "--python", cls.bin / "python", "install", "--no-deps", "--no-index", cls.wheel)

    def alone(self, *words, code=0, **further):
        """Runs a word of the installation; nothing of this process's environment leads elsewhere."""
        program, *words = words
        return run(self.bin / program, *words, code=code, cwd=self.near, env={"PATH": str(self.bin), "HOME": str(self.near), **further})

    def elves(self):
        return [self.unpacked / "tally_program" / "tally-check", *(self.unpacked / "tally_program" / "lib").iterdir()]

    def test_its_name_says_what_it_runs_on(self):
        libc = platform.libc_ver()[1].replace(".", "_")
        version, = re.findall(r"^project\(tally VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
        self.assertEqual(self.wheel.name, f"tally_recorder-{version}-py3-none-manylinux_{libc}_{platform.machine()}.whl")

    def test_it_asks_for_no_later_c_library(self):
        newest = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)", self.wheel.name).groups()))
        for file in self.elves():
            asked = re.findall(r"\(?GLIBC_(\d+)\.(\d+)", run("objdump", "-T", file))
            self.assertLessEqual(max(tuple(map(int, version)) for version in asked), newest, file)

    def test_all_that_is_needed_at_the_start_is_the_c_librarys(self):
        for name in re.findall(r"NEEDED +(\S+)", run("objdump", "-p", self.elves()[0])):
            self.assertRegex("/" + name, OF_THE_SYSTEM)

    def test_it_is_no_larger_than_it_says(self):
        unpacked = sum(file.stat().st_size for file in self.elves())
        print(f"wheel {self.wheel.stat().st_size / MEGABYTE:.1f} MB, program and libraries {unpacked / MEGABYTE:.1f} MB")
        self.assertLessEqual(unpacked, 25 * MEGABYTE)

    def test_it_opens_nothing_of_the_system_but_the_c_library(self):
        case = ROOT / "tests" / "readme" / "uneven_micro_batches.json"
        said = self.alone("tally", "oracle", case, "--digits", "40", LD_DEBUG="files")
        opened = set(re.findall(r"calling init: (\S+)", said.split("initialize program: tally")[-1]))
        self.assertTrue(any("libflint-arb" in file for file in opened), said)
        foreign = [file for file in opened if not file.startswith(str(self.installed)) and not OF_THE_SYSTEM.search(file)]
        self.assertEqual(foreign, [])

    def test_it_brings_the_licenses_of_what_it_bundles(self):
        if not shutil.which("dpkg"):
            self.skipTest("no dpkg here, whose packages say them")
        held = {file.name for file in (self.unpacked / "tally_program" / "licenses").iterdir()}
        named = ("libflint-arb", "libflint", "libmpfr", "libgmp", "libntl", "libgf2x", "libstdc++", "libssl", "zlib", "tally")
        self.assertEqual([name for name in named if not any(license.startswith(name) for license in held)], [], held)

    def test_pytest_finds_its_fixture(self):
        entries, = self.unpacked.glob("*.dist-info/entry_points.txt")
        self.assertIn("[pytest11]\npytest_tally = pytest_tally\n", entries.read_text())
        self.assertTrue((self.unpacked / "pytest_tally" / "__init__.py").is_file())

    def test_it_says_how_it_was_installed(self):
        said = self.alone("tally", "doctor")
        self.assertRegex(said, r"^tally     \d+\.\d+\.\d+, (of no repository|commit [0-9a-f]{12}\+?)\n")
        self.assertIn(f"\ninstalled wheel, in {self.installed}\n", said)

    def test_the_readmes_lines_record_and_judge(self):
        self.alone("python", ROOT / "tests" / "readme" / "own_loop.py", ROOT)

    def test_a_script_is_recorded_and_its_capture_judged_again(self):
        (self.near / "train.py").write_text(TRAIN, encoding="utf-8")
        said = self.alone("python", "-m", "tally_recorder", "--micro-batches", "4", "--out", "run", "train.py", code=1)
        self.assertIn("looks like mean-of-means", said)
        again = self.alone("tally", "check", "run/case.json", "run/trace.safetensors", code=1)
        self.assertIn("looks like mean-of-means", again)

    def test_its_own_program_comes_before_the_paths_and_behind_what_is_said(self):
        other = self.near / "other"
        other.mkdir()
        (other / "tally").write_text("#!/bin/sh\nexit 9\n", encoding="utf-8")
        (other / "tally").chmod(0o755)
        found = ["python", "-c", "from tally_recorder import verdict; print(verdict.command(None))"]
        self.assertEqual(self.alone(*found, PATH=f"{other}:{self.bin}").strip(), str(self.installed / "tally-check"))
        self.assertEqual(self.alone(*found, TALLY=str(other / "tally")).strip(), str(other / "tally"))


class Refusals(unittest.TestCase):
    def last_line(self, *options, **process):
        with tempfile.TemporaryDirectory() as folder:
            said = made(folder, f"--config-settings=build-dir={folder}/build", *options, code=1, **process)
        lines = [line.strip() for line in said.partition("error: subprocess-exited-with-error")[0].splitlines()]
        return [line for line in lines if line][-1]

    def test_missing_packages_are_named_last(self):
        self.assertEqual(self.last_line("--config-settings=cmake.define.CMAKE_DISABLE_FIND_PACKAGE_Eigen3=TRUE"),
                         "error: Tally's program cannot be built, packages are missing; on Debian: apt-get install "
                         "--no-install-recommends libeigen3-dev")

    def test_a_missing_compiler_is_named_last(self):
        with tempfile.TemporaryDirectory() as folder:
            for tool in filter(shutil.which, ("cmake", "ninja", "git")):
                os.symlink(shutil.which(tool), os.path.join(folder, tool))
            environment = {name: value for name, value in os.environ.items() if name not in ("CXX", "CC")}
            self.assertEqual(self.last_line(env={**environment, "PATH": folder}),
                             "error: Tally's program cannot be built, there is no C++ compiler; on Debian: apt-get install "
                             "--no-install-recommends g++")

    def test_without_sources_it_is_the_recorder_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "share" / "tally" / "recorder"
            shutil.copytree(RECORDER, copy, ignore=shutil.ignore_patterns("tests", "__pycache__"))
            run("/usr/bin/python3", "-m", "pip", "wheel", "--no-deps", "-w", folder, copy)
            wheel, = pathlib.Path(folder).glob("*.whl")
            self.assertTrue(wheel.name.endswith("-py3-none-any.whl"), wheel)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
