"""The files that a style check looks at: those of the repository, or those of a folder of samples."""
import os
import subprocess

SOURCES = (".cpp", ".hpp", ".cu")
SCRIPTS = (".py", ".sh")


class Tree:
    """`files` are paths relative to `root`, sorted; samples of bad style are no part of the repository's own."""

    def __init__(self, root, include_folders=()):
        self.root = os.path.abspath(root)
        self.include_folders = list(include_folders)
        self.files = sorted(self._repository() if os.path.exists(f"{self.root}/.git") else self._walk())

    def _repository(self):
        command = ["git", "-c", "safe.directory=*", "-C", self.root, "ls-files", "-z", "--cached", "--others",
                   "--exclude-standard"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
        return {path for path in listed
                if os.path.isfile(f"{self.root}/{path}") and not path.startswith("tests/style/samples/")}

    def _walk(self):
        for folder, subfolders, names in os.walk(self.root):
            below = os.path.relpath(folder, self.root)
            if below == ".":
                subfolders[:] = [name for name in subfolders if name not in ("build", "tally-out")]
            if below == "tests/style":
                subfolders[:] = [name for name in subfolders if name != "samples"]
            for name in names:
                if name != "expected.txt":
                    yield os.path.normpath(os.path.join(below, name))

    def having(self, *endings):
        return [path for path in self.files if path.endswith(endings)]

    def shell_scripts(self):
        return [path for path in self.files
                if path.endswith(".sh") or ("." not in os.path.basename(path) and self.lines(path)[:1] == ["#!/usr/bin/env bash"])]

    def read(self, path):
        with open(f"{self.root}/{path}", encoding="utf-8", errors="replace") as file:
            return file.read()

    def lines(self, path):
        return self.read(path).splitlines()
