#!/usr/bin/env python3
"""What the program has loaded before its first line runs: nothing that only enclosures or a checksum need.

usage: libraries.py TALLY CASE

Each library takes a fifth of a millisecond, and more by the names that are bound in it, of every command. A name here is
one of a function that oracle/lazy_binding lacks. And what it says where the library of balls is broken, which stands before the
right one in the search: a check needs none, an answer names the package to install.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LATE = ("flint", "arb", "ntl", "gf2x", "mpfr", "gmp", "crypto", "openblas")


def run(tally, *words, **options):
    return subprocess.run([tally, *words], capture_output=True, text=True, **options)


def complaints_of_a_broken_library(tally, case):
    """Empty where the program says it as it should."""
    with tempfile.TemporaryDirectory() as folder:
        for library in pathlib.Path("/usr/lib").glob("*/libflint-arb.so*"):
            (pathlib.Path(folder) / library.name).touch()
        broken = {"env": {**os.environ, "LD_LIBRARY_PATH": folder}}
        answer = run(tally, "oracle", case, "--digits", "20", **broken)
        version = run(tally, "--version", **broken)
    lines = answer.stderr.splitlines()
    named = len(lines) == 1 and lines[0].startswith("error: ") and "libflint-arb-dev" in lines[0]
    found = []
    if answer.returncode != 3 or not named:
        found.append(f"without its library: exit {answer.returncode}, expected 3 and one line: {answer.stderr}")
    if version.returncode != 0:
        found.append(f"--version needs the library of balls: {version.stderr}")
    return found


def main():
    tally, case = sys.argv[1:]
    headers = subprocess.run(["objdump", "-p", tally], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"NEEDED\s+(\S+)", headers)
    early = [name for name in needed if any(word in name for word in LATE)]
    answer = run(tally, "oracle", case, "--digits", "20")
    broken = complaints_of_a_broken_library(tally, case)
    print("loaded at the start:", ", ".join(needed))
    for name in early:
        print(f"{name}: expected to be loaded when it is first called; say its functions in oracle/lazy_binding")
    if answer.returncode != 0:
        print("what needs them cannot load them:", answer.stderr)
    print(*broken, sep="\n")
    return 0 if needed and not early and not broken and answer.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
