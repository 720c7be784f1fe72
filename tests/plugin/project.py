"""An installation of a build in a folder that it was moved to, and projects that use it. Imported by the tests here."""
import os
import pathlib
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "examples" / "kernel"
# As a user's, wherever the tests run: under CI `bless` refuses, and the program annotates what it prints.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS")}


def run(*words, code=0, **options):
    """What a command prints; fails where its exit code is another."""
    ran = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=600, env=ENVIRONMENT, **options)
    assert code is None or ran.returncode == code, f"{words}: exit {ran.returncode}, expected {code}:\n{ran.stdout}{ran.stderr}"
    return ran.stdout + ran.stderr


class Folder:
    """A temporary folder, and an installation in it."""

    def __init__(self, build):
        self.made = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.made.name)
        self.prefix = self.root / "moved" / "tally"
        self.build = pathlib.Path(build)

    def install(self):
        """Somewhere else first: nothing may name the folder that was installed to."""
        first = self.root / "first"
        run("cmake", "--install", self.build, "--prefix", first)
        self.prefix.parent.mkdir()
        first.rename(self.prefix)

    def project(self, name, files, *options, prefix=None):
        """A project with these texts by name, configured."""
        source = self.root / name
        source.mkdir(parents=True)
        for file, text in files.items():
            (source / file).write_text(text)
        project = Project(source)
        project.said = project.configured(prefix or self.prefix, *options)
        return project

    def example(self, name, *options):
        return self.project(name, {file.name: file.read_text() for file in EXAMPLE.iterdir()}, *options)

    def close(self):
        self.made.cleanup()


class Project:
    def __init__(self, source):
        self.source, self.out = source, source / "build"

    def configured(self, prefix, *options, code=0):
        return run("cmake", "-S", self.source, "-B", self.out, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", *options,
                   code=code)

    def compiled(self, *targets):
        return run("ninja", "-C", self.out, "-j2", *targets)

    def ctest(self, pattern, code=0):
        return run("ctest", "--test-dir", self.out, "-R", pattern, "--output-on-failure", "--no-tests=error", code=code)

    def program(self, name, *words, code=0):
        return run(self.out / f"{name}_tally", *words, code=code, cwd=self.out)


def cmake_lists(body, languages="CXX", version="0.1"):
    return (f"cmake_minimum_required(VERSION 3.25)\nproject(mine LANGUAGES {languages})\nenable_testing()\n"
            f"find_package(tally {version} REQUIRED)\n{body}\n")


def has(tool):
    return shutil.which(tool) is not None
