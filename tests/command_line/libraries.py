#!/usr/bin/env python3
"""What the program has loaded before its first line runs: nothing that only enclosures or a checksum need.

usage: libraries.py TALLY CASE

Each library takes a fifth of a millisecond, and more by the names that are bound in it, of every command. A name here is
one of a function that oracle/late lacks.
"""
import re
import subprocess
import sys

LATE = ("flint", "arb", "ntl", "gf2x", "mpfr", "gmp", "crypto", "openblas")


def main():
    tally, case = sys.argv[1:]
    headers = subprocess.run(["objdump", "-p", tally], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"NEEDED\s+(\S+)", headers)
    early = [name for name in needed if any(word in name for word in LATE)]
    answer = subprocess.run([tally, "oracle", case, "--digits", "20"], capture_output=True, text=True)
    print("loaded at the start:", ", ".join(needed))
    for name in early:
        print(f"{name}: expected to be loaded when it is first called; say its functions in oracle/late")
    if answer.returncode != 0:
        print("what needs them cannot load them:", answer.stderr)
    return 0 if needed and not early and answer.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
