"""C++ and CUDA sources are formatted by clang-format 14 with the repository's .clang-format."""
import re
import shutil
import subprocess

from tree import SOURCES


def formatter():
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name) and " version 14" in subprocess.run([name, "--version"], capture_output=True, text=True).stdout:
            return name
    return None


def cannot_run():
    return None if formatter() else "no clang-format of version 14 here"


def problems(tree):
    files = tree.having(*SOURCES)
    if not files:
        return
    command = [formatter(), "--dry-run", "--Werror", "--style=file", *files]
    output = subprocess.run(command, cwd=tree.root, capture_output=True, text=True).stderr
    for place in sorted(set(re.findall(r"^(\S+?:\d+):\d+: error:", output, re.MULTILINE))):
        yield place, "differs from clang-format 14"
