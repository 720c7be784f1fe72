"""Shellcheck finds nothing in shell scripts, nor in what they source (.bash), they are executable, and the launcher stays
readable."""
import os
import shutil
import subprocess

LAUNCHER_LIMIT = 220
SOURCED = ".bash"


def cannot_run():
    return None if shutil.which("shellcheck") else "no shellcheck here"


def problems(tree):
    for path in [*tree.shell_scripts(), *tree.having(SOURCED)]:
        others = ["-s", "bash", "-e", "SC2034"] if path.endswith(SOURCED) else []  # what it sets, others read
        lint = subprocess.run(["shellcheck", "-S", "warning", "-e", "SC2154", *others, "-f", "gcc", path], cwd=tree.root,
                              capture_output=True, text=True)
        for line in lint.stdout.splitlines():
            yield path, line.removeprefix(f"{path}:")
        if lint.returncode != 0 and not lint.stdout:
            yield path, lint.stderr.strip()
        if not path.endswith(SOURCED) and not os.access(f"{tree.root}/{path}", os.X_OK):
            yield path, "is not executable"
    if "tally" in tree.files:
        count = len(tree.lines("tally"))
        if not count <= LAUNCHER_LIMIT:
            yield "tally", f"{count} lines; the launcher has at most {LAUNCHER_LIMIT}"
