"""Shell scripts parse, shellcheck finds nothing where it is installed, and the launcher stays readable."""
import os
import shutil
import subprocess

LAUNCHER_LIMIT = 150


def problems(tree):
    for path in tree.shell_scripts():
        file = f"{tree.root}/{path}"
        parse = subprocess.run(["bash", "-n", file], capture_output=True, text=True)
        if parse.returncode != 0:
            yield path, parse.stderr.strip().splitlines()[0]
        elif shutil.which("shellcheck"):
            lint = subprocess.run(["shellcheck", "-S", "warning", "-e", "SC2154", "-f", "gcc", file], capture_output=True, text=True)
            for line in lint.stdout.splitlines():
                yield path, line[len(file) + 1:]
        if not os.access(file, os.X_OK):
            yield path, "is not executable"
    if "tally" in tree.files:
        count = len(tree.lines("tally"))
        if not count <= LAUNCHER_LIMIT:
            yield "tally", f"{count} lines; the launcher has at most {LAUNCHER_LIMIT}"
