#!/usr/bin/env python3
"""Runs a script with the frameworks: run.py ENVIRONMENT SCRIPT [ARGUMENTS…]

ENVIRONMENT is a folder that environment.py fills from the package index the first time (1.2 GB are fetched). Exits 77,
with the reason, where it cannot be had."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from environment import NotToBeHad, environment, variables  # noqa: E402


def main():
    if len(sys.argv) < 3:
        print("usage: run.py ENVIRONMENT SCRIPT [ARGUMENTS…]", file=sys.stderr)
        return 2
    try:
        python = environment(sys.argv[1])
    except (NotToBeHad, OSError) as problem:
        print(f"skipped: no environment with the frameworks: {problem}")
        return 77
    return subprocess.run([python, "-B", *sys.argv[2:]], env=variables(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
