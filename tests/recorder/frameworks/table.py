#!/usr/bin/env python3
"""Prints what `tally check` says of every loop: run.py ENVIRONMENT table.py"""
import os
import sys

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
from judged import cause, judged  # noqa: E402
from table_of_loops import ROWS, loops  # noqa: E402

WORDS = {0: "pass", 1: "fail", 2: "error", 4: "unjudged"}


def sentence(text):
    """The verdict: of a failure what is wrong, and what fails first."""
    lines = text.splitlines()
    last = max((at for at, line in enumerate(lines) if line.startswith("fail: ")), default=len(lines) - 1)
    told = [line.strip() for line in lines[last:] if not line.startswith(("  at ", "  change: "))]
    return "; ".join(told).partition("; looks like")[0][:300]


def main():
    import accelerate
    import lightning
    import torch
    import transformers
    print(f"# Loops of four frameworks\n\nPyTorch {torch.__version__}, Accelerate {accelerate.__version__}, Lightning "
          f"{lightning.__version__}, Transformers {transformers.__version__};\nfour rows a micro-batch, K = 4, level "
          f"`state`. Written by\n`tests/recorder/frameworks/table.py`.\n")
    print("| loop | 32 rows | 30 rows (short last micro-batch) | 24 rows (short last window) |\n|---|---|---|---|")
    said = []
    for name, loop, _ in loops():
        cells = []
        for rows in ROWS:
            code, text = judged(loop, rows)
            cells.append(f"{WORDS.get(code, code)} {cause(text)}".strip())
            if code:
                said.append(f"- {name}, {rows} rows: {sentence(text)}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print("\n## The verdicts of those that do not pass\n\n" + "\n".join(said))


if __name__ == "__main__":
    main()
