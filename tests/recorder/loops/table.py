#!/usr/bin/env python3
"""Prints what `tally check` says of every loop at every level: python3 tests/recorder/loops/table.py [--layers known] [--verbose]

The program is named by the variable TALLY, or found on the PATH."""
import argparse
import os
import sys
import warnings

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import loops  # noqa: E402
from tally_recorder.recipe import LEVELS  # noqa: E402

WORDS = {0: "pass", 1: "fail", 2: "error", 4: "unjudged"}


def sentence(code, text):
    """The line that tells most: an error, the first failed tensor, or what was not judged."""
    lines = text.splitlines()
    for start in ("error:", "  looks like", "too few"):
        for line in lines:
            if line.startswith(start):
                return line.strip()[:150]
    return lines[-1][:150] if code else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", default="opaque")
    parser.add_argument("--only", default="")
    parser.add_argument("--level", choices=LEVELS)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    levels = [options.level] if options.level else LEVELS
    shown = levels[min(2, len(levels) - 1)]
    print(f"| loop | {' | '.join(levels)} | at `{shown}` it says |\n|" + "---|" * (len(levels) + 2))
    opaque = loops.opaque_loops() if options.layers == "opaque" else {}
    for loops_of in (loops.right_loops(), opaque, loops.wrong_loops()):
        for name, loop in loops_of.items():
            if options.only not in name:
                continue
            found = [loops.judged(loop, level, options.layers) for level in levels]
            said = found[min(2, len(found) - 1)]
            words = " | ".join(" ".join([WORDS.get(code, str(code)), loops.cause(text)]).strip() for code, text in found)
            print(f"| {name} | {words} | {sentence(*said)} |", flush=True)
            if options.verbose:
                print(found[-1][1])


if __name__ == "__main__":
    main()
